/** Large pictures wait for a core before memory is taken for their pixels. */
import { availableParallelism } from 'node:os';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { removeFrom } from '../memory/remove-from.ts';
import { orAborted } from '../waiting/or-aborted.ts';

let free = availableParallelism();
const waiting: (() => void)[] = [];

/**
 * Does the work when its turn comes, first come, first served, as many at a time as there are cores.
 * @param signal ends the wait at once; work that has begun continues to its end and keeps its turn until then
 * @throws the reason of the signal, as the work does
 */
export async function inTurn<T>(
  work: () => Promise<T>,
  signal: AbortSignalLike | undefined,
): Promise<T> {
  signal?.throwIfAborted();
  if (free > 0) free -= 1;
  else await turn(signal);
  try {
    return await work();
  } finally {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  }
}

/** The turn of one that has ended goes to the first that waits. */
function turn(signal: AbortSignalLike | undefined): Promise<void> {
  return orAborted<void>(signal, ({ resolve }) => {
    waiting.push(resolve);
    return () => removeFrom(waiting, resolve);
  });
}
