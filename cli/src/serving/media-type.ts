import { extname } from 'node:path';
import { usageError } from '../errors.ts';

const BY_ENDING: Readonly<Record<string, string>> = {
  '.jpg': 'application/x-image',
  '.jpeg': 'application/x-image',
  '.png': 'application/x-image',
  '.gif': 'application/x-image',
  '.webp': 'application/x-image',
  '.tif': 'application/x-image',
  '.tiff': 'application/x-image',
  '.json': 'application/json',
  '.jsonl': 'application/jsonlines',
  '.ndjson': 'application/jsonlines',
  '.csv': 'text/csv',
  '.npy': 'application/x-npy',
  '.npz': 'application/x-npz',
  '.tfrecord': 'application/x-tfrecord',
  '.tfrecords': 'application/x-tfrecord',
  '.rec': 'application/x-recordio',
  '.recordio': 'application/x-recordio',
};

/** The media type that a file's ending tells. @throws CommandError USAGE where it tells none */
export function knownMediaType(file: string): string {
  const type = BY_ENDING[extname(file).toLowerCase()];
  if (type !== undefined) return type;
  const what = file === '-' ? 'standard input has no ending' : `unknown ending: ${file}`;
  throw usageError(`${what}. Name its type with --content-type, for example application/json.`);
}

/** The media type that the runtime expects for a file of this name. Default: `application/octet-stream`. */
export function mediaTypeOf(file: string): string {
  return BY_ENDING[extname(file).toLowerCase()] ?? 'application/octet-stream';
}
