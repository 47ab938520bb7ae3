/**
 * One run at a time below an output prefix, where the machine names runs: all children of an array job of AWS Batch are
 * one. A run holds the newest lease and writes a file while it works. Another run waits until that file is old, which
 * frees the outputs of a run that has ended or died; if the file is written again, the other run ends.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchError,
  LEASE_FOLDER,
  leaseKeys,
  newestLease,
  parseLease,
  WORKERS_SILENT,
} from '@sagemaker-tfs/batch';
import type { Store } from './store.ts';

/** Milliseconds. */
interface LeaseTimes {
  /** Between two signs of life. */
  readonly beat: number;
  /** Age of the last sign from which on its run counts as ended. */
  readonly stale: number;
  /** Between two looks at the lease of another run. */
  readonly look: number;
}

const TIMES: LeaseTimes = { beat: 20_000, stale: WORKERS_SILENT, look: 5_000 };

/** A lease that this process's run holds. */
interface Lease {
  /** Aborted, with BatchError ALREADY_RUNNING, if another run has taken the lease over. */
  readonly lost: AbortSignal;
  /** Stops the signs of life. */
  close(): Promise<void>;
}

/** Whose lease, and with what. */
interface LeaseOptions {
  /** The run; undefined if the machine does not name it, and then there is no lease. */
  readonly run: string | undefined;
  /** Ends the wait for another run. */
  readonly stopping: AbortSignal;
  /** Receives the run whose lease is waited for, once. */
  readonly onWait: (holder: string) => void;
  /** Receives the reason why a sign of life was not written; the next one is tried. */
  readonly onFailure: (error: unknown) => void;
  readonly times?: LeaseTimes;
}

/**
 * The run that AWS Batch says this process belongs to. Children of an array have its id, a colon and their number.
 * @see https://docs.aws.amazon.com/batch/latest/userguide/job_env_vars.html
 * @see https://docs.aws.amazon.com/batch/latest/userguide/array_jobs.html
 */
export function runOfMachine(variables: NodeJS.ProcessEnv): string | undefined {
  return variables.AWS_BATCH_JOB_ID?.split(':')[0] || undefined;
}

/**
 * Takes the lease, or joins this run's own.
 * @returns undefined if `stopping` came first
 * @throws BatchError ALREADY_RUNNING; what S3 refuses
 */
export async function openLease(store: Store, options: LeaseOptions): Promise<Lease | undefined> {
  const { run, onFailure, times = TIMES } = options;
  const losing = new AbortController();
  const { signal: lost } = losing;
  if (run === undefined) return { lost, close: async () => undefined };
  const taken = await take(store, run, options, times);
  if (taken === undefined) return undefined;
  let number = taken;
  await touch(store, leaseKeys(number).alive);
  const beat = async () => {
    const newest = newestLease(await leasesFrom(store, number)) ?? number;
    const holder = newest === number ? run : await holderOf(store, newest);
    if (holder !== run) return losing.abort(alreadyRunning(holder));
    // A process of this run may have taken a newer one, when this one was cut off for too long.
    number = newest;
    await touch(store, leaseKeys(number).alive);
  };
  let beating = Promise.resolve();
  const timer = setInterval(() => {
    beating = beat().catch(onFailure);
  }, times.beat).unref();
  return {
    lost,
    async close() {
      clearInterval(timer);
      await beating;
    },
  };
}

/** @returns the number of the lease of this run; undefined if `stopping` came first */
async function take(
  store: Store,
  run: string,
  { stopping, onWait }: LeaseOptions,
  { stale, look }: LeaseTimes,
): Promise<number | undefined> {
  let known: { readonly number: number; readonly seen: number } | undefined;
  while (!stopping.aborted) {
    const { number, seen, now } = await newest(store, known?.number);
    if (number !== undefined) {
      const holder = await holderOf(store, number);
      if (holder === run) return number;
      if (known && (known.number !== number || known.seen !== seen)) throw alreadyRunning(holder);
      if (now - seen < stale) {
        if (!known) onWait(holder);
        known = { number, seen };
        await sleep(look, undefined, { signal: stopping }).catch(() => undefined);
        continue;
      }
    }
    const next = number === undefined ? 0 : number + 1;
    const text = Buffer.from(JSON.stringify({ run }));
    if (await store.create(leaseKeys(next).holder, text, 'application/json')) return next;
    // Another process was faster, maybe one of this run.
    known = undefined;
  }
  return undefined;
}

/**
 * The newest lease, when its holder was last seen, and the time now; all times are S3's.
 * @param from a lease that is there
 */
async function newest(store: Store, from?: number) {
  const clock = `${LEASE_FOLDER}clock`;
  await touch(store, clock);
  const files = await leasesFrom(store, from);
  const number = newestLease(files);
  const times = new Map(files.map(({ key, modified }) => [key, modified]));
  const { holder, alive } = leaseKeys(number ?? 0);
  const seen = Math.max(times.get(holder) ?? 0, times.get(alive) ?? 0);
  return { number, seen, now: times.get(clock) ?? seen };
}

/** Files of the leases from a number on, and the clock: the leases of all former runs are listed once, not at each look. */
function leasesFrom(store: Store, number?: number) {
  return store.list(LEASE_FOLDER, number === undefined ? undefined : leaseKeys(number).start);
}

async function holderOf(store: Store, number: number): Promise<string> {
  const { holder } = leaseKeys(number);
  const text = await store.read(holder);
  return text === undefined ? 'unknown' : parseLease(text.toString('utf8'), holder);
}

function touch(store: Store, key: string): Promise<void> {
  return store.write(key, Buffer.alloc(0), 'application/octet-stream');
}

function alreadyRunning(holder: string): BatchError {
  return new BatchError(
    'ALREADY_RUNNING',
    `another run writes to the same output prefix: ${holder}. Wait for its end, or stop it.`,
  );
}
