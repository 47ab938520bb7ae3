/** Waits that have an end. */
import { setTimeout as delay } from 'node:timers/promises';

/** What a timer of Node can wait, in ms. */
const LONGEST_DELAY_MS = 2 ** 31 - 1;

/**
 * What `work` resolves to. The work continues after the deadline; only the wait for it ends.
 * @param lateError made when the deadline has passed
 * @throws what the work throws, and `lateError` after the deadline
 */
export async function inTime<T>(
  work: Promise<T>,
  deadlineMs: number,
  lateError: () => Error,
): Promise<T> {
  const stop = new AbortController();
  const { signal } = stop;
  const late = delay(Math.min(deadlineMs, LONGEST_DELAY_MS), undefined, { signal }).then(() => {
    throw lateError();
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    stop.abort();
  }
}
