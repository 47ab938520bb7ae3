/** Several processes, and TensorFlow in them: crashes, restarts, the end, metrics, batching, memory. */
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeNpy, numericTensor } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { heldHandler } from '../testing/held-handler.ts';
import { createModelDir, type ModelDirContents } from '../testing/model-dir.ts';
import { freePorts } from '../testing/ports.ts';
import {
  isAlive,
  type RuntimeProcess,
  startRuntimeProcess,
  until,
} from '../testing/runtime-process.ts';

const IN_PROCESS = { SAGEMAKER_TFS_BACKEND: 'in-process' };
const TWO = { SAGEMAKER_TFS_PROCESSES: '2' };
const halfPlusTwo = { copies: { half_plus_two: fixtureModel('half_plus_two').basePath } };
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  contents: ModelDirContents,
  variables: Record<string, string>,
): Promise<RuntimeProcess> {
  const { directory, remove } = await createModelDir(contents);
  const runtime = await startRuntimeProcess({ SAGEMAKER_TFS_MODEL_DIR: directory, ...variables });
  cleanups.push(remove, () => runtime.end('SIGKILL'));
  return runtime;
}

/** One request over a connection of its own, so that any worker may get it. */
function invoke(runtime: RuntimeProcess, body = '{"instances": [1.0]}'): Promise<Response> {
  return fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', Connection: 'close' },
  });
}

/** Process ids of the workers that were ever started, oldest first. */
function workerPids(runtime: RuntimeProcess): number[] {
  return runtime
    .log()
    .filter(({ msg }) => msg === 'worker started')
    .map(({ pid }) => pid as number);
}

function answeredBy(runtime: RuntimeProcess): Set<unknown> {
  const answered = runtime.log().filter(({ msg }) => msg === 'invocation');
  return new Set(answered.map(({ worker }) => worker));
}

/** Sends requests until every one of `count` workers has answered one. */
async function untilAllAnswer(runtime: RuntimeProcess, workers: readonly number[]): Promise<void> {
  await until(async () => {
    await invoke(runtime).catch(() => undefined);
    return workers.every((worker) => answeredBy(runtime).has(worker));
  });
}

/** There is one for all processes, and its end is counted once. */
async function endsModelServer(runtime: RuntimeProcess): Promise<void> {
  const started = runtime.log().filter(({ msg }) => msg === 'started');
  expect(started).toHaveLength(1);
  process.kill(started[0]?.pid as number, 'SIGKILL');
  await until(async () => {
    const page = await (await fetch(`${runtime.url}/metrics`)).text();
    return /^sagemaker_tfs_model_server_restarts_total [1-9]/m.test(page);
  });
  expect((await invoke(runtime)).status).toBe(200);
  const page = await (await fetch(`${runtime.url}/metrics`)).text();
  expect(page).toContain('sagemaker_tfs_model_server_restarts_total 1\n');
}

describe.each([
  ['in-process', { ...IN_PROCESS, ...TWO }],
  ['before TensorFlow Serving', TWO],
] as const)('two processes, %s', (name, variables) => {
  test('share the requests; one that is killed is replaced, and the other answers meanwhile', async () => {
    const port = await freePorts(1);
    const runtime = await start(halfPlusTwo, {
      ...variables,
      SAGEMAKER_TFS_METRICS_PORT: String(port),
    });
    await runtime.ready();
    await untilAllAnswer(runtime, [1, 2]);

    const killed = workerPids(runtime)[0] as number;
    process.kill(killed, 'SIGKILL');
    await until(() => !isAlive(killed));
    for (let i = 0; i < 10; i++) {
      const response = await invoke(runtime);
      expect(response.status).toBe(200);
      expect(await response.json()).toEqual({ predictions: [3.5] });
    }
    await untilAllAnswer(runtime, [3]);

    const metrics = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(metrics).toContain('sagemaker_tfs_ready 1');
    expect(metrics).toContain('sagemaker_tfs_processes_ready 2');
    expect(metrics).toContain('sagemaker_tfs_process_restarts_total 1');
    const openMetrics = await fetch(`http://127.0.0.1:${port}/metrics`, {
      headers: { Accept: 'application/openmetrics-text' },
    });
    // Of the workers, through the primary.
    expect(await openMetrics.text()).toMatch(
      /_part_seconds_bucket\{.*\} \d+ # \{request_id="[^"]+"\}/,
    );
    const onMainPort = await (await fetch(`${runtime.url}/metrics`)).text();
    expect(onMainPort).toContain('sagemaker_tfs_processes_ready 2');
    expect(onMainPort).toContain('sagemaker_tfs_process_restarts_total 1');
    if (name !== 'in-process') await endsModelServer(runtime);
    expect(await runtime.end('SIGTERM')).toBe(0);
    expect(workerPids(runtime).filter(isAlive)).toEqual([]);
  });
});

