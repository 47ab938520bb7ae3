/** Media types of requests, by the endings of file names. */

const IMAGE = 'application/x-image';

const BY_ENDING = new Map<string, string>(
  Object.entries({
    jpg: IMAGE,
    jpeg: IMAGE,
    png: IMAGE,
    gif: IMAGE,
    webp: IMAGE,
    tif: IMAGE,
    tiff: IMAGE,
    json: 'application/json',
    jsonl: 'application/jsonlines',
    ndjson: 'application/jsonlines',
    csv: 'text/csv',
    npy: 'application/x-npy',
    npz: 'application/x-npz',
    tfrecord: 'application/x-tfrecord',
    tfrecords: 'application/x-tfrecord',
    rec: 'application/x-recordio',
    recordio: 'application/x-recordio',
    parquet: 'application/x-parquet',
  }),
);

/** The endings of file names that tell a media type. */
export const MEDIA_TYPE_ENDINGS: readonly string[] = [...BY_ENDING.keys()];

/** The media type that the runtime expects for a file of this name; undefined if its ending is unknown. */
export function mediaTypeOf(fileName: string): string | undefined {
  const ending = /\.([^./\\]+)$/.exec(fileName)?.[1];
  return ending === undefined ? undefined : BY_ENDING.get(ending.toLowerCase());
}
