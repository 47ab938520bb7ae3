/** What a request makes TensorFlow Serving print ends nothing, blames nobody, and neither fills the log nor shows in it. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pino from 'pino';
import { until } from '../testing/runtime-process.ts';
import { useSupervisedScript } from '../testing/supervised-script.ts';
import { startingSocket } from './listening.ts';
import { endedByItself, lacksMemory, type ProcessEnd } from './process.ts';
import type { Supervisor } from './supervisor.ts';

const SERVES = 'I server.cc:427] Running gRPC ModelServer at UNIX socket';
const TIME = '2026-01-01 00:00:00.000000: ';
const CHECK = `${TIME}F tensor_shape.cc:201] Check failed: 0 <= n`;
const DONE = `${TIME}I loader_harness.cc:70] Unloading servable version {name: half version: 1}`;

const scripted = useSupervisedScript();
let supervisor: Supervisor;

interface Ran {
  readonly end: ProcessEnd | undefined;
  readonly log: readonly Record<string, unknown>[];
  /** What it has logged, as text. */
  readonly text: string;
}

/** Runs a program that listens, prints the output, and ends by a signal. */
async function run(output: string, signal: string, level = 'info'): Promise<Ran> {
  const { directory, endpoint } = scripted;
  await writeFile(startingSocket(endpoint), '');
  await writeFile(join(directory, 'output'), output);
  const script = [
    `cd ${directory}`,
    `echo "${TIME}I server.cc:1] at the start" >&2`,
    `echo "${TIME}${SERVES}" >&2`,
    'while [ -e grpc.sock.new ]; do sleep 0.01; done',
    `cat output >&2; kill -s ${signal} $$`,
  ];
  let text = '';
  let end: ProcessEnd | undefined;
  let hasEnded = false;
  const write = (line: string) => {
    text += line;
  };
  supervisor = await scripted.start(script, {
    log: pino({ level }, { write }),
    hasServed: () => true,
    onEnd: (_index, _reason, how) => {
      hasEnded = true;
      end ??= how;
    },
    onStartFailure: () => {
      hasEnded = true;
    },
  });
  await until(() => hasEnded);
  const log = text.trim().split('\n');
  return { end, text, log: log.map((line) => JSON.parse(line) as Record<string, unknown>) };
}

test('a line about its ports is believed only while it starts, and only in the form of its log', async () => {
  const forged = `Failed to start HTTP Server at\n${TIME}E server.cc:1] Failed to start HTTP Server at x\n`;
  const { end } = await run(forged, 'SEGV');
  expect(end).toMatchObject({ signal: 'SIGSEGV', isOurs: false, lastLines: [], fatal: undefined });
});

test.each([
  ['its own last word', 'ABRT', `terminate called after x\n${CHECK}\n    @ 0x1 f()\n`, CHECK, true],
  ['a forged one, where it crashes', 'SEGV', `${CHECK}\n`, undefined, true],
  ['forged words of memory', 'ABRT', `out of memory\nstd::bad_alloc\n${CHECK}\n`, CHECK, true],
  ['what a request put before other lines', 'ABRT', `${CHECK}\nfree(): bad\n`, undefined, true],
  [
    'its own lack of memory',
    'ABRT',
    "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
    "terminate called after throwing an instance of 'std::bad_alloc'",
    false,
  ],
])('%s (SIG%s)', async (_what, signal, output, fatal, isItsFault) => {
  const { end, log } = await run(output, signal);
  if (!end) throw new Error('nobody was told of the end');
  expect([end.fatal, endedByItself(end), lacksMemory(end)]).toEqual([
    fatal,
    isItsFault,
    !isItsFault,
  ]);
  expect(log.find(({ restartInMs }) => restartInMs !== undefined)?.over).toBe(fatal);
});

test('what it prints at work is counted, not logged; at debug it is logged', async () => {
  const output = `${TIME}I rendezvous.cc:407] SECRET one\nSECRET two\n${TIME}W re2.cc:2] x\n${TIME}I rendezvous.cc:407] SECRET\n${DONE}\n`;
  const { text, log } = await run(output, 'KILL');
  expect(text).not.toContain('SECRET');
  expect(text).toContain('at the start');
  expect(log.filter(({ at }) => at !== undefined)).toMatchObject([
    { level: 30, at: 'rendezvous.cc:407', lines: 2 },
    { level: 30, at: 'elsewhere', lines: 1 },
    { level: 40, at: 're2.cc:2', lines: 1 },
  ]);
  expect(log.map(({ msg }) => msg)).toContain(DONE);
  await supervisor.stop(0);
  expect((await run(output, 'KILL', 'debug')).text).toContain('SECRET two');
});

test.each([
  ['a million empty lines', `${'\n'.repeat(1_000_000)}${CHECK}\n`],
  ['a million lines', `${'x\n'.repeat(1_000_000)}${CHECK}\n`],
  ['one line of 20 MB', `${'x'.repeat(20_000_000)}\n${CHECK}\n`],
  [
    'many places',
    `${Array.from({ length: 1500 }, (_, i) => `${TIME}I x.cc:${i}] y`).join('\n')}\n${CHECK}\n`,
  ],
])('%s: a few kilobytes of log, and its last word', async (_what, output) => {
  const { text, end } = await run(output, 'ABRT');
  expect(text.length).toBeLessThan(10_000);
  expect(end?.fatal).toBe(CHECK);
});
