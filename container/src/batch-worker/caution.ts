/** What a process does after one that ended by itself, so that the object that ends it again is known. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkerOptions } from './options.ts';
import { CAUTIOUS } from './supervise.ts';

/** While it is on, one object is under way at a time, and the supervisor knows which. */
export interface Caution {
  isOn(): boolean;
  /** Works on one object, which may take several tries. */
  during<T>(key: string, work: () => Promise<T>): Promise<T>;
}

/**
 * Caution of a process: on, until it is past the place where the process before it ended.
 * @param tell says to the supervisor which object is under way; none with the empty text
 */
export function cautionOf(
  { partKeys, reads }: Pick<WorkerOptions, 'partKeys' | 'reads'>,
  tell = tellSupervisor,
): Caution {
  // The object that ended the process before is at most so far behind the last part.
  let left = process.env[CAUTIOUS] === 'true' ? 2 * partKeys + reads : 0;
  return {
    isOn: () => left > 0,
    async during(key, work) {
      if (left <= 0) return work();
      await tell(key);
      try {
        return await work();
      } finally {
        left--;
        // A handler may throw a little later, where nobody catches it.
        await sleep(1);
        await tell('');
      }
    },
  };
}

function tellSupervisor(key: string): Promise<void> {
  return new Promise((resolve) => process.send?.(key, () => resolve()) ?? resolve());
}
