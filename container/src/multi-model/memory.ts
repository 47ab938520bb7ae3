/** Whether a model fits into memory, before TensorFlow Serving is asked to try. */
import { readFile, realpath } from 'node:fs/promises';
import { freemem } from 'node:os';
import { containerMemory } from '../container-memory.ts';
import type { ServedModel } from '../models/served-model.ts';
import { versionDirectories } from '../models/version-directories.ts';
import { usedInGroup } from './used-in-group.ts';

/** What a loaded model needs beyond its files: the graph, and buffers of the first runs. */
const OVERHEAD = 1.2;

/**
 * Bytes that loading these versions is likely to take.
 * @param files bytes of the model's files, by their paths
 */
export async function estimateModelBytes(
  { basePath, versions }: Pick<ServedModel, 'basePath' | 'versions'>,
  files: ReadonlyMap<string, number>,
): Promise<number> {
  const directories = await versionDirectories({ basePath, versions });
  const folders = await Promise.all(directories.map(({ path }) => realpath(path)));
  const isServed = (file: string) => folders.some((folder) => file.startsWith(`${folder}/`));
  const sizes = [...files].map(([file, size]) => (isServed(file) ? size : 0));
  return OVERHEAD * sizes.reduce((sum, size) => sum + size, 0);
}

/** Bytes that can still be taken, in the container's limit where it has one. */
export async function availableBytes(): Promise<number> {
  return Math.min(await availableInHost(), await availableInGroup());
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
