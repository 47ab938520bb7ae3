/**
 * Cuts a process whose event loop stands still: a handler that never comes back to it would keep every
 * request, `/ping` included, from an answer for ever. A thread looks whether a timer of the main thread still
 * runs. Once it has not run for longer than a request may take, the thread has the main thread, wherever that
 * is, answer what is in flight, and kills the process; the primary starts another one.
 */
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { ServingError } from '../errors.ts';
import type { RequestInFlight } from '../http/server.ts';
import { threadEntry } from '../threads/thread-entry.ts';

/** What is watched, and what happens at the end. */
interface StallWatchOptions {
  /** How long the event loop may stand still, in ms. */
  readonly limitMs: number;
  /** Answers all requests in flight with the error, without a turn of the event loop, and names them. */
  readonly cut: (error: ServingError) => readonly RequestInFlight[];
  readonly log: Logger;
}

/** What the thread starts with. */
export interface StallThreadData {
  /** Counts up as long as the event loop turns. Shared. */
  readonly beats: Int32Array;
  /** Between two looks. */
  readonly stepMs: number;
  /** Looks without a beat in between after which the process is cut. */
  readonly steps: number;
}

/** Name of the global function that the thread has the main thread call, as `Symbol.for` takes it. */
export const STALLED = 'sagemaker-tfs.stalled';

const LONGEST_STEP_MS = 5000;
const SHORTEST_STEP_MS = 50;
const STEPS_PER_LIMIT = 10;

/**
 * Watches this process; does nothing where the thread's module is not beside the program. Resolves when the thread
 * runs, which a main thread that stands still would not let it do.
 */
export async function startStallWatch({ limitMs, cut, log }: StallWatchOptions): Promise<void> {
  const entry = threadEntry('stall-thread');
  if (!entry) return;
  const stepMs = Math.min(Math.max(limitMs / STEPS_PER_LIMIT, SHORTEST_STEP_MS), LONGEST_STEP_MS);
  const beats = new Int32Array(new SharedArrayBuffer(4));
  // Twice as often as it is looked at, so that a beat that comes late is no silence.
  setInterval(() => Atomics.add(beats, 0, 1), stepMs / 2).unref();
  const seconds = limitMs / 1000;
  Object.assign(globalThis, { [Symbol.for(STALLED)]: () => onStall(seconds, cut, log) });
  // Two more, because the first silence may be short and the last beat was before it.
  const workerData: StallThreadData = { beats, stepMs, steps: Math.ceil(limitMs / stepMs) + 2 };
  const thread = new Worker(entry.program, { eval: entry.isCode, workerData });
  await new Promise<void>((resolve) => {
    thread.once('message', resolve);
    thread.once('error', (err) => {
      log.error({ err }, 'nothing watches the event loop');
      resolve();
    });
  });
  thread.unref();
}

/** Called in the middle of what the main thread does, whose frames lie below on the stack. */
function onStall(seconds: number, cut: StallWatchOptions['cut'], log: Logger): void {
  const requests = cut(
    new ServingError(
      'REQUEST_TIMEOUT',
      `a handler blocked the event loop for more than ${seconds} s (SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS), and the process is killed. Long work must await now and then.`,
    ),
  );
  // A fatal line is written at once.
  log.fatal(
    { requests, stack: stackBelow() },
    `the event loop has stood still for more than ${seconds} s: this process is killed`,
  );
}

/** The frames of the work that was interrupted, without ours and the evaluation's. */
function stackBelow(): string[] {
  const lines = new Error().stack?.split('\n').map((line) => line.trim()) ?? [];
  const evaluation = lines.findIndex((line) => line.startsWith('at <anonymous>'));
  return lines.slice(evaluation + 1);
}
