/** A program in a pseudo-terminal, for tests. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inTerminal } from '../../../../tools/in-terminal.ts';

/** A running program with its screen. */
export interface Terminal {
  /** Everything written so far, without colors and cursor movements. */
  text(): string;
  /** As it was written. */
  raw(): string;
  /** Waits until the text has the part. @throws Error with the text if it never comes */
  until(part: string | RegExp): Promise<void>;
  type(keys: string): void;
  /** The exit status. */
  readonly ended: Promise<number>;
  /** Ends it whatever it does. */
  kill(): void;
}

const ROOT = join(__dirname, '..', '..', '..', '..');
/** Milliseconds that a part may take to come, on a busy machine. */
const PATIENCE = 90_000;

/** `sagemaker-tfs` with these arguments, as a program to start. */
export const commandLine = (...args: readonly string[]): string[] => [
  ...[process.execPath, join(ROOT, 'cli/bin/sagemaker-tfs.js')],
  ...args,
];

/** Starts `sagemaker-tfs` in a terminal. @param folder to run in; default: this process's */
export function startTerminal(
  args: readonly string[],
  ...where: [environment?: NodeJS.ProcessEnv, folder?: string, columns?: number]
): Terminal {
  return startInTerminal(commandLine(...args), ...where);
}

/** Starts a program in a terminal. */
export function startInTerminal(
  command: readonly string[],
  environment: NodeJS.ProcessEnv = {},
  folder = process.cwd(),
  columns = 80,
): Terminal {
  const { npm_lifecycle_event: _npm, NO_COLOR: _color, ...inherited } = process.env;
  const child = spawn('python3', inTerminal(ROOT, columns, command), {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd: folder,
    env: { ...inherited, npm_command: 'exec', TERM: 'xterm-256color', ...environment },
  });
  let raw = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    raw += part;
  });
  child.stdin.on('error', () => undefined);
  let status: number | undefined;
  const ended = once(child, 'close').then(([code]) => {
    status = Number(code ?? 1);
    return status;
  });
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what colors and cursor movements are made of
  const text = () => raw.replace(/\x1b\[[0-9;]*[A-Za-z]/g, '').replace(/\r\n/g, '\n');
  return {
    raw: () => raw,
    text,
    async until(part) {
      const found = () => (typeof part === 'string' ? text().includes(part) : part.test(text()));
      const deadline = Date.now() + PATIENCE;
      while (!found()) {
        if (status !== undefined || Date.now() > deadline) {
          throw new Error(`${part} did not come; status ${status}; the screen:\n${text()}`);
        }
        await sleep(50);
      }
    },
    type: (keys) => child.stdin.write(keys),
    ended,
    // The terminal goes with it, which ends what runs there.
    kill: () => child.kill('SIGKILL'),
  };
}
