/** An unpacked archive beside its models: the handler and what packaging wrote down. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { MANIFEST_PATH } from '@sagemaker-tfs/manifest/manifest-path';
import type { Logger } from 'pino';
import { type LoadedHandler, loadHandler, warnOfStrayHandlers } from '../handler/loader.ts';
import { type Labels, loadLabels } from '../postprocess/labels.ts';

/** What an archive adds to its models. */
export interface Archive {
  /** Where it lies unpacked. */
  readonly directory: string;
  readonly handler: LoadedHandler | undefined;
  /** Undefined for archives that were packed by hand. */
  readonly manifest: Manifest | undefined;
  /** Labels that the manifest's postprocess names. */
  readonly labels: Labels | undefined;
}

/**
 * Reads the manifest and loads the handler.
 * @param deadlineMs how long the handler's module may take
 * @throws HandlerLoadError, ManifestError where they are there and cannot be used
 */
export async function loadArchive(
  directory: string,
  log: Logger,
  deadlineMs: number,
): Promise<Archive> {
  const path = join(directory, MANIFEST_PATH);
  const manifest = existsSync(path) ? await readManifest(path) : undefined;
  const postprocess = manifest?.postprocess;
  const labels = postprocess && (await loadLabels(postprocess, join(directory, 'code')));
  const handler = await loadHandler(directory, log, deadlineMs);
  if (!handler) await warnOfStrayHandlers(directory, log);
  return { directory, manifest, labels, handler };
}

/** The schema's library takes its time to load, and archives that were packed by hand do not need it. */
async function readManifest(path: string): Promise<Manifest> {
  const [{ parseManifest }, text] = await Promise.all([
    import('@sagemaker-tfs/manifest'),
    readFile(path, 'utf8'),
  ]);
  return parseManifest(text);
}