describe('the end', () => {
  test('SIGTERM lets what is in flight finish, in every process', async () => {
    const release = join(tmpdir(), `release-${randomUUID()}`);
    const contents = { ...halfPlusTwo, files: { 'code/inference.mjs': heldHandler(release) } };
    const runtime = await start(contents, { ...IN_PROCESS, ...TWO });
    await runtime.ready();
    const responses = Promise.all(Array.from({ length: 6 }, () => invoke(runtime)));
    await until(() => begun(runtime) === 6);
    const exit = runtime.end('SIGTERM');
    await until(() => runtime.output().includes('finishing what is in flight'));
    await writeFile(release, '');
    for (const response of await responses) expect(await response.json()).toEqual({ done: true });
    expect(await exit).toBe(0);
  });

  test('no worker outlives a primary that is killed, not even one that hangs', async () => {
    // The log is written by the event loop, which stands still here.
    const hangs = `import { writeSync } from 'node:fs';
      export function handler() { writeSync(1, '{"msg":"begun"}\\n'); for (;;); }`;
    const contents = { ...halfPlusTwo, files: { 'code/inference.mjs': hangs } };
    const runtime = await start(contents, { ...IN_PROCESS, ...TWO });
    await runtime.ready();
    void invoke(runtime).catch(() => undefined);
    await until(() => begun(runtime) === 1);
    await runtime.end('SIGKILL');
    await until(() => !workerPids(runtime).some(isAlive));
  });

  test('a model that TensorFlow cannot load ends the start with 1 and its message, once', async () => {
    const model = fixtureModel('custom_op');
    const runtime = await start({ copies: { m: model.basePath } }, { ...IN_PROCESS, ...TWO });
    expect(await runtime.exit).toBe(1);
    const said = runtime.output().match(/^sagemaker-tfs: .*/gm);
    expect(said).toHaveLength(1);
    expect(said?.[0]).toContain('model "m" version 1');
    expect(said?.[0]).toContain(model.loadError);
  });
});

test('a single process that crashes is restarted, with its models', async () => {
  const runtime = await start(halfPlusTwo, IN_PROCESS);
  await runtime.ready();
  // What a fault in TensorFlow comes to.
  process.kill(workerPids(runtime)[0] as number, 'SIGSEGV');
  await until(() => workerPids(runtime).length === 2);
  await runtime.ready();
  expect(await (await invoke(runtime)).json()).toEqual({ predictions: [3.5] });
});

describe('batching in-process', () => {
  const BATCHING = {
    ...IN_PROCESS,
    SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
    SAGEMAKER_TFS_MAX_BATCH_SIZE: '8',
    SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: '4,8',
    SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '1000000',
  };

  test('requests that arrive together run together, padded, and each gets its own rows', async () => {
    const port = await freePorts(1);
    const variables = { ...BATCHING, SAGEMAKER_TFS_METRICS_PORT: String(port) };
    const runtime = await start(halfPlusTwo, variables);
    await runtime.ready();
    const model = 'model="half_plus_two"';
    const counters = async () => {
      const page = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return [
        `batches_total{${model}}`,
        `batched_requests_total{${model}}`,
        `batched_rows_total{${model},kind="request"}`,
        `batched_rows_total{${model},kind="padding"}`,
      ].map((name) =>
        Number(page.match(new RegExp(`^sagemaker_tfs_${name} (\\d+)$`, 'm'))?.[1] ?? 0),
      );
    };
    const together = () =>
      Promise.all(
        [[1], [2, 3], [4, 5, 6]].map(async (rows) =>
          (await invoke(runtime, JSON.stringify({ instances: rows }))).json(),
        ),
      );
    // The first batches also run alone.
    for (let trial = 0; trial < 6; trial++) await together();
    const before = await counters();
    expect(await together()).toEqual([
      { predictions: [3.5] },
      { predictions: [4, 4.5] },
      { predictions: [5, 5.5, 6] },
    ]);
    const after = await counters();
    expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([1, 3, 6, 2]);
  });

  test('what has more rows than a batch runs alone', async () => {
    const runtime = await start(halfPlusTwo, BATCHING);
    await runtime.ready();
    const instances = Array.from({ length: 20 }, (_, index) => index);
    const response = await invoke(runtime, JSON.stringify({ instances }));
    const { predictions } = (await response.json()) as { predictions: number[] };
    expect(predictions).toEqual(instances.map((x) => x / 2 + 3));
  });
});

