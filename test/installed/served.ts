/** A model served by the installed command, until it is stopped. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '../rehearse/free-port.ts';
import type { Project } from './project.ts';

/** Serves while `use` runs. @throws Error with what the command said where it does not start */
export async function serving(
  project: Project,
  args: readonly string[],
  use: (url: string) => Promise<void>,
  environment: Readonly<Record<string, string>> = {},
): Promise<void> {
  const port = await freePort();
  const child = project.start(['serve', ...args, '--port', String(port)], environment);
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
  }
  const closed = once(child, 'close');
  const url = `http://127.0.0.1:${port}`;
  try {
    while (!(await isHealthy(url))) {
      if (child.exitCode !== null) throw new Error(`serve ${args.join(' ')} ended:\n${said}`);
      await sleep(100);
    }
    await use(url);
  } finally {
    child.kill('SIGTERM');
    await closed;
  }
}

function isHealthy(url: string): Promise<boolean> {
  return fetch(`${url}/ping`).then(
    ({ ok }) => ok,
    () => false,
  );
}
