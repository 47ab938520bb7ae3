/** Many small things, done in turns of the event loop: a body of a million records must not keep `/ping` waiting. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { nextTurn } from './next-turn.ts';

/** What is done in one turn at most: a few milliseconds of work. What is smaller takes no further turn. */
const TURN = { items: 1024, bytes: 2 ** 20 } as const;

/** 0, `step`, 2 * `step`, ... below `end`; none for a step of 0 and an end of 0. */
export function* indices(end: number, step = 1): Iterable<number> {
  for (let index = 0; index < end; index += step) yield index;
}

/**
 * Calls `work` for each item in order, with other requests' turns in between.
 * @param items may be made while they are read
 * @param bytesOf what an item weighs, asked after `work`. Default: nothing
 * @throws whatever `items` and `work` throw, and the signal's reason
 */
export async function eachInTurns<T>(
  items: Iterable<T>,
  work: (item: T, index: number) => void,
  {
    signal,
    bytesOf = () => 0,
  }: { readonly signal?: AbortSignalLike | undefined; readonly bytesOf?: (item: T) => number } = {},
): Promise<void> {
  let index = 0;
  let inTurn = 0;
  let bytes = 0;
  for (const item of items) {
    if (inTurn === TURN.items || bytes >= TURN.bytes) {
      await nextTurn();
      signal?.throwIfAborted();
      inTurn = 0;
      bytes = 0;
    }
    work(item, index);
    index += 1;
    inTurn += 1;
    bytes += bytesOf(item);
  }
}