describe('pictures', () => {
  const detection = { copies: { detection: fixtureModel('detection').basePath } };
  const picture = (height: number, width: number) => {
    const pixels = Uint8Array.from({ length: height * width * 3 }, (_, index) => index % 251);
    return Buffer.concat([...encodeNpy(numericTensor('uint8', [1, height, width, 3], pixels))]);
  };
  const invokeNpy = (runtime: RuntimeProcess, body: Buffer) =>
    fetch(`${runtime.url}/invocations`, {
      method: 'POST',
      body: new Uint8Array(body),
      headers: { 'Content-Type': 'application/x-npy', Accept: 'application/x-npz' },
    });

  test('a graph that takes one row only is run alone for each request, with batching on', async () => {
    const runtime = await start(detection, {
      ...IN_PROCESS,
      SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
      SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '300000',
    });
    await runtime.ready();
    const body = picture(72, 64);
    const [first, ...others] = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const response = await invokeNpy(runtime, body);
        expect(response.status).toBe(200);
        return Buffer.from(await response.arrayBuffer());
      }),
    );
    for (const other of others) expect(other.equals(first as Buffer)).toBe(true);
  });

  test('memory is given back with the response: flat over many requests', async () => {
    const runtime = await start(detection, { ...IN_PROCESS, SAGEMAKER_TFS_LOG_LEVEL: 'warn' });
    const body = picture(72, 64);
    await runtime.ready();
    const pid = childPid(runtime.pid);
    const many = async (count: number) => {
      let left = count;
      const one = async () => {
        while (left-- > 0) {
          const response = await invokeNpy(runtime, body);
          expect(response.status).toBe(200);
          await response.arrayBuffer();
        }
      };
      await Promise.all(Array.from({ length: 8 }, one));
    };
    await many(300);
    const before = residentMegabytes(pid);
    await many(1500);
    // Their results are 500 MB.
    expect(residentMegabytes(pid) - before).toBeLessThan(150);
  });

  test('memory is kept while a slow client reads, and clients that go do no harm', async () => {
    const runtime = await start(detection, IN_PROCESS);
    await runtime.ready();
    const body = picture(320, 320);
    const expected = Buffer.from(await (await invokeNpy(runtime, body)).arrayBuffer());
    const gone = Array.from({ length: 4 }, async () => {
      const response = await invokeNpy(runtime, body);
      await response.body?.cancel();
    });
    const slow = await invokeNpy(runtime, body);
    await Promise.all(gone);
    await delay(200);
    const others = Array.from({ length: 4 }, () => invokeNpy(runtime, picture(72, 64)));
    for (const other of others) await (await other).arrayBuffer();
    expect(Buffer.from(await slow.arrayBuffer()).equals(expected)).toBe(true);
    expect((await ping(runtime)).statusCode).toBe(200);
    expect(workerPids(runtime)).toHaveLength(1);
  });
});

/** Requests that a handler has begun with, as it logs. */
function begun(runtime: RuntimeProcess): number {
  return runtime.log().filter(({ msg }) => msg === 'begun').length;
}

function ping(runtime: RuntimeProcess): Promise<{ statusCode: number | undefined }> {
  return new Promise((resolve, reject) => {
    get(`${runtime.url}/ping`, (response) => {
      response.resume();
      resolve({ statusCode: response.statusCode });
    }).once('error', reject);
  });
}

function residentMegabytes(pid: number): number {
  const kilobytes = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+)/m)?.[1];
  return Number(kilobytes) / 1024;
}

/** The worker of a primary that has one. */
function childPid(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
  const worker = children.map(Number).find((child) => {
    return readFileSync(`/proc/${child}/cmdline`, 'utf8').includes('main.js');
  });
  if (worker === undefined) throw new Error('the primary has no worker');
  return worker;
}
