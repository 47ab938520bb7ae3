/** Deaths of the model server: which are restarted, how soon, and which end the start. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { until } from '../testing/runtime-process.ts';
import { useSupervisedScript } from '../testing/supervised-script.ts';
import type { Supervisor, SupervisorOptions } from './supervisor.ts';

const scripted = useSupervisedScript();
let supervisor: Supervisor;

/** Starts a shell script as `tensorflow_model_server`, which notes every start. */
async function supervise(
  script: string,
  options: Partial<SupervisorOptions> = {},
): Promise<{ failure: Promise<string>; starts: () => Promise<number>; delays: number[] }> {
  const starts = join(scripted.directory, 'starts');
  const delays: number[] = [];
  const stream = {
    write: (line: string) => {
      const { restartInMs } = JSON.parse(line) as { restartInMs?: number };
      if (restartInMs !== undefined) delays.push(restartInMs);
    },
  };
  let fail: (message: string) => void = () => undefined;
  const failure = new Promise<string>((resolve) => {
    fail = resolve;
  });
  supervisor = await scripted.start([`echo start >>${starts}`, script], {
    log: pino({}, stream),
    hasServed: () => false,
    onEnd: () => undefined,
    onStartFailure: (error) => fail(error.message),
    ...options,
  });
  const count = async () =>
    (await readFile(starts, 'utf8').catch(() => '')).split('\n').filter(Boolean).length;
  return { failure, starts: count, delays };
}

test('an end with a status before it served is final, its errors apart from the usage text', async () => {
  const flags = Array.from(
    { length: 50 },
    (_, index) => `printf -- '\\t--flag_${index}=0\\thelp\\n'`,
  );
  const { failure, starts } = await supervise(
    [
      'echo "usage: tensorflow_model_server"',
      'echo "I loading"',
      'echo "Failed to start server. Error: INVALID_ARGUMENT: no such file"',
      ...flags,
      'exit 255',
    ].join('\n'),
  );
  const message = await failure;
  // The cause first, and once.
  expect(message.split('\n').slice(0, 2)).toEqual([
    'tensorflow_model_server ended with status 255: Failed to start server. Error: INVALID_ARGUMENT: no such file',
    'I loading',
  ]);
  expect(message.split('Failed to start')).toHaveLength(2);
  expect(message).not.toContain('--flag_');
  expect(await starts()).toBe(1);
});

test('a processor that lacks instructions ends the start after three deaths', async () => {
  const { failure, starts, delays } = await supervise('kill -ILL $$');
  expect(await failure).toMatch(/was killed by SIGILL, 3 times before it served: .*instructions/);
  expect(await starts()).toBe(3);
  expect(delays).toEqual([250, 500]);
});

test('the delay grows for deaths before it served, and starts over once it served', async () => {
  const { delays } = await supervise('kill -KILL $$', { hasServed: () => true });
  await until(() => delays.length === 2);
  supervisor.serves(0);
  await until(() => delays.length === 4);
  expect(delays).toEqual([250, 500, 250, 500]);
});
