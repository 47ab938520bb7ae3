/** Tells the kernel's SIGKILL for lack of memory from that of another program, which look alike. */
import { readFileSync } from 'node:fs';

/**
 * Programs that the kernel has ended for lack of memory since it started: the machine's and those over the limit of a
 * control group, of this container too. Undefined if it does not say, as on other systems than Linux.
 */
export function oomKills(path = '/proc/vmstat'): number | undefined {
  try {
    const count = /^oom_kill (\d+)$/m.exec(readFileSync(path, 'latin1'))?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}
