/** What a process does after one that ended by itself, so that the object that ends it again is known. */
import type { WorkerOptions } from './options.ts';
import { CAUTIOUS } from './supervise.ts';

/** While it is on, one object is under way at a time, and the supervisor knows which. */
export function cautionOf({ partKeys, reads }: WorkerOptions) {
  // The object that ended the process before is at most so far behind the last part.
  let left = process.env[CAUTIOUS] === 'true' ? 2 * partKeys + reads : 0;
  const send = (key: string) =>
    new Promise<void>((resolve) => process.send?.(key, () => resolve()) ?? resolve());
  return {
    isOn: () => left > 0,
    async at(key: string): Promise<void> {
      if (left > 0) await send(key);
    },
    async past(): Promise<void> {
      if (left === 0) return;
      left--;
      await send('');
    },
  };
}
