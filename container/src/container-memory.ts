/** The memory of this container. */
import { readFileSync } from 'node:fs';
import { totalmem } from 'node:os';

/** Bytes: the limit of the control group (v1 or v2) if it has one, else the machine's memory. */
export function containerMemory(): number {
  const limit = process.constrainedMemory();
  const total = totalmem();
  return limit > 0 && limit < total ? limit : total;
}

/** Where the control group of this container tells what it uses, version 2 first. */
const USAGE = [
  {
    used: '/sys/fs/cgroup/memory.current',
    stat: '/sys/fs/cgroup/memory.stat',
    idle: /^inactive_file (\d+)$/m,
  },
  {
    used: '/sys/fs/cgroup/memory/memory.usage_in_bytes',
    stat: '/sys/fs/cgroup/memory/memory.stat',
    idle: /^total_inactive_file (\d+)$/m,
  },
];

/**
 * Bytes that the container uses, all processes together, without the files that the kernel would drop first: what is
 * compared with the limit before the kernel kills. Undefined outside a control group of its own.
 * https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files
 */
export function usedContainerMemory(): number | undefined {
  for (const { used, stat, idle } of USAGE) {
    try {
      const bytes = Number(readFileSync(used, 'utf8'));
      const files = Number(idle.exec(readFileSync(stat, 'utf8'))?.[1] ?? 0);
      return Math.max(0, bytes - files);
    } catch {
      // The other version, or none.
    }
  }
  return undefined;
}
