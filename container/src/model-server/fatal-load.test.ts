/** Whose fault it is that TensorFlow Serving ended over a load. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { ConnectionLost } from '../transport/connection-lost.ts';
import { blameModel } from './fatal-load.ts';
import { oomKills } from './oom-kills.ts';
import { type ProcessEnd, startProcess } from './process.ts';

const CHECK =
  '2026-01-01 00:00:00.000000: F tensorflow/core/framework/tensor_shape.cc:201] Check failed: 0 <= new_num_elements (0 vs. -1)';
const lost = new ConnectionLost('no answer');
const models = [{ name: 'x', basePath: '/x', versions: ['1'] }];

/** How a program ends that writes a line, and sends itself a signal or exits. */
function endOf(line: string, how: string): Promise<ProcessEnd> {
  const end = how.startsWith('SIG') ? `kill -s ${how.slice(3)} $$` : how;
  const args = ['-c', `echo "$0" >&2; ${end}`, line];
  return startProcess('sh', { args, env: process.env, log: pino({ level: 'silent' }) }).ended;
}

test.each([
  ['SIGABRT', CHECK, `killed by SIGABRT while it loaded model "x", over: ${CHECK}`],
  ['SIGSEGV', 'I last words', 'killed by SIGSEGV while it loaded model "x", without a reason'],
  ['SIGILL', '', 'killed by SIGILL while it loaded model "x", without a reason'],
  ['exit 0', CHECK, `ended with status 0 while it loaded model "x", over: ${CHECK}`],
  ['exit 1', CHECK, `ended with status 1 while it loaded model "x", over: ${CHECK}`],
])('%s is the fault of the archive', async (signal, line, message) => {
  expect(blameModel(lost, await endOf(line, signal), models)).toMatchObject({
    code: 'BAD_ARCHIVE',
    message: expect.stringContaining(message),
  });
});

test.each([
  ['SIGKILL', ''],
  ['exit 137', ''],
  ['exit 1', '2026-01-01 00:00:00.000000: E external/tsl.cc:1] Resource exhausted: out of memory'],
  ['SIGABRT', "terminate called after throwing an instance of 'std::bad_alloc'"],
])('%s with %j is a lack of memory', async (signal, line) => {
  expect(blameModel(lost, await endOf(line, signal), models)).toBe(lost);
});

test('the kernel counts whom it has killed for lack of memory, where it does', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'vmstat-'));
  const path = join(directory, 'vmstat');
  await writeFile(path, 'oom_kill_disable 7\npgfault 12\noom_kill 3\nunevictable_pgs_culled 0\n');
  expect(oomKills(path)).toBe(3);
  await writeFile(path, 'pgfault 12\n');
  expect(oomKills(path)).toBeUndefined();
  await rm(directory, { recursive: true });
  expect(oomKills(path)).toBeUndefined();
});

test.each([
  ['SIGKILL', null, 3, 4, true],
  ['SIGKILL', null, undefined, 4, true],
  ['SIGKILL', null, 3, undefined, true],
  ['SIGKILL', null, 3, 3, false],
  [null, 137, 3, 3, false],
] as const)(
  'killed by %s (status %s) with %s kills for lack of memory before and %s after: is that one: %s',
  (signal, status, before, kills, isShortage) => {
    const end = { signal, status, lastLines: [], oomKills: kills };
    const gone: unknown = expect.objectContaining({
      code: 'MODEL_SERVER_GONE',
      message: expect.stringMatching(/(killed by SIGKILL|status 137) while it loaded/),
    });
    expect(blameModel(lost, end, models, before)).toEqual(isShortage ? lost : gone);
  },
);

test.each([
  ['that another program ended', { signal: 'SIGTERM' as const }, /was killed by SIGTERM while/],
  [
    'that we killed',
    { signal: 'SIGKILL' as const, isOurs: true },
    /answered nothing and was killed/,
  ],
  ['whose end nobody saw', undefined, /was lost while/],
])('a process %s lacked no memory, and is no fault of the archive', (_what, end, message) => {
  const ended = end && { status: null, lastLines: [], ...end };
  expect(blameModel(lost, ended, models)).toMatchObject({
    code: 'MODEL_SERVER_GONE',
    message: expect.stringMatching(message),
  });
});

test("an unload and another failure are nobody's fault", async () => {
  const end = await endOf(CHECK, 'SIGABRT');
  const late = new Error('late');
  expect(blameModel(lost, end, [])).toBe(lost);
  expect(blameModel(late, end, models)).toBe(late);
});
