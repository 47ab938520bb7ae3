/** Kills what must not outlive this process. */
import { type ChildProcess, spawn } from 'node:child_process';

/**
 * Sends a signal when this process ends without having done so, even by SIGKILL: it waits on a pipe that only this
 * process holds open. In a process of its own, to be killed once its target has ended.
 * @param target a process id, or the negative of a process group's
 * @param grace seconds after which what still runs is killed. Default: it may take its time
 */
export function startWatchdog(
  target: string,
  signal: 'KILL' | 'TERM' = 'KILL',
  grace?: number,
): ChildProcess {
  const script = `read -r _; kill -s "$2" -- "$1"${grace === undefined ? '' : `; sleep ${grace}; kill -s KILL -- "$1"`}`;
  const watchdog = spawn('/bin/sh', ['-c', script, 'sh', target, signal], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  watchdog.unref();
  return watchdog;
}
