/**
 * The directory of a running model server, for its configuration and its sockets. Its name tells the
 * process that owns it, so that other processes of the container find it, and what a killed container left
 * behind is removed by the next start.
 */
import { readFileSync, rmSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '@sagemaker-tfs/libtensorflow/is-running';

/** Process id, when it started, first port: ids are used again, and one process may run several. */
const NAME = /^sagemaker-tfs-(\d+)-(\d+)-\d+$/;

/** Where the model server lies that a process runs on this gRPC port and those after it. */
export function privateDirectory(pid: number, port: number): string {
  return join(tmpdir(), `sagemaker-tfs-${pid}-${startTime(pid) ?? 0}-${port}`);
}

/** Makes this process's own, which nobody else may enter; returns a function that removes it. */
export async function createPrivateDirectory(path: string): Promise<() => Promise<void>> {
  await removeAbandoned();
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { mode: 0o700 });
  const atExit = () => rmSync(path, { recursive: true, force: true });
  process.once('exit', atExit);
  return async () => {
    process.off('exit', atExit);
    await rm(path, { recursive: true, force: true });
  };
}

/** Removes what belongs to processes that are gone; what cannot be removed is another user's. */
export async function removeAbandoned(): Promise<void> {
  for (const name of await readdir(tmpdir())) {
    const [, pid, started] = NAME.exec(name) ?? [];
    if (pid === undefined || isSameProcess(Number(pid), Number(started))) continue;
    await rm(join(tmpdir(), name), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The same process still, where the system tells when it started. */
function isSameProcess(pid: number, started: number): boolean {
  if (startTime(process.pid) !== undefined) return startTime(pid) === started;
  return isRunning(pid);
}

/** When a process started, in clock ticks since boot (proc_pid_stat(5), field 22); undefined if none tells. */
function startTime(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold spaces.
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]);
  } catch {
    return undefined;
  }
}
