/** `--budget-hours`: what all workers of a run have used together, in all their tries. */
import { HOURS_FOLDER, parseHours } from '@sagemaker-tfs/batch';
import type { Store } from './store.ts';

/** Hours of a run. */
export interface Budget {
  /** True once all of them are used up. */
  isUsedUp(): boolean;
  /** Writes down what this process has used, and looks no more. */
  close(): Promise<void>;
}

/** Milliseconds between two looks. A process that is killed leaves at most so much uncounted. */
const LOOK_EVERY = 60_000;
const HOUR = 3_600_000;

/**
 * Counts from the start of this process on.
 * @param process names this one
 * @param hours undefined for no limit
 * @param onFailure hears why the others' hours could not be read or its own not written; the last known ones count on
 * @throws what S3 refuses, at the first look
 */
export async function openBudget(
  store: Store,
  process: string,
  hours: number | undefined,
  onFailure: (error: unknown) => void,
): Promise<Budget> {
  if (hours === undefined) return { isUsedUp: () => false, close: async () => undefined };
  const own = `${HOURS_FOLDER}${process}.json`;
  let others = 0;
  const used = () => performance.now() / HOUR;
  const write = () =>
    store.write(own, Buffer.from(JSON.stringify({ hours: used() })), 'application/json');
  const look = async () => {
    await write();
    const keys = (await store.list(HOURS_FOLDER)).filter((key) => key !== own);
    let sum = 0;
    for (const key of keys) sum += parseHours(String((await store.read(key)) ?? ''), key);
    others = sum;
  };
  await look();
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = look().catch(onFailure);
  }, LOOK_EVERY);
  return {
    isUsedUp: () => others + used() >= hours,
    async close() {
      clearInterval(timer);
      await looking;
      await write().catch(onFailure);
    },
  };
}
