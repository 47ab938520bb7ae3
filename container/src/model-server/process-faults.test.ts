/** What clients see when TensorFlow Serving ends while it loads a model, or answers nothing any more. */
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  encodeNpy,
  encodePredictRequest,
  encodeTfRecord,
  numericTensor,
  tensorFromValues,
} from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { createModelDir } from '../testing/model-dir.ts';
import {
  isAlive,
  type RuntimeProcess,
  startRuntimeProcess,
  until,
} from '../testing/runtime-process.ts';

const half = fixtureModel('half_plus_two').basePath;
const busy = fixtureModel('busy').basePath;

let runtime: RuntimeProcess;
let remove: () => Promise<void>;
afterEach(async () => {
  await runtime.end('SIGKILL');
  await remove();
});

/** Starts `runtime` with models of its own. @returns their directory */
async function start(
  copies: Record<string, string>,
  variables: Record<string, string>,
): Promise<string> {
  const created = await createModelDir({ copies });
  remove = created.remove;
  runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: created.directory,
    SAGEMAKER_TFS_MULTI_MODEL_DIR: created.directory,
    ...variables,
  });
  await runtime.ready();
  return created.directory;
}

/** Process ids of the model server, in the order of their starts. */
function serverPids(): number[] {
  const starts = runtime.log().filter(({ source, msg }) => {
    return source === 'tensorflow_model_server' && msg === 'started';
  });
  return starts.map(({ pid }) => pid as number);
}

async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(`${runtime.url}${path}`, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: response.status, text: await response.text() };
}

/** A warm-up file with one request, by default one that takes minutes: the model is loading all the time. */
function longWarmUp(count = 100_000_000): Uint8Array {
  const iterations = tensorFromValues('int64', [], [count]);
  const request = Buffer.concat(
    encodePredictRequest({ model: { name: 'slow' }, signature: '', inputs: { iterations } }),
  );
  // PredictionLog.predict_log.request (prediction_log.proto).
  const predictLog = new BinaryWriter().tag(1, WireType.LengthDelimited).bytes(request).finish();
  const log = new BinaryWriter().tag(6, WireType.LengthDelimited).bytes(predictLog).finish();
  return Buffer.concat(encodeTfRecord(log));
}

/** A multi-model runtime, and a model that loads for minutes. */
async function startBesideSlow(variables: Record<string, string> = {}) {
  const directory = await start(
    { 'half/model': half, 'slow/model': busy },
    { SAGEMAKER_MULTI_MODEL: 'true', LOCAL_MODEL_SERVER_POLL_MS: '50', ...variables },
  );
  const extra = join(directory, 'slow', 'model', '1', 'assets.extra');
  await mkdir(extra);
  const warmUp = join(extra, 'tf_serving_warmup_requests');
  await writeFile(warmUp, longWarmUp());
  const load = (name: string) =>
    call('POST', '/models', { model_name: name, url: join(directory, name, 'model') });
  return { load, warmUp };
}

