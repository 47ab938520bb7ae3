/** Whether a model fits into memory, before TensorFlow Serving is asked to try. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { containerMemory } from '../container-memory.ts';
import { versionDirectories } from '../models/version-directories.ts';
import { usedInGroup } from './used-in-group.ts';

/** What a loaded model needs beyond its files: the graph, and buffers of the first runs. */
const OVERHEAD = 1.2;

/** Bytes that loading these versions is likely to take. */
export async function estimateModelBytes(
  basePath: string,
  versions: readonly string[],
): Promise<number> {
  const directories = await versionDirectories({ basePath, versions });
  const sizes = await Promise.all(directories.map(({ path }) => directoryBytes(path)));
  return OVERHEAD * sizes.reduce((sum, size) => sum + size, 0);
}

/** Bytes that can still be taken, in the container's limit where it has one. */
export async function availableBytes(): Promise<number> {
  return Math.min(await availableInHost(), await availableInGroup());
}

async function directoryBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(files.map((entry) => sizeOf(join(entry.parentPath, entry.name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** 0 for a name that is not UTF-8, which nothing here can open. */
async function sizeOf(file: string): Promise<number> {
  return stat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

/** `MemAvailable`, which counts what the page cache would give up. */
async function availableInHost(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const kilobytes = /^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1];
  return kilobytes === undefined ? freemem() : Number(kilobytes) * 1024;
}

/** The container's memory minus what its control group uses. */
async function availableInGroup(): Promise<number> {
  return containerMemory() - (await usedInGroup());
}
