/** Reads what a process of TensorFlow Serving prints: believed and logged while it starts, counted while it serves. */
import type { ChildProcessByStdio } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Logger } from 'pino';
import { hiddenLines } from './hidden-lines.ts';
import { LineBudget, lineReader, Tail } from './line-reader.ts';
import { type Level, lastWord, levelOf } from './printed-line.ts';

/** Where what it prints goes. */
export interface OutputOptions {
  readonly log: Logger;
  /** Lines below it are not logged: 1 leaves warnings, 2 errors. Default: 0. */
  readonly leastLevel?: number | undefined;
  /** Told of each line that it writes until it serves. */
  readonly onLine?: (line: string) => void;
}

/** What a process has said of its end. */
export interface LastLines {
  /**
   * Its errors, and what it wrote last but for the list of its flags, oldest first. Of one that has served: the line alone
   * in which it says why it aborts.
   */
  readonly lastLines: readonly string[];
  /** The last of its errors. */
  readonly lastError?: string | undefined;
  /** The line in which it says why it aborts. */
  readonly fatal?: string | undefined;
}

interface Output {
  /** See `ModelServerProcess`. */
  serves(): void;
  ended(signal: NodeJS.Signals | null): LastLines;
}

/** Lines kept for the message about why it ended, of errors and of all. */
const KEPT_ERRORS = 10;
const KEPT_LINES = 20;
const LEVELS: readonly Level[] = ['info', 'warn', 'error'];
/** What is logged of its start in a burst and each second, and read of it later. */
const BUDGET = { bytes: 256 * 1024, lines: 2000 };
/** Read when it has aborted: a stack trace may follow its last word. */
const TAIL_BYTES = 32 * 1024;
const MAX_LAST_WORD = 1000;
/** What it prints of its flags after a wrong one, 50 lines of tabs and help. */
const USAGE = /^(usage: |Flags:$|\t--)/;

/** Begins to read. */
export function readOutput(
  { stdout, stderr }: ChildProcessByStdio<null, Readable, Readable>,
  { log, leastLevel = 0, onLine }: OutputOptions,
): Output {
  const errors: string[] = [];
  const last: string[] = [];
  let isServing = false;
  const budget = new LineBudget(BUDGET);
  const isLogged = (level: Level) => LEVELS.indexOf(level) >= leastLevel;
  const hidden = hiddenLines(log, budget, isLogged);
  const hear = (line: string) => {
    if (line === '') return;
    if (isServing) return hidden.add(line);
    const level = levelOf(line);
    if (level === 'error') keep(errors, line, KEPT_ERRORS);
    if (!USAGE.test(line)) keep(last, line, KEPT_LINES);
    onLine?.(line);
    if (!isLogged(level)) return;
    budget.refill();
    if (!budget.hasSome) return budget.drop(line.length);
    budget.take(line.length);
    log[level](line);
  };
  const tail = new Tail(TAIL_BYTES);
  for (const stream of [stdout, stderr]) {
    const read = lineReader(hear, () => (isServing ? budget : undefined));
    stream.on('data', read);
    stream.once('end', () => read(Buffer.from('\n')));
  }
  stderr.on('data', (chunk: Buffer) => tail.add(chunk));
  return {
    serves() {
      isServing = true;
    },
    ended(signal) {
      hidden.report();
      // What a request makes it print comes before its own last word.
      const isBelieved = !isServing || signal === 'SIGABRT';
      const fatal = isBelieved ? lastWord(tail.lines)?.slice(0, MAX_LAST_WORD) : undefined;
      if (isServing) return { lastLines: [fatal ?? []].flat(), lastError: fatal, fatal };
      const lastLines = [...errors.filter((line) => !last.includes(line)), ...last];
      return { lastLines, lastError: errors.at(-1), fatal };
    },
  };
}

function keep(lines: string[], line: string, most: number): void {
  lines.push(line);
  if (lines.length > most) lines.shift();
}
