import type { ChildProcess } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `serve` answers at `url`, or has ended. */
export async function untilServing(url: string, child: ChildProcess): Promise<void> {
  const healthy = () =>
    fetch(`${url}/ping`).then(
      ({ ok }) => ok,
      () => false,
    );
  while (child.exitCode === null && !(await healthy())) await sleep(100);
}
