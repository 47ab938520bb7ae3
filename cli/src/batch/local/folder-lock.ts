/** One job at a time writes into a folder: two with other settings or models would mix their outputs unseen. */
import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning } from '@sagemaker-tfs/libtensorflow/is-running';
import * as z from 'zod';
import { CommandError, cannotWrite } from '../../errors.ts';

/** A hidden file, which is no output. */
const LOCK = '.lock.json';
/** Milliseconds between signs of life, and after the last of them in which a job of another machine is taken for dead. */
const SIGN_EVERY = 10_000;
const DEAD_AFTER = 60_000;
/** Milliseconds after which one of two that take over at the same time finds itself replaced. */
const SETTLED = 50;

const holderSchema = z.object({ id: z.string(), pid: z.number(), host: z.string() });
type Holder = z.output<typeof holderSchema>;

/**
 * Takes the folder, which is made if it is not there; also from a job that was killed.
 * @returns leaves it to others
 * @throws CommandError OUTPUTS_IN_USE, OUTPUT_FAILED
 */
export async function lockFolder(directory: string): Promise<() => Promise<void>> {
  const path = join(directory, LOCK);
  const own: Holder = { id: randomUUID(), pid: process.pid, host: hostname() };
  try {
    await mkdir(directory, { recursive: true });
    if (!(await take(path, own))) {
      const holder = await holderOf(path);
      if (holder && (await isAlive(path, holder))) throw inUse(directory, holder);
      await rm(path, { force: true });
      if (!(await take(path, own))) throw inUse(directory, await holderOf(path));
      await sleep(SETTLED);
      const settled = await holderOf(path);
      if (settled?.id !== own.id) throw inUse(directory, settled);
    }
  } catch (error) {
    throw error instanceof CommandError ? error : cannotWrite(path, error);
  }
  const signs = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, SIGN_EVERY).unref();
  return async () => {
    clearInterval(signs);
    if ((await holderOf(path))?.id === own.id) await rm(path, { force: true });
  };
}

/**
 * The file is there with its content or not at all, where the file system has hard links: others (exFAT, mounted buckets)
 * refuse them by an error of their own choice.
 * @returns whether it was not there before
 */
async function take(path: string, own: Holder): Promise<boolean> {
  const written = `${path}.${own.id}`;
  const content = JSON.stringify(own);
  await writeFile(written, content);
  try {
    return await isNew(() => link(written, path)).catch(() =>
      isNew(() => writeFile(path, content, { flag: 'wx' })),
    );
  } finally {
    await rm(written, { force: true });
  }
}

async function isNew(make: () => Promise<void>): Promise<boolean> {
  try {
    await make();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

function holderOf(path: string): Promise<Holder | undefined> {
  return readFile(path, 'utf8').then(
    (text) => holderSchema.parse(JSON.parse(text)),
    () => undefined,
  );
}

async function isAlive(path: string, { pid, host }: Holder): Promise<boolean> {
  const { mtimeMs } = await stat(path);
  const isSilent = Date.now() - mtimeMs > DEAD_AFTER;
  // A process id comes again: after a restart, or in the next container.
  return !isSilent && (host !== hostname() || (pid !== process.pid && isRunning(pid)));
}

function inUse(directory: string, holder: Holder | undefined): CommandError {
  const who = holder ? ` (process ${holder.pid} of ${holder.host})` : '';
  return new CommandError(
    'OUTPUTS_IN_USE',
    `another job${who} writes into ${directory}. Wait for its end, or a minute if it was killed on another machine, or give another --out.`,
  );
}
