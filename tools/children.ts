/** Child processes that never outlive the benchmark, however it ends. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';

const running = new Set<ChildProcess>();
/** Times 50 ms that a server may take to answer. */
const TRIES = 1_200;
const KILL_AFTER_MS = 5_000;

process.once('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

/** Starts a program; it is ended with this process at the latest. */
export function startChild(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): ChildProcess {
  const child = spawn(command, args, options);
  running.add(child);
  child.once('exit', () => running.delete(child));
  child.once('error', () => running.delete(child));
  return child;
}

/** SIGTERM, then SIGKILL after five seconds. */
export async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const force = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  await gone;
  clearTimeout(force);
}

/** Waits until the URL answers 200. @throws where the child ends before, or it takes a minute */
export async function answering(url: string, child: ChildProcess): Promise<void> {
  for (let left = TRIES; left > 0; left--) {
    if (child.exitCode !== null) throw new Error(`${child.spawnfile} ended with ${child.exitCode}`);
    const response = await fetch(url).catch(() => undefined);
    await response?.arrayBuffer();
    if (response?.ok) return;
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(`${url} does not answer`);
}

/** The first line that a child prints, for programs that tell their port so. */
export async function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
    text += chunk.toString();
    if (text.includes('\n')) return text.slice(0, text.indexOf('\n'));
  }
  throw new Error(`${child.spawnargs.join(' ')} ended without a line`);
}
