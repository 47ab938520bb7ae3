import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { interruptible } from './interruption.ts';

/** A program that waits inside `interruptible` and cleans up once it is asked to stop. */
const PROGRAM = `
import { interruptible } from ${JSON.stringify(join(__dirname, 'interruption.ts'))};
const waiting = setInterval(() => {}, 1000);
interruptible(undefined, async (signal) => {
  console.log('ready');
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
  clearInterval(waiting);
  console.log('cleaned up: ' + signal.reason.message);
}).finally(() => setTimeout(() => console.log('went on'), 1000));
`;

it.each(['SIGINT', 'SIGTERM'] as const)(
  'on %s the work cleans up, and the process ends by it',
  async (name) => {
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '--eval', PROGRAM],
      { stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
      if (printed === 'ready\n') child.kill(name);
    });
    const [status, signal] = await once(child, 'close');
    expect([status, signal]).toEqual([null, name]);
    expect(printed).toBe(`ready\ncleaned up: interrupted by ${name}\n`);
  },
);

it('passes on the result, and the reason of the outer signal', async () => {
  const controller = new AbortController();
  expect(await interruptible(controller.signal, async () => 'done')).toBe('done');
  const reason = await interruptible(controller.signal, async (signal) => {
    controller.abort(new Error('no longer wanted'));
    return signal.reason;
  });
  expect(reason).toMatchObject({ message: 'no longer wanted' });
});
