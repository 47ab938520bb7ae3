/** Waiting for an inference component that sleeps: the refused request wakes it. */
import { PredictionError } from './errors/prediction-error.ts';
import { wait } from './retry.ts';

/** Seconds between two tries. Waking takes minutes, and each try counts as a request. */
const POLL_SECONDS = 15;

/** How long to wait. */
interface WakeOptions {
  readonly wakeSeconds?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Calls until there is a copy, or the time is over. @throws what the last call threw, or the signal's reason */
export async function whenAwake<T>(
  call: () => Promise<T>,
  { wakeSeconds = 0, signal }: WakeOptions,
): Promise<T> {
  const end = performance.now() + wakeSeconds * 1000;
  let isLast = wakeSeconds <= 0;
  for (;;) {
    try {
      return await call();
    } catch (error) {
      const sleeps = error instanceof PredictionError && error.code === 'ASLEEP';
      if (!sleeps || isLast) throw error;
      const left = Math.max(0, (end - performance.now()) / 1000);
      isLast = left <= POLL_SECONDS;
      await wait(Math.min(POLL_SECONDS, left), signal);
    }
  }
}
