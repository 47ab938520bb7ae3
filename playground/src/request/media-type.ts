/** The media type of a dropped file, by its name's ending. */

const BY_ENDING: Readonly<Record<string, string>> = {
  json: 'application/json',
  jsonl: 'application/jsonlines',
  csv: 'text/csv',
  npy: 'application/x-npy',
  npz: 'application/x-npz',
  tfrecord: 'application/x-tfrecord',
  tfrecords: 'application/x-tfrecord',
  rec: 'application/x-recordio',
  recordio: 'application/x-recordio',
};

/** Everything else is sent as a picture: the runtime says so where it is none. */
export function mediaTypeOf(name: string): string {
  const ending = name.split('.').at(-1)?.toLowerCase() ?? '';
  return BY_ENDING[ending] ?? 'application/x-image';
}
