/** `--budget-hours`: what all workers of a run have used together, in all their tries. */
import { HOURS_FOLDER, hoursKeys, workedBy } from '@sagemaker-tfs/batch';
import type { Store } from './store.ts';

/** Hours of a run. */
interface Budget {
  /** True once all of them are used up. */
  isUsedUp(): boolean;
  /** Aborted when they are. */
  readonly usedUp: AbortSignal;
  /** Writes down what this process has used, and looks no more. */
  close(): Promise<void>;
}

/**
 * Milliseconds between two looks. A process that is killed leaves at most that much uncounted. A look is one listing and
 * one small object, for a thousand processes too: S3's own times say how long each has worked.
 */
const LOOK_EVERY = 60_000;
const HOUR = 3_600_000;
/** Milliseconds; a timer of Node takes no more. */
const LONGEST_TIMER = 2 ** 31 - 1;

/**
 * Counts from the start of this process on.
 * @param process names this one
 * @param hours undefined for no limit
 * @param onFailure receives the reason why the others' hours could not be read or its own not written; the last known ones count on
 * @param worked milliseconds since this process started
 * @throws what S3 refuses, at the first look
 */
export async function openBudget(
  store: Store,
  process: string,
  hours: number | undefined,
  onFailure: (error: unknown) => void,
  worked = () => performance.now(),
): Promise<Budget> {
  const ending = new AbortController();
  const { signal: usedUp } = ending;
  if (hours === undefined) return { isUsedUp: () => false, usedUp, close: async () => undefined };
  const own = hoursKeys(process);
  let others = 0;
  const used = () => worked() / HOUR;
  const write = (key: string) => store.write(key, Buffer.alloc(0), 'application/octet-stream');
  const look = async () => {
    await write(own.last);
    const files = await store.list(HOURS_FOLDER);
    others = workedBy(files.filter(({ key }) => key !== own.last)) / HOUR;
  };
  let end: NodeJS.Timeout | undefined;
  const awaitEnd = () => {
    clearTimeout(end);
    const left = (hours - others - used()) * HOUR;
    if (left <= 0) ending.abort();
    else end = setTimeout(awaitEnd, Math.min(left, LONGEST_TIMER));
  };
  await write(own.first);
  await look();
  awaitEnd();
  let looking = Promise.resolve();
  const timer = setInterval(() => {
    looking = look().then(awaitEnd).catch(onFailure);
  }, LOOK_EVERY);
  return {
    isUsedUp: () => others + used() >= hours,
    usedUp,
    async close() {
      clearInterval(timer);
      await looking;
      clearTimeout(end);
      await write(own.last).catch(onFailure);
    },
  };
}
