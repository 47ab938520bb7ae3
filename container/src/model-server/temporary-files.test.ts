/** What a runtime leaves behind in the temporary directory: nothing, however it ends. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { freePorts } from '../testing/ports.ts';
import { type RuntimeProcess, startRuntimeProcess } from '../testing/runtime-process.ts';

let temporary: string;
const cleanups: (() => unknown)[] = [];

beforeEach(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'left-behind-'));
  cleanups.push(() => rm(temporary, { recursive: true, force: true }));
});

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(model: string, variables: Record<string, string> = {}) {
  const { directory, remove } = await createModelDir({
    copies: { model: fixtureModel(model).basePath },
  });
  const runtime: RuntimeProcess = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: directory,
    TMPDIR: temporary,
    ...variables,
  });
  cleanups.push(remove, () => runtime.end('SIGKILL'));
  return runtime;
}

test.each([
  ['one process', {}],
  ['several processes', { SAGEMAKER_TFS_PROCESSES: '2' }],
])(
  'configuration and sockets are there while it runs, and gone after it: %s',
  async (_name, variables) => {
    const runtime = await start('half_plus_two', {
      ...variables,
      SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
      SAGEMAKER_TFS_INSTANCE_COUNT: '2',
    });
    await runtime.ready();
    const [directory, ...others] = await readdir(temporary);
    expect(others).toEqual([]);
    expect((await readdir(join(temporary, directory as string))).sort()).toEqual([
      'grpc-0.sock',
      'grpc-1.sock',
      'model-config.cfg',
    ]);
    expect(await runtime.end('SIGTERM')).toBe(0);
    expect(await readdir(temporary)).toEqual([]);
  },
);

const CONNECTED = '03';

/** Connections to the Unix sockets below a directory, as the kernel counts those that were accepted. */
async function socketConnections(directory: string): Promise<number> {
  const lines = (await readFile('/proc/net/unix', 'utf8')).split('\n');
  return lines.filter((line) => {
    const [, , , , , state, , path = ''] = line.trim().split(/\s+/);
    return state === CONNECTED && path.startsWith(directory) && path.includes('.sock');
  }).length;
}

/** TCP connections to a port of this machine. */
async function tcpConnections(port: number): Promise<number> {
  const hex = port.toString(16).toUpperCase().padStart(4, '0');
  const lines = (await readFile('/proc/net/tcp', 'utf8')).split('\n');
  const established = (line: string) => line.trim().split(/\s+/)[3] === '01';
  return lines.filter(
    (line) => established(line) && line.trim().split(/\s+/)[2]?.endsWith(`:${hex}`),
  ).length;
}

test('requests go over the Unix socket, and large ones over TCP', async () => {
  const low = await freePorts(2);
  const runtime = await start('half_plus_two', { SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 1}` });
  await runtime.ready();
  const ask = async (count: number) => {
    const body = JSON.stringify({ instances: new Array(count).fill(1) });
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${runtime.url}/invocations`, { method: 'POST', body, headers });
    expect(answer.status).toBe(200);
  };
  const before = await tcpConnections(low);
  await ask(10);
  expect(await socketConnections(temporary)).toBeGreaterThan(0);
  expect(await tcpConnections(low)).toBe(before);
  await ask(100_000);
  expect(await tcpConnections(low)).toBe(before + 1);
});

test('a start that fails leaves nothing', async () => {
  const runtime = await start('custom_op');
  expect(await runtime.exit).toBe(1);
  expect(await readdir(temporary)).toEqual([]);
});

test('what a killed runtime leaves is removed by the next', async () => {
  const killed = await start('half_plus_two');
  await killed.ready();
  await killed.end('SIGKILL');
  expect(await readdir(temporary)).toHaveLength(1);
  const next = await start('half_plus_two');
  await next.ready();
  expect(await readdir(temporary)).toHaveLength(1);
  await next.end('SIGTERM');
  expect(await readdir(temporary)).toEqual([]);
});
