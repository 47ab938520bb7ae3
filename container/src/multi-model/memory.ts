/** Whether a model fits into memory, before TensorFlow Serving is asked to try. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { freemem } from 'node:os';
import { join } from 'node:path';
import { versionDirectories } from '../models/version-directories.ts';

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
  const available = Math.min(await availableInHost(), await availableInGroup());
  return available;
}

async function directoryBytes(directory: string): Promise<number> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** `MemAvailable`, which counts what the page cache would give up. */
async function availableInHost(): Promise<number> {
  const text = await readFile('/proc/meminfo', 'utf8').catch(() => '');
  const kilobytes = /^MemAvailable:\s+(\d+) kB/m.exec(text)?.[1];
  return kilobytes === undefined ? freemem() : Number(kilobytes) * 1024;
}

/** Limit minus use of the control group (v2), page cache not counted; infinite without a limit. */
async function availableInGroup(): Promise<number> {
  try {
    const limit = (await readFile('/sys/fs/cgroup/memory.max', 'utf8')).trim();
    if (limit === 'max') return Number.POSITIVE_INFINITY;
    const used = Number(await readFile('/sys/fs/cgroup/memory.current', 'utf8'));
    const stats = await readFile('/sys/fs/cgroup/memory.stat', 'utf8');
    const cache = Number(/^inactive_file (\d+)/m.exec(stats)?.[1] ?? 0);
    return Number(limit) - used + cache;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}
