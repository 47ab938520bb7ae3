/** Looks at a job that go on while AWS is at fault for a while: the job does, too. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from '@sagemaker-tfs/batch/s3';

/** How long looks may fail, one after another. */
export interface RideOut {
  /** Milliseconds between two looks. */
  readonly every: number;
  /** Milliseconds after which the error is thrown. @default 15 minutes */
  readonly longest?: number;
  /** Hears of the first of several failures in a row. */
  readonly onTrouble?: ((error: Error) => void) | undefined;
}

/** Looks until AWS answers, or refuses for a reason that does not pass. */
export async function rideOut<T>(
  look: () => Promise<T>,
  { every, longest = 15 * 60_000, onTrouble }: RideOut,
): Promise<T> {
  let since: number | undefined;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (since === undefined) onTrouble?.(error as Error);
      since ??= performance.now();
      if (performance.now() - since >= longest) throw error;
      await sleep(every);
    }
  }
}
