/** Looks at a job while AWS is at fault for a while: the job continues, too. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isPassing } from '@sagemaker-tfs/batch/s3';

/** How long, and how often, it is looked again. */
export interface RideOut {
  /** Milliseconds between two looks. */
  readonly every: number;
  /** Minutes after which the error is thrown. @default 15 */
  readonly minutes?: number;
  /** Receives the first of several failures in a row. */
  readonly onTrouble?: ((error: Error) => void) | undefined;
}

/** Looks until AWS answers, or refuses for a reason that does not pass. */
export async function rideOut<T>(
  look: () => Promise<T>,
  { every, minutes = 15, onTrouble }: RideOut,
): Promise<T> {
  let since: number | undefined;
  for (;;) {
    try {
      return await look();
    } catch (error) {
      if (!isPassing(error)) throw error;
      if (since === undefined) onTrouble?.(error as Error);
      since ??= performance.now();
      if (performance.now() - since >= minutes * 60_000) throw error;
      await sleep(every);
    }
  }
}
