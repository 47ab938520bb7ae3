/** CPU time and memory of a process and its descendants, as Linux accounts them in /proc. */
import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in /proc/PID/stat on every Linux that Node runs on. */
const TICKS = 100;

/** Processes in a tree, the root first. */
export function processTree(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const parent = fieldsOf(Number(name))?.parent;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** Seconds of user and system time of these processes. */
export function cpuSeconds(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + (fieldsOf(pid)?.ticks ?? 0), 0) / TICKS;
}

/** Ticks of all processors, those that the host of a virtual machine took for others among them; proc_stat(5). */
interface ProcessorTicks {
  readonly wanted: number;
  readonly stolen: number;
}

/** Since the machine started. */
export function processorTicks(): ProcessorTicks {
  const [, ...ticks] = (readFileSync('/proc/stat', 'utf8').split('\n')[0] as string).split(/\s+/);
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, stolen = 0] = ticks.map(Number);
  return { wanted: user + nice + system + irq + softirq + stolen, stolen };
}

/** Of the processor time that was wanted since then, the part that the host took. */
export function stolenSince(before: ProcessorTicks): number {
  const after = processorTicks();
  return (after.stolen - before.stolen) / Math.max(1, after.wanted - before.wanted);
}

/** Resident bytes now. */
export function residentBytes(pid: number): number {
  return statusKilobytes(pid, 'VmRSS') * 1024;
}

/** Most resident bytes so far. */
export function peakBytes(pid: number): number {
  return statusKilobytes(pid, 'VmHWM') * 1024;
}

function statusKilobytes(pid: number, field: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? 0);
}

/** Command line of a process, its parts joined by spaces; empty where it has ended. */
export function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
  } catch {
    return '';
  }
}

function fieldsOf(pid: number): { parent: number; ticks: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name in parentheses may hold spaces: count the fields behind it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return undefined;
  }
}
