/**
 * Cuts a process whose event loop stands still: a handler that never comes back to it would keep every
 * request, `/ping` included, from an answer for ever. A thread looks whether a timer of the main thread still
 * runs. Once it has not run for longer than a request may take, the thread has the main thread, wherever that
 * is, answer what is in flight, and kills the process; the primary starts another one.
 */
import { writeSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import type { Logger } from 'pino';
import { ServingError } from '../errors.ts';
import type { RequestInFlight } from '../http/in-flight.ts';
import { LAST_WORDS } from '../last-words.ts';
import { threadEntry } from '../threads/thread-entry.ts';

/** What is watched, and what happens at the end. */
interface StallWatchOptions {
  /** How long the event loop may stand still while requests are answered, in ms. */
  readonly limitMs: number;
  /** The same while the modules of a handler are loaded for the start. */
  readonly startLimitMs: number;
  /** Answers all requests in flight with the error, without a turn of the event loop, and names them. */
  readonly cut: (error: ServingError) => readonly RequestInFlight[];
  readonly log: Logger;
}

/** What the thread starts with. */
export interface StallThreadData {
  /** Shared, see {@link STALL_SLOTS}. */
  readonly shared: Int32Array;
  /** Between two looks. */
  readonly stepMs: number;
}

/** What is shared with the thread. */
export const STALL_SLOTS = {
  /** Counts up as long as the event loop turns. */
  beats: 0,
  /** Looks without a beat in between after which the process is cut. */
  steps: 1,
};

/** A watch that runs. */
export interface StallWatch {
  /** The start is over: from now on the limit is that of requests. */
  started(): void;
}

/** Status of a process whose start stands still: it would stand still the next time too. */
export const STALLED_START = 71;

/** Name of the global function that the thread has the main thread call, as `Symbol.for` takes it. */
export const STALLED = 'sagemaker-tfs.stalled';

const LONGEST_STEP_MS = 5000;
const SHORTEST_STEP_MS = 50;
const STEPS_PER_LIMIT = 10;

/**
 * Watches this process; does nothing where the thread's module is not beside the program. Resolves when the thread
 * runs, which a main thread that stands still would not let it do.
 */
export async function startStallWatch(options: StallWatchOptions): Promise<StallWatch> {
  const { limitMs, startLimitMs, log } = options;
  const entry = threadEntry('stall-thread');
  if (!entry) return { started: () => undefined };
  const step = Math.min(limitMs, startLimitMs) / STEPS_PER_LIMIT;
  const stepMs = Math.min(Math.max(step, SHORTEST_STEP_MS), LONGEST_STEP_MS);
  const shared = new Int32Array(new SharedArrayBuffer(8));
  // Twice as often as it is looked at, so that a beat that comes late is no silence.
  setInterval(() => Atomics.add(shared, STALL_SLOTS.beats, 1), stepMs / 2).unref();
  const watchFor = (ms: number, onStall: () => void) => {
    Object.assign(globalThis, { [Symbol.for(STALLED)]: onStall });
    // Two more, because the first silence may be short and the last beat was before it.
    Atomics.store(shared, STALL_SLOTS.steps, Math.ceil(ms / stepMs) + 2);
  };
  watchFor(startLimitMs, () => onStalledStart(startLimitMs / 1000, log));
  const workerData: StallThreadData = { shared, stepMs };
  const thread = new Worker(entry.program, { eval: entry.isCode, workerData });
  await new Promise<void>((resolve) => {
    thread.once('message', resolve);
    thread.once('error', (err) => {
      log.error({ err }, 'nothing watches the event loop');
      resolve();
    });
  });
  thread.unref();
  return { started: () => watchFor(limitMs, () => onStall(options)) };
}

/** Called in the middle of what the main thread does, whose frames lie below on the stack. */
function onStall({ limitMs, cut, log }: StallWatchOptions): void {
  const seconds = limitMs / 1000;
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

/** The same before anything can be asked: a start that fails, and would the next time. */
function onStalledStart(seconds: number, log: Logger): void {
  const stack = stackBelow();
  const message = `the top level of the handler, or of a module that it imports, did not come to an end within ${seconds} s (SAGEMAKER_TFS_WAIT_TIME_SECONDS).`;
  log.fatal({ stack }, message);
  writeSync(2, `${LAST_WORDS}${message} It stands ${stack[0] ?? 'in native code'}.\n`);
  process.exit(STALLED_START);
}

/** The frames of the work that was interrupted, without ours and the evaluation's. */
function stackBelow(): string[] {
  const lines = new Error().stack?.split('\n').map((line) => line.trim()) ?? [];
  const evaluation = lines.findIndex((line) => line.startsWith('at <anonymous>'));
  return lines.slice(evaluation + 1);
}
