/** One range of keys: where it stands, and its inputs from there on. */
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import {
  compareKeys,
  doneKey,
  parseCounts,
  parseKeysHeader,
  partFiles,
  partOfKey,
  partsOfRange,
  type WorkerCounts,
  type WorkerRange,
} from '@sagemaker-tfs/batch';
import type { S3Object, WorkerInputs } from '@sagemaker-tfs/batch/s3';
import type { Store } from './store.ts';

const decompress = promisify(gunzip);

/** How far a range is. */
export type Position =
  | { readonly isDone: true; readonly counts: WorkerCounts }
  | {
      readonly isDone: false;
      readonly counts: WorkerCounts;
      /** Number of the next part. */
      readonly next: number;
      /** The inputs go on after this key; undefined for the first. */
      readonly after: string | undefined;
    };

/** Reads how far a range is from what is written. @throws BatchError WORKER_FILE_INVALID */
export async function positionOf(store: Store, { number, after }: WorkerRange): Promise<Position> {
  const done = await store.read(doneKey(number));
  if (done) return { isDone: true, counts: parseCounts(done.toString('utf8'), doneKey(number)) };
  const parts = (await store.list(partsOfRange(number))).map(({ key }) => partOfKey(key)?.part);
  let counts: WorkerCounts = { answers: 0, failures: 0, gone: 0 };
  let last = after;
  for (const part of parts) {
    if (part === undefined) continue;
    const header = await headerOf(store, number, part);
    counts = sum(counts, header);
    last = header.last;
  }
  return { isDone: false, counts, next: (parts.at(-1) ?? -1) + 1, after: last };
}

async function headerOf(store: Store, range: number, part: number) {
  const { keys } = partFiles(range, part);
  const bytes = await store.read(keys);
  const text = bytes ? String(await decompress(bytes)) : '';
  return parseKeysHeader(text.slice(0, text.indexOf('\n')), keys);
}

/** Both together. */
export function sum(a: WorkerCounts, b: WorkerCounts): WorkerCounts {
  return {
    answers: a.answers + b.answers,
    failures: a.failures + b.failures,
    gone: a.gone + b.gone,
  };
}

/** Writes down that a range is at its end. */
export async function markDone(store: Store, range: number, counts: WorkerCounts): Promise<void> {
  await store.write(doneKey(range), Buffer.from(JSON.stringify(counts)), 'application/json');
}

/** The inputs after one key and up to another, that one included, sorted. Ends early once `stopped` returns true. */
export async function* inputsBetween(
  inputs: WorkerInputs,
  { after, upTo }: Pick<WorkerRange, 'after' | 'upTo'>,
  stopped: () => boolean,
): AsyncGenerator<S3Object> {
  for await (const object of inputs.objects(after)) {
    if (stopped() || (upTo !== undefined && compareKeys(object.key, upTo) > 0)) return;
    yield object;
  }
}
