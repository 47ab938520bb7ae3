/** Fetches TensorFlow's library into the cache. */
import { mkdir, rename, rm, stat, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { LibTensorFlowError } from '../errors.ts';
import { cacheDirectory, cacheRoot, isComplete } from './cache.ts';
import { interruptible } from './interruption.ts';
import { makePartial, removeStalePartials } from './partial.ts';
import type { PinnedWheel } from './pinned-wheel.ts';
import { downloadWheel } from './pip.ts';
import { unpackLibraries, verifyWheel } from './unpack.ts';

/** How far a fetch is. */
export interface FetchProgress {
  readonly stage: 'download' | 'verify' | 'unpack';
  /** Bytes. */
  readonly done: number;
  /** Bytes, where they are known. */
  readonly total: number | undefined;
}

/** How a fetch reports and stops. */
export interface FetchOptions {
  readonly onProgress?: (progress: FetchProgress) => void;
  /** Stops the fetch, which then leaves nothing behind. */
  readonly signal?: AbortSignal;
}

/** Room for directories and pip's bookkeeping beside the files themselves, in bytes. */
const SLACK = 64 * 1024 * 1024;

/**
 * Downloads the wheel, checks it, unpacks its libraries and moves them to their place in the cache by one
 * rename. Processes that fetch at the same time do not disturb each other: the first to finish wins.
 *
 * @throws LibTensorFlowError LIBRARY_FETCH_FAILED; then nothing stays behind
 */
export function fetchLibrary(
  wheel: PinnedWheel,
  { onProgress, signal: outer }: FetchOptions = {},
): Promise<void> {
  return interruptible(outer, (signal) => fetchAndPublish(wheel, signal, onProgress ?? (() => {})));
}

async function fetchAndPublish(
  wheel: PinnedWheel,
  signal: AbortSignal,
  onProgress: (progress: FetchProgress) => void,
): Promise<void> {
  const root = cacheRoot();
  let partial: string | undefined;
  try {
    await makeDirectories(root);
    await removeStalePartials(root);
    await checkSpace(root, spaceNeeded(wheel));
    partial = await makePartial(root);
    await publish(await fetchInto(partial, wheel, signal, onProgress), partial, wheel);
  } catch (error) {
    throw signal.aborted ? signal.reason : explained(error, root);
  } finally {
    if (partial) await rm(partial, { recursive: true, force: true });
  }
}

/** Not `mkdir` with `recursive`: in Node 20 that never returns where /proc refuses a directory. */
async function makeDirectories(path: string): Promise<void> {
  if (await stat(path).catch(() => undefined)) return;
  await makeDirectories(dirname(path));
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

/** @returns the directory inside `partial` that holds the libraries */
async function fetchInto(
  partial: string,
  wheel: PinnedWheel,
  signal: AbortSignal,
  onProgress: (progress: FetchProgress) => void,
): Promise<string> {
  const reporter = (stage: FetchProgress['stage'], total: number) => (done: number) =>
    onProgress({ stage, done: Math.min(done, total), total });
  const path = await downloadWheel(wheel, partial, reporter('download', wheel.bytes), signal);
  await verifyWheel(wheel, path, reporter('verify', wheel.bytes), signal);
  const libraries = join(partial, 'libraries');
  await mkdir(libraries);
  await unpackLibraries(wheel, path, libraries, reporter('unpack', unpackedBytes(wheel)), signal);
  return libraries;
}

async function publish(libraries: string, partial: string, wheel: PinnedWheel): Promise<void> {
  const target = cacheDirectory();
  if (await isComplete(target, wheel)) return;
  // Out of the way with a damaged one. Another process may be faster: then its directory stays.
  await rename(target, join(partial, 'damaged')).catch(() => {});
  try {
    await rename(libraries, target);
  } catch (error) {
    if (!(await isComplete(target, wheel))) throw error;
  }
}

/** @throws LibTensorFlowError LIBRARY_FETCH_FAILED if fewer bytes are free */
export async function checkSpace(directory: string, needed: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  if (free >= needed) return;
  throw new LibTensorFlowError(
    'LIBRARY_FETCH_FAILED',
    `Fetching TensorFlow's library needs ${megabytes(needed)} in ${directory}, where ${megabytes(free)} ` +
      'are free. Make room, or set XDG_CACHE_HOME to a directory on another disk.',
  );
}

function spaceNeeded(wheel: PinnedWheel): number {
  return wheel.bytes + unpackedBytes(wheel) + SLACK;
}

function unpackedBytes(wheel: PinnedWheel): number {
  return wheel.libraries.reduce((sum, { bytes }) => sum + bytes, 0);
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}

/** Errors of the file system as ones that say what to do. */
function explained(error: unknown, root: string): unknown {
  if (error instanceof LibTensorFlowError) return error;
  const { code, message } = error as NodeJS.ErrnoException;
  const advice =
    code === 'ENOSPC' || code === 'EDQUOT'
      ? 'The disk is full: make room, or set XDG_CACHE_HOME to a directory on another disk.'
      : 'Set XDG_CACHE_HOME to a directory that can be written, or LIBTENSORFLOW_PATH to one that holds the library.';
  return new LibTensorFlowError(
    'LIBRARY_FETCH_FAILED',
    `TensorFlow's library could not be put into ${root}: ${message}. ${advice}`,
    { cause: error },
  );
}
