/** One process of TensorFlow Serving: its output goes through our log, and it never outlives us. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { oomKills } from './oom-kills.ts';
import { startWatchdog } from './watchdog.ts';

/** How a process ended. */
export interface ProcessEnd {
  /** Exit status; null where a signal ended it or it did not start. */
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Its errors, and what it wrote last but for the list of its flags, oldest first. */
  readonly lastLines: readonly string[];
  /** The last of its errors. */
  readonly lastError?: string | undefined;
  /** The line in which it says why it aborts. */
  readonly fatal?: string | undefined;
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
/** C++ aborts as well if an allocation fails. */
const SHORTAGE = /bad_alloc|cannot allocate memory|out of memory/i;

/** Whether a fault of the program's own ended it, for another reason than memory. */
export function endedByItself(end: ProcessEnd): boolean {
  return end.signal !== null && FAULTS.has(end.signal) && !lacksMemory(end);
}

/** Whether it says that memory was short. */
export function lacksMemory({ lastLines }: ProcessEnd): boolean {
  return lastLines.some((line) => SHORTAGE.test(line));
}

/** A running child. */
export interface ModelServerProcess {
  readonly pid: number | undefined;
  readonly ended: Promise<ProcessEnd>;
  /** Sends SIGTERM, and SIGKILL after `graceMs`. Resolves when it has ended. */
  stop(graceMs: number): Promise<void>;
}

/** Lines kept for the message about why it ended, of errors and of all. */
const KEPT_ERRORS = 10;
const KEPT_LINES = 20;
const LEVELS = ['info', 'warn', 'error'] as const;
/** What it prints of its flags after a wrong one, 50 lines of tabs and help. */
const USAGE = /^(usage: |Flags:$|\t--)/;

/** Starts a program in a process group of its own, so that a Ctrl-C at the terminal reaches only us. */
export function startProcess(
  program: string,
  options: {
    args: readonly string[];
    env: NodeJS.ProcessEnv;
    log: Logger;
    /** Lines below it are not logged: an index of {@link LEVELS}. Default: 0. */
    leastLevel?: number | undefined;
    /** Told of each line that it writes. */
    onLine?: (line: string) => void;
  },
): ModelServerProcess {
  const child = spawn(program, options.args, {
    env: options.env,
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  const errors: string[] = [];
  const last: string[] = [];
  let fatal: string | undefined;
  const onLine = (line: string) => {
    const level = severity(line);
    if (level === 'error') keep(errors, line, KEPT_ERRORS);
    if (letterOf(line) === 'F') fatal ??= line;
    if (!USAGE.test(line)) keep(last, line, KEPT_LINES);
    options.onLine?.(line);
    if (LEVELS.indexOf(level) >= (options.leastLevel || 0)) options.log[level](line);
  };
  forEachLine(child.stdout, onLine);
  forEachLine(child.stderr, onLine);
  const watchdog = child.pid === undefined ? undefined : startWatchdog(`-${child.pid}`);
  let isOurs = false;
  const ended = new Promise<ProcessEnd>((resolve) => {
    child.once('error', (startError) =>
      resolve({ status: null, signal: null, lastLines: [], startError }),
    );
    // 'close' and not 'exit': by then the last lines have been read.
    child.once('close', (status, signal) => {
      const lastLines = [...errors.filter((line) => !last.includes(line)), ...last];
      resolve({
        status,
        signal,
        lastLines,
        lastError: errors.at(-1),
        fatal,
        isOurs,
        oomKills: oomKills(),
      });
    });
  });
  void ended.then(() => watchdog?.kill('SIGKILL'));
  return {
    pid: child.pid,
    ended,
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

function forEachLine(stream: Readable, onLine: (line: string) => void): void {
  createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY }).on('line', onLine);
}

function keep(lines: string[], line: string, most: number): void {
  lines.push(line);
  if (lines.length > most) lines.shift();
}

/** TensorFlow's lines carry I, W, E or F after the time; what the program prints itself carries nothing. */
function severity(line: string): (typeof LEVELS)[number] {
  if (/^(Failed to start server\.|Couldn't interpret value )/.test(line)) return 'error';
  if (line.startsWith('unknown argument: ')) return 'warn';
  const letter = letterOf(line);
  if (letter === 'W') return 'warn';
  return letter === 'E' || letter === 'F' ? 'error' : 'info';
}

function letterOf(line: string): string | undefined {
  return /^[\d: .-]*\b([IWEF])\d*\b/.exec(line)?.[1];
}
