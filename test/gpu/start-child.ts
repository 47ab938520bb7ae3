/** Runs one task in a process of its own, and reads its result. */
import { once } from 'node:events';
import { startChild } from '../../tools/children.ts';
import type { Task } from './tasks.ts';

/** Variables on top of this process's. */
export type Environment = Readonly<Record<string, string>>;

/** The driver may have to compile every kernel for this GPU, once. */
const SECONDS = 240;
/** Of what it wrote last. */
const LINES = 6;

/** @throws Error with the end of what it wrote to stderr, where it fails or takes too long */
export async function inChild<Result>(
  program: string,
  task: Task,
  { environment = {}, seconds = SECONDS }: { environment?: Environment; seconds?: number } = {},
): Promise<{ readonly result: Result; readonly log: string }> {
  const child = startChild(process.execPath, [program, '--task', JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...environment },
  });
  let out = '';
  let log = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), seconds * 1_000);
  const [status, signal] = (await once(child, 'close')) as [number | null, string | null];
  clearTimeout(timer);
  if (status !== 0) {
    const how = signal === null ? `ended with ${status}` : `was ended by ${signal}`;
    throw new Error(`the process ${how}: ${reasonOf(log)}`);
  }
  return { result: JSON.parse(out.trim().split('\n').at(-1) ?? 'null') as Result, log };
}

/** Without the stack that follows an error of JavaScript's. */
function reasonOf(log: string): string {
  const lines = log.trim().split('\n');
  return lines
    .filter((line) => !/^\s+at |^Node\.js v/.test(line))
    .slice(-LINES)
    .join('\n');
}
