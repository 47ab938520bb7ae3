/** What the container's control group uses. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Bytes that a control group (v2, else v1) uses, page cache not counted; 0 if it does not say. */
export async function usedInGroup(root = '/sys/fs/cgroup'): Promise<number> {
  const v2 = { used: 'memory.current', stats: 'memory.stat' };
  const v1 = { used: 'memory/memory.usage_in_bytes', stats: 'memory/memory.stat' };
  for (const { used, stats } of [v2, v1]) {
    try {
      const bytes = Number(await readFile(join(root, used), 'utf8'));
      const text = await readFile(join(root, stats), 'utf8');
      // Of v1, the total is that with the groups below, as the use is.
      const cache = /^total_inactive_file (\d+)/m.exec(text) ?? /^inactive_file (\d+)/m.exec(text);
      return bytes - Number(cache?.[1] ?? 0);
    } catch {
      // The machine has the other version, or no control groups.
    }
  }
  return 0;
}
