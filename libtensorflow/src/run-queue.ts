/** Bounds how many runs occupy libuv's worker threads. */
import pLimit from 'p-limit';

/** Worker threads of libuv (https://docs.libuv.org/en/v1.x/threadpool.html): 4 unless set. */
function workerThreads(): number {
  const set = Number(process.env.UV_THREADPOOL_SIZE);
  return Number.isInteger(set) && set > 0 ? Math.min(set, 1024) : 4;
}

/** All libuv worker threads but one. */
export const RUNS_AT_A_TIME = Math.max(1, workerThreads() - 1);

/**
 * Runs at most one less than the worker threads at the same time, over all sessions of the process: a
 * run holds its thread to the end, and files, DNS and image decoding need one too. Others wait in order.
 */
export const enqueueRun = pLimit(RUNS_AT_A_TIME);