test.each([
  // By another program: the kernel has counted no lack of memory. And as a fault of the program.
  ['SIGKILL', 503, /was killed by SIGKILL while it loaded.*MODEL_SERVER_GONE/],
  [
    'SIGSEGV',
    400,
    /the model server was killed by SIGSEGV while it loaded model \\"slow\\", without a reason.*BAD_ARCHIVE/,
  ],
] as const)(
  'a process that ends by %s over a load: %i, and the models before it are served on',
  async (signal, expected, message) => {
    const { load } = await startBesideSlow();
    expect((await load('half')).status).toBe(200);
    const loading = load('slow');
    await until(() => /Loading servable version \{name: slow/.test(runtime.output()));
    process.kill(serverPids()[0] as number, signal);
    const { status, text } = await loading;
    expect([status, text]).toEqual([expected, expect.stringMatching(message)]);
    expect(await call('POST', '/models/half/invoke', { instances: [1] })).toMatchObject({
      status: 200,
    });
    expect((await call('POST', '/models/slow/invoke', { inputs: 1 })).status).toBe(404);
    expect((await call('GET', '/ping')).status).toBe(200);
    expect(serverPids()).toHaveLength(2);
  },
);

test('a load beside requests is made once more where the process ends: a request may have ended it', async () => {
  const { load, warmUp } = await startBesideSlow();
  expect((await load('half')).status).toBe(200);
  const loading = load('slow');
  await until(() => /Loading servable version \{name: slow/.test(runtime.output()));
  await call('POST', '/models/half/invoke', { instances: [1] });
  await rm(warmUp);
  process.kill(serverPids()[0] as number, 'SIGSEGV');
  expect(await loading).toMatchObject({ status: 200 });
  expect(serverPids()).toHaveLength(2);
});

test('a process that answers nothing while it loads is killed: 503, as that is no lack of memory', async () => {
  const { load } = await startBesideSlow({ SAGEMAKER_TFS_MODEL_SERVER_SILENCE_SECONDS: '3' });
  expect((await load('half')).status).toBe(200);
  const loading = load('slow');
  await until(() => /Loading servable version \{name: slow/.test(runtime.output()));
  process.kill(serverPids()[0] as number, 'SIGSTOP');
  const { status, text } = await loading;
  expect([status, text]).toEqual([503, expect.stringMatching(/answered nothing and was killed/)]);
});

test('a restarted process serves all models but those that no longer load, each with its own error', async () => {
  const directory = await start(
    { 'half/model': half, 'gone/model': half, 'slow/model': busy },
    {
      SAGEMAKER_MULTI_MODEL: 'true',
      LOCAL_MODEL_SERVER_POLL_MS: '50',
      SAGEMAKER_TFS_WAIT_TIME_SECONDS: '12',
    },
  );
  const load = (name: string) =>
    call('POST', '/models', { model_name: name, url: join(directory, name, 'model') });
  const ask = (name: string) => call('POST', `/models/${name}/invoke`, { instances: [1] });
  for (const name of ['half', 'gone', 'slow']) expect((await load(name)).status).toBe(200);
  await rm(join(directory, 'gone'), { recursive: true });
  const extra = join(directory, 'slow', 'model', '1', 'assets.extra');
  await mkdir(extra);
  await writeFile(join(extra, 'tf_serving_warmup_requests'), longWarmUp());
  process.kill(serverPids()[0] as number, 'SIGKILL');
  await until(() => /was killed by SIGKILL/.test(runtime.output()));
  expect(await ask('half')).toMatchObject({ status: 200 });
  expect((await ask('slow')).text).toMatch(/model slow is being loaded again/);
  await until(async () => /cannot be loaded again/.test((await ask('slow')).text));
  const { status, text } = await ask('gone');
  expect([status, text]).toEqual([
    503,
    expect.stringMatching(/model gone cannot be loaded again: .*gone/),
  ]);
  // Also without the one that never ended.
  expect(await ask('half')).toMatchObject({ status: 200 });
  expect((await call('GET', '/ping')).status).toBe(200);
  expect((await call('DELETE', '/models/gone')).status).toBe(200);
  expect((await ask('gone')).status).toBe(404);
  await rm(extra, { recursive: true });
  expect((await load('slow')).status).toBe(200);
});

test('a model that loads again for long after a restart is served on, whatever is loaded beside it', async () => {
  const directory = await start(
    { 'half/model': half, 'slow/model': busy, 'other/model': half },
    { SAGEMAKER_MULTI_MODEL: 'true', LOCAL_MODEL_SERVER_POLL_MS: '50' },
  );
  const load = (name: string) =>
    call('POST', '/models', { model_name: name, url: join(directory, name, 'model') });
  const askSlow = (inputs: number) => call('POST', '/models/slow/invoke', { inputs });
  for (const name of ['half', 'slow']) expect((await load(name)).status).toBe(200);
  let fastest = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < 3; turn += 1) {
    const began = performance.now();
    await askSlow(200_000);
    fastest = Math.min(fastest, performance.now() - began);
  }
  // Twice as long as other models wait for it (restore.ts), on any machine.
  const count = Math.ceil((200_000 * 10_000) / fastest);
  const extra = join(directory, 'slow', 'model', '1', 'assets.extra');
  await mkdir(extra);
  await writeFile(join(extra, 'tf_serving_warmup_requests'), longWarmUp(count));
  process.kill(serverPids()[0] as number, 'SIGKILL');
  await until(async () => /slow is being loaded again/.test((await askSlow(1)).text));
  expect(await load('other')).toMatchObject({ status: 200 });
  expect(await askSlow(1)).toMatchObject({ status: 200 });
});

test('a model whose versions are taken away is unhealthy, and refused at once; with them it is served again', async () => {
  const directory = await start({ half }, { LOCAL_MODEL_SERVER_POLL_MS: '50' });
  const ask = () => call('POST', '/invocations', { instances: [1] });
  const ping = () => call('GET', '/ping');
  expect([(await ask()).status, (await ping()).status]).toEqual([200, 200]);
  const versions = await readdir(join(directory, 'half'));
  const move = (from: string, to: string) =>
    Promise.all(versions.map((v) => rename(join(directory, from, v), join(directory, to, v))));
  await mkdir(join(directory, 'away'));
  await move('half', 'away');
  await until(async () => (await ping()).status === 503);
  expect((await ping()).text).toContain('model \\"half\\" has no version that is available');
  const refused = { status: 404, text: expect.stringContaining('Servable not found') };
  expect(await ask()).toMatchObject(refused);
  await until(() => runtime.output().includes('Put its version directories back'));
  await move('away', 'half');
  await until(async () => (await ping()).status === 200);
  expect((await ask()).status).toBe(200);
});

test('a process that answers nothing is killed and started again; its requests are answered', async () => {
  await start({ half }, { SAGEMAKER_TFS_MODEL_SERVER_SILENCE_SECONDS: '3' });
  const [first] = serverPids();
  process.kill(first as number, 'SIGSTOP');
  const waiting = [1, 2, 3].map((x) => call('POST', '/invocations', { instances: [x] }));
  expect((await Promise.all(waiting)).map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(isAlive(first as number)).toBe(false);
  expect(runtime.output()).toContain('has answered nothing for 5 s and is killed');
  expect(serverPids()).toHaveLength(2);
});

test('a request that is alone where the process ends by a fault, twice, is refused for good', async () => {
  await start({ busy }, { SAGEMAKER_TFS_PROCESSES: '1' });
  const asked = call('POST', '/invocations', { inputs: 100_000_000 });
  let isOver = false;
  void asked.then(() => {
    isOver = true;
  });
  const isReady = async () => (await fetch(`${runtime.url}/ping`)).status === 200;
  // Once a process is ready, it soon has the request.
  for (let starts = 1; !isOver; starts += 1) {
    await until(() => isOver || (serverPids().length === starts && isReady()));
    if (!isOver) process.kill(serverPids().at(-1) as number, 'SIGSEGV');
  }
  const { status, text } = await asked;
  expect([status, text]).toEqual([400, expect.stringMatching(/killed by SIGSEGV.*FATAL_REQUEST/)]);
});

test('TensorFlow Serving, which would end over a batch of no rows, gets none', async () => {
  await start(
    { half },
    {
      SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
      SAGEMAKER_TFS_MAX_BATCH_SIZE: '4',
      SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: '2,4',
    },
  );
  const empty = encodeNpy(numericTensor('float32', [0, 1], new Uint8Array()));
  const npy = await fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-npy' },
    body: Buffer.concat([empty].flat()),
  });
  expect([npy.status, await npy.text()]).toEqual([400, expect.stringContaining('no rows')]);
  for (const body of [{ instances: [] }, { inputs: [] }, { inputs: { x: [] } }]) {
    expect((await call('POST', '/invocations', body)).status).toBe(400);
  }
  const answer = await call('POST', '/invocations', { instances: [1, 2, 3] });
  expect(JSON.parse(answer.text)).toEqual({ predictions: [3.5, 4, 4.5] });
  expect(serverPids()).toHaveLength(1);
});
