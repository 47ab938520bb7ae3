/** Ctrl-C and SIGTERM as an AbortSignal, so that work under way cleans up after itself. */
import { CommandError, EXIT } from './errors.ts';

/**
 * One Ctrl-C may arrive several times: from the terminal, and again from npm or npx, which hand it on. Only
 * what comes later than this, in ms, is a person who will not wait for the clean-up.
 */
const SAME_INTERRUPT_MS = 1000;

/** Aborts at the first SIGINT or SIGTERM; `advice` is what to do after an interruption. */
export function interruptSignal(advice?: string): AbortSignal {
  const abort = new AbortController();
  onInterrupt((name) => {
    abort.abort(interrupted(name, advice));
  });
  return abort.signal;
}

/** The reason for an abort. @param advice a sentence: what to do after an interruption */
export function interrupted(name: NodeJS.Signals, advice?: string): CommandError {
  return new CommandError('INTERRUPTED', `interrupted by ${name}.${advice ? ` ${advice}` : ''}`);
}

/** Who cleans up, while there is something to clean up. */
const callbacks = new Set<(name: NodeJS.Signals) => void>();
let reading = true;

/** False once who read the output has gone, as `| head` does: nothing more is said. */
export function isRead(): boolean {
  return reading;
}

/** The output's reader has gone: the work is interrupted and cleans up, or the process ends. */
export function readerHasGone(): void {
  if (!reading) return;
  reading = false;
  if (callbacks.size === 0) process.exit();
  for (const callback of callbacks) callback('SIGPIPE');
}

let isLost = false;

/** Whether the result could not be written to standard output, whatever the work has come to. */
export function isResultLost(): boolean {
  return isLost;
}

/** Standard output takes no more, as on a full disk: the work is interrupted and cleans up, or the process ends. */
export function outputHasFailed(error: NodeJS.ErrnoException): void {
  if (isLost || !reading) return;
  isLost = true;
  process.stderr.write(
    `sagemaker-tfs: standard output cannot be written: ${error.message}. Free space or send it elsewhere, then run the command again.\n`,
  );
  process.exitCode = EXIT.failed;
  readerHasGone();
}

/** How often to see whether npm is still there, in ms. */
const PARENT_EVERY_MS = 500;

/**
 * Calls back at the first SIGINT or SIGTERM; a later one ends the process at once. Where npm or npx started
 * this process, its end counts as SIGTERM: `kill` reaches npm and the shell between, but not this process.
 */
export function onInterrupt(callback: (name: NodeJS.Signals) => void): void {
  let first: number | undefined;
  const interrupt = (name: NodeJS.Signals) => {
    if (first === undefined) {
      first = performance.now();
      callback(name);
    } else if (performance.now() - first > SAME_INTERRUPT_MS) process.exit(130);
  };
  callbacks.add(interrupt);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => interrupt(name));
  if (process.env.npm_lifecycle_event === undefined) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    if (first === undefined) interrupt('SIGTERM');
  }, PARENT_EVERY_MS);
  watch.unref();
}
