/** Runs commands in a real pseudo-terminal, and keeps what it showed and when. */
import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { inTerminal } from '../../tools/in-terminal.ts';
import type { Frame, Run, Screen, Size } from './frames.ts';

const ROOT = join(import.meta.dirname, '..', '..');
export const SIZE: Size = { columns: 80, rows: 24 };

/** Changes that follow each other faster are one frame. */
const SETTLED_MS = 60;
/** Longest time that nothing happens. */
const LONGEST_MS = 1_500;
const LAST_MS = 4_000;
const ECHO_MS = 300;
/** Longest time of one command. */
const STEP_MS = 60_000;

/** What is used of `@xterm/headless`. */
interface Terminal {
  write(text: string, done: () => void): void;
  readonly buffer: {
    readonly active: { readonly viewportY: number; getLine(row: number): Line | undefined };
  };
}
interface Line {
  getCell(column: number): Cell | undefined;
}
interface Cell {
  getChars(): string;
  getFgColor(): number;
  isFgPalette(): boolean;
  isBold(): number;
  isDim(): number;
}

/** A terminal to type into. */
interface Typing {
  /** Types a line and waits until the screen shows what is expected after it. */
  type(line: string, until: RegExp): Promise<void>;
  /** Presses a key. */
  press(key: string, until: RegExp): Promise<void>;
}

/**
 * Records a shell while `use` types into it.
 * @param modules folder with `@xterm/headless`
 */
export async function record(
  modules: string,
  folder: string,
  environment: NodeJS.ProcessEnv,
  use: (typing: Typing) => Promise<void>,
): Promise<Frame[]> {
  const terminal = await openTerminal(modules);
  const shell = ['bash', '--noprofile', '--norc', '-i'];
  const child = spawn('python3', inTerminal(ROOT, SIZE.columns, shell), {
    cwd: folder,
    env: { ...environment, TERM: 'xterm-256color', LANG: 'C.UTF-8' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const seen: { readonly at: number; readonly screen: Screen }[] = [];
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    terminal.write(part, () => seen.push({ at: performance.now(), screen: screenOf(terminal) }));
  });
  const send = async (keys: string, until: RegExp) => {
    child.stdin.write(keys);
    // The keys themselves are on the screen by then.
    await sleep(ECHO_MS);
    const from = performance.now();
    while (!until.test(textOf(seen.at(-1)?.screen ?? []))) {
      if (child.exitCode === null && performance.now() - from < STEP_MS) await sleep(50);
      else throw new Error(`no ${until} on the screen:\n${textOf(seen.at(-1)?.screen ?? [])}`);
    }
    await sleep(SETTLED_MS * 3);
  };
  try {
    await send('', /[#$]$/);
    await send("PS1='$ '; clear\r", /^\$$/);
    seen.length = 0;
    await use({ type: (line, until) => send(`${line}\r`, until), press: send });
  } finally {
    child.stdin.end();
    child.kill();
  }
  return framesOf(seen);
}

/** The screen as text, without what is blank at its end. */
function textOf(screen: Screen): string {
  const lines = screen.map((line) => line.map(({ text }) => text).join(' '));
  return lines.join('\n').trimEnd();
}

async function openTerminal(modules: string): Promise<Terminal> {
  const file = join(modules, '@xterm', 'headless', 'lib-headless', 'xterm-headless.mjs');
  await readFile(file);
  const { Terminal } = (await import(pathToFileURL(file).href)) as {
    Terminal: new (options: object) => Terminal;
  };
  return new Terminal({ cols: SIZE.columns, rows: SIZE.rows, allowProposedApi: true });
}

function framesOf(seen: readonly { at: number; screen: Screen }[]): Frame[] {
  const settled = seen.filter((one, index) => {
    const next = seen[index + 1];
    return next === undefined || next.at - one.at >= SETTLED_MS;
  });
  return settled.map(({ at, screen }, index) => {
    const next = settled[index + 1];
    const milliseconds = next ? Math.min(LONGEST_MS, Math.round(next.at - at)) : LAST_MS;
    return { screen, milliseconds };
  });
}

function screenOf({ buffer: { active } }: Terminal): Screen {
  return Array.from({ length: SIZE.rows }, (_, row) =>
    runsOf(active.getLine(active.viewportY + row)),
  );
}

/** Cells of one look that follow each other; blanks belong to none. */
function runsOf(line: Line | undefined): (Run & { column: number })[] {
  const runs: (Run & { column: number; text: string })[] = [];
  for (let column = 0; column < SIZE.columns; column++) {
    const cell = line?.getCell(column);
    const char = cell?.getChars() || ' ';
    const color = cell?.isFgPalette() && cell.getFgColor() < 16 ? cell.getFgColor() : undefined;
    const look = { color, bold: cell?.isBold() !== 0, dim: cell?.isDim() !== 0 };
    const last = runs.at(-1);
    const isSame = last && last.color === color && last.bold === look.bold && last.dim === look.dim;
    if (isSame) last.text += char;
    else runs.push({ text: char, column, ...look });
  }
  return runs
    .map((run) => ({ ...run, text: run.text.trimEnd() }))
    .filter(({ text }) => text !== '')
    .map((run) => {
      const blanks = run.text.length - run.text.trimStart().length;
      return { ...run, column: run.column + blanks, text: run.text.trimStart() };
    });
}
