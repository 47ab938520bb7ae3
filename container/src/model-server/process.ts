/** One process of TensorFlow Serving: its output goes through our log, and it never outlives us. */
import { type ChildProcess, spawn } from 'node:child_process';
import { setTimeout as delay } from 'node:timers/promises';
import { oomKills } from './oom-kills.ts';
import { tellsShortage } from './printed-line.ts';
import { type LastLines, type OutputOptions, readOutput } from './process-output.ts';
import { startWatchdog } from './watchdog.ts';

/** How a process ended. */
export interface ProcessEnd extends LastLines {
  /** Exit status; null where a signal ended it or it did not start. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Why it could not be started. */
  readonly startError?: NodeJS.ErrnoException;
  /** Whether we had ended it. */
  readonly isOurs?: boolean;
  /** {@link oomKills} when it had ended. */
  readonly oomKills?: number | undefined;
}

/** `was killed by SIGSEGV`, `ended with status 1`. */
export function howEnded({ status, signal }: Pick<ProcessEnd, 'status' | 'signal'>): string {
  return signal ? `was killed by ${signal}` : `ended with status ${status}`;
}

/** Signals of a program's own faults. The kernel ends one for lack of memory by SIGKILL, and others by SIGTERM. */
const FAULTS: ReadonlySet<string> = new Set([
  'SIGABRT',
  'SIGBUS',
  'SIGFPE',
  'SIGILL',
  'SIGSEGV',
  'SIGTRAP',
]);
/** Whether a fault of the program's own ended it, for another reason than memory. */
export function endedByItself(end: ProcessEnd): boolean {
  return end.signal !== null && isFault(end.signal) && !lacksMemory(end);
}

/** Whether a process that this signal has ended was at fault itself. */
export function isFault(signal: string): boolean {
  return FAULTS.has(signal);
}

/** Whether it says that memory was short. */
export function lacksMemory({ lastLines }: ProcessEnd): boolean {
  return lastLines.some(tellsShortage);
}

/** A running child. */
export interface ModelServerProcess {
  readonly pid: number | undefined;
  readonly ended: Promise<ProcessEnd>;
  /**
   * It takes requests: what it prints from now on may be their data. It is believed no more, nor logged whole, but for the
   * last line of one that aborts.
   */
  serves(): void;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
}

/** Starts a program in a process group of its own, so that a Ctrl-C at the terminal reaches only us. */
export function startProcess(
  program: string,
  options: OutputOptions & {
    readonly args: readonly string[];
    readonly env: NodeJS.ProcessEnv;
  },
): ModelServerProcess {
  const child = spawn(program, options.args, {
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const output = readOutput(child, options);
  const watchdog = child.pid === undefined ? undefined : startWatchdog(`-${child.pid}`);
  let isOurs = false;
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', (startError) =>
      resolve({ status: null, signal: null, lastLines: [], startError }),
    );
    // 'close' and not 'exit': by then the last lines have been read.
    child.once('close', (status, signal) => {
      resolve({ status, signal, ...output.ended(signal), isOurs, oomKills: oomKills() });
    });
  });
  void ended.then(() => watchdog?.kill('SIGKILL'));
  return {
    pid: child.pid,
    ended,
    serves: output.serves,
    stop(graceMs) {
      isOurs = true;
      return stop(child, ended, graceMs);
    },
  };
}

async function stop(child: ChildProcess, ended: Promise<unknown>, graceMs: number): Promise<void> {
  signalGroup(child, 'SIGTERM');
  const timer = new AbortController();
  const tooLong = delay(graceMs, 'too long', { signal: timer.signal }).catch(() => undefined);
  if ((await Promise.race([ended, tooLong])) === 'too long') signalGroup(child, 'SIGKILL');
  timer.abort();
  await ended;
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It ended in this moment.
  }
}
