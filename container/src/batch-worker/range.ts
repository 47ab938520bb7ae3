/** One range of keys: where it stands, and its inputs from there on. */
import {
  compareKeys,
  doneKey,
  keysCandidates,
  parseCounts,
  partOfKey,
  partsOfRange,
  readKeysFile,
  readKeysHeader,
  type WorkerCounts,
  type WorkerRange,
} from '@sagemaker-tfs/batch';
import type { S3Object, WorkerInputs } from '@sagemaker-tfs/batch/s3';
import { untilAborted } from '../waiting/or-aborted.ts';
import type { Store } from './store.ts';

/** How far a range is. */
type Position =
  | { readonly isDone: true; readonly counts: WorkerCounts }
  | {
      readonly isDone: false;
      readonly counts: WorkerCounts;
      /** Number of the next part. */
      readonly next: number;
      /** The inputs continue after this key; undefined for the first. */
      readonly after: string | undefined;
    };

/** Reads how far a range is from what is written. @throws BatchError WORKER_FILE_INVALID */
export async function positionOf(store: Store, { number, after }: WorkerRange): Promise<Position> {
  const done = await store.read(doneKey(number));
  if (done) return { isDone: true, counts: parseCounts(done.toString('utf8'), doneKey(number)) };
  const listed = (await store.list(partsOfRange(number))).map(({ key }) => key);
  const parts = listed.filter((key) => partOfKey(key) !== undefined);
  const candidates = await keysCandidates(store, parts);
  let counts: WorkerCounts = { answers: 0, failures: 0, gone: 0 };
  let last = after;
  for (const part of parts) {
    const header = await readKeysHeader(await readKeysFile(store, part, candidates));
    counts = sum(counts, header);
    last = header.last;
  }
  const newest = partOfKey(parts.at(-1) ?? '')?.part ?? -1;
  return { isDone: false, counts, next: newest + 1, after: last };
}

/** Both together. */
export function sum(a: WorkerCounts, b: WorkerCounts): WorkerCounts {
  return {
    answers: a.answers + b.answers,
    failures: a.failures + b.failures,
    gone: a.gone + b.gone,
  };
}

/** Writes down that a range is done. */
export async function markDone(store: Store, range: number, counts: WorkerCounts): Promise<void> {
  await store.write(doneKey(range), Buffer.from(JSON.stringify(counts)), 'application/json');
}

/** The inputs after one key and up to another, that one included, sorted. Ends early where the worker is to end. */
export async function* inputsBetween(
  inputs: WorkerInputs,
  { after, upTo }: Pick<WorkerRange, 'after' | 'upTo'>,
  stopping: AbortSignal,
): AsyncGenerator<S3Object> {
  const walk = inputs.objects(after, upTo)[Symbol.asyncIterator]();
  // A listing can be long before it comes to an input.
  const next = async () => {
    try {
      return await untilAborted(stopping, () => walk.next());
    } catch (error) {
      if (stopping.aborted) return undefined;
      throw error;
    }
  };
  try {
    for (let at = await next(); at && !at.done; at = await next()) {
      if (upTo !== undefined && compareKeys(at.value.key, upTo) > 0) return;
      yield at.value;
    }
  } finally {
    // Not awaited: it may be at a page that never comes.
    walk.return?.()?.catch(() => undefined);
  }
}
