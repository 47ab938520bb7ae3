/** Files to try, found beside the model. */
import { readdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { mediaTypeOf } from '@sagemaker-tfs/tensors';

/** A file that the page offers. */
export interface Sample {
  readonly name: string;
  readonly file: string;
  readonly mediaType: string;
}

/** The page shows a row of them, not a gallery. */
const SHOWN = 12;
/** Bytes; what is larger is no sample. */
const MAX_BYTES = 4 * 1024 * 1024;

/** The first files of known types in a folder `samples` within the source, beside it, or beside the handler. */
export async function findSamples(source: string, handler?: string): Promise<readonly Sample[]> {
  const places = [
    source,
    dirname(resolve(source)),
    ...(handler ? [dirname(resolve(handler))] : []),
  ];
  for (const place of places) {
    const found = await samplesIn(join(place, 'samples'));
    if (found.length > 0) return found;
  }
  return [];
}

async function samplesIn(folder: string): Promise<Sample[]> {
  const names = await readdir(folder).catch(() => []);
  const found: Sample[] = [];
  for (const name of names.sort()) {
    if (found.length === SHOWN) break;
    const file = join(folder, name);
    const mediaType = mediaTypeOf(name);
    if (mediaType === undefined) continue;
    const about = await stat(file).catch(() => undefined);
    if (about?.isFile() && about.size <= MAX_BYTES) found.push({ name, file, mediaType });
  }
  return found;
}
