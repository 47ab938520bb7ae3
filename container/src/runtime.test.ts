import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundledProgram } from '../../test/bundled-program.ts';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { START_ERRORS } from './errors.ts';
import { heldHandler } from './testing/held-handler.ts';
import { createModelDir, type ModelDirContents } from './testing/model-dir.ts';
import { MODEL_SERVER_BIN } from './testing/model-server-bin.ts';
import { freePorts } from './testing/ports.ts';
import {
  isAlive,
  type RuntimeProcess,
  startRuntimeProcess,
  until,
} from './testing/runtime-process.ts';

const halfPlusTwo = fixtureModel('half_plus_two').basePath;
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(
  contents: ModelDirContents,
  variables: Record<string, string | undefined> = {},
): Promise<RuntimeProcess> {
  const { directory, remove } = await createModelDir(contents);
  const runtime = await startRuntimeProcess({ SAGEMAKER_TFS_MODEL_DIR: directory, ...variables });
  cleanups.push(remove, () => runtime.end('SIGKILL'));
  return runtime;
}

function invoke(
  runtime: RuntimeProcess,
  body: string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/json', ...headers },
  });
}

/** A PATH on which the model server starts two seconds late, so that a request can be earlier. */
async function lateModelServer(): Promise<{ PATH: string }> {
  const directory = await mkdtemp(join(tmpdir(), 'late-model-server-'));
  cleanups.push(() => rm(directory, { recursive: true }));
  const program = join(MODEL_SERVER_BIN, 'tensorflow_model_server');
  const script = `#!/bin/sh\nsleep 2\nexec '${program}' "$@"\n`;
  await writeFile(join(directory, 'tensorflow_model_server'), script, { mode: 0o755 });
  return { PATH: `${directory}:${process.env.PATH}` };
}

const attributes = (text: string) => ({ 'X-Amzn-SageMaker-Custom-Attributes': text });

describe('the life of a container', () => {
  test('/ping tells why it is not ready, early requests wait, SIGTERM ends with 0', async () => {
    const late = await lateModelServer();
    const runtime = await start({ copies: { half_plus_two: halfPlusTwo } }, late);
    let early: { status: number; text: string } | undefined;
    await until(async () => {
      const answer = await fetch(`${runtime.url}/ping`).catch(() => undefined);
      early = answer && { status: answer.status, text: await answer.text() };
      // On a busy machine the process above answers first, that one below it is starting.
      return early?.text.includes('model server') === true;
    });
    expect(early?.status).toBe(503);
    expect(early?.text).toContain('"code":"MODEL_NOT_READY"');
    const response = await invoke(runtime, '{"instances": [1.0, 2.0]}');
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ predictions: [3.5, 4.0] });
    const healthy = await fetch(`${runtime.url}/ping`);
    expect([healthy.status, await healthy.text()]).toEqual([200, '']);
    expect(await runtime.end('SIGTERM')).toBe(0);
  });

  test('requests that wait too long for a model get 503', async () => {
    const runtime = await start(
      { copies: { half_plus_two: halfPlusTwo } },
      { SAGEMAKER_TFS_WAIT_TIME_SECONDS: '0', ...(await lateModelServer()) },
    );
    let response: Response | undefined;
    await until(async () => {
      response = await invoke(runtime, '{"instances": [1.0]}').catch(() => undefined);
      return response !== undefined;
    });
    expect(response?.status).toBe(503);
    expect(await response?.json()).toMatchObject({ code: 'MODEL_NOT_READY' });
  });

  test('a model server that is killed is started again, and no request fails', async () => {
    const runtime = await start({ copies: { half_plus_two: halfPlusTwo } });
    await runtime.ready();
    process.kill(modelServerPids(runtime)[0] as number, 'SIGKILL');
    const responses = await Promise.all(
      Array.from({ length: 8 }, () => invoke(runtime, '{"instances": [1.0]}')),
    );
    expect(responses.map(({ status }) => status)).toEqual(Array(8).fill(200));
    await runtime.ready();
  });

  test('no model server outlives a runtime that is killed', async () => {
    const runtime = await start({ copies: { half_plus_two: halfPlusTwo } });
    await runtime.ready();
    const pids = modelServerPids(runtime);
    expect(pids.every(isAlive)).toBe(true);
    await runtime.end('SIGKILL');
    await until(() => !pids.some(isAlive));
  });

  test('SIGTERM lets a request in flight finish', async () => {
    const release = join(tmpdir(), `release-${randomUUID()}`);
    const runtime = await start({
      copies: { half_plus_two: halfPlusTwo },
      files: { 'code/inference.mjs': heldHandler(release) },
    });
    await runtime.ready();
    const response = invoke(runtime, '{}');
    await until(() => runtime.log().some(({ msg }) => msg === 'begun'));
    const exit = runtime.end('SIGTERM');
    await until(() => runtime.output().includes('finishing what is in flight'));
    await writeFile(release, '');
    expect(await (await response).json()).toEqual({ done: true });
    expect(await exit).toBe(0);
  });
});

test('a runtime whose standard output is closed still ends', async () => {
  const { directory, remove } = await createModelDir({});
  cleanups.push(remove);
  const child = spawn(process.execPath, [bundledProgram('container')], {
    env: { ...process.env, SAGEMAKER_TFS_MODEL_DIR: directory },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  cleanups.push(() => child.kill('SIGKILL'));
  child.stdout.destroy();
  expect(await once(child, 'exit')).toEqual([1, null]);
});

describe('a start that cannot work ends with 1 and says why', () => {
  const withHandler = (code: string): ModelDirContents => ({
    copies: { m: halfPlusTwo },
    files: { 'code/inference.mjs': code },
  });
  test.each<[string, ModelDirContents, Record<string, string>, RegExp]>([
    ['no model', {}, {}, /no SavedModel below/],
    [
      'a model that TensorFlow cannot load',
      { copies: { custom_op: fixtureModel('custom_op').basePath } },
      {},
      new RegExp((fixtureModel('custom_op').loadError as string).slice(0, 40)),
    ],
    [
      'a Python handler',
      { copies: { m: halfPlusTwo }, files: { 'code/inference.py': '' } },
      {},
      /is a Python handler/,
    ],
    [
      'a handler that throws while it loads',
      withHandler('throw new Error("boom")'),
      {},
      /could not be loaded: boom \(at inference\.mjs:1:7\)/,
    ],
    [
      'a handler that never finishes loading',
      withHandler('await new Promise(() => setInterval(() => {}, 1000))'),
      { SAGEMAKER_TFS_WAIT_TIME_SECONDS: '1' },
      /could not be loaded: it was not loaded after 1 s \(SAGEMAKER_TFS_WAIT_TIME_SECONDS\)/,
    ],
    [
      'a handler whose top level has no end',
      withHandler('for (;;);'),
      { SAGEMAKER_TFS_WAIT_TIME_SECONDS: '1' },
      /did not come to listen within 1 s \(SAGEMAKER_TFS_WAIT_TIME_SECONDS\).*top level of the handler/,
    ],
    [
      'a handler that throws nothing while it loads',
      withHandler('throw null'),
      {},
      /could not be loaded: null/,
    ],
    [
      'a handler whose error cannot be read',
      withHandler('throw { get message() { throw Symbol(); } }'),
      {},
      /could not be loaded: it threw something that cannot be read/,
    ],
    [
      'a handler whose exports throw',
      withHandler('export default { get handler() { throw null; } }'),
      {},
      /could not be loaded: null/,
    ],
    [
      'a handler without the right exports',
      withHandler('export const predict = 1'),
      {},
      /exports predict. It must export handler/,
    ],
    [
      'a handler with a misspelled export',
      withHandler('export default { inputHandlr() {} }'),
      {},
      /exports 'inputHandlr'\. Did you mean 'inputHandler'\? It must export handler/,
    ],
    ['a value that makes no sense', {}, { SAGEMAKER_TFS_INSTANCE_COUNT: 'many' }, /whole number/],
    [
      'a default model that is not there',
      { copies: { m: halfPlusTwo } },
      { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'other' },
      /The models in .* are m/,
    ],
    ['no model server', { copies: { m: halfPlusTwo } }, { PATH: '/nowhere' }, /is not on PATH/],
  ])('%s', async (_name, contents, variables, message) => {
    const runtime = await start(contents, variables);
    expect(await runtime.exit).toBe(1);
    expect(runtime.output()).toMatch(message);
    // The code, in the log.
    const line = runtime.output().match(/^\{.*the start failed.*$/m)?.[0] ?? '{}';
    expect(Object.keys(START_ERRORS)).toContain(JSON.parse(line).err?.code);
  });
});

describe('a port that is taken ends the start with 1 and says which variable sets another', () => {
  const files = { 'code/inference.mjs': 'export const handler = () => 1' };
  test.each<[string, ModelDirContents]>([
    ['SAGEMAKER_BIND_TO_PORT', {}],
    ['SAGEMAKER_BIND_TO_PORT', { files }],
    ['SAGEMAKER_TFS_METRICS_PORT', {}],
    ['SAGEMAKER_TFS_METRICS_PORT', { files }],
  ])('%s %#', async (name, contents) => {
    const taken = createServer().listen(0, '0.0.0.0');
    await once(taken, 'listening');
    cleanups.push(() => taken.close());
    const { port } = taken.address() as AddressInfo;
    const runtime = await start(
      { copies: { m: halfPlusTwo }, ...contents },
      { [name]: String(port) },
    );
    expect(await runtime.exit).toBe(1);
    expect(runtime.output()).toContain(
      `port ${port} of 0.0.0.0 is in use (EADDRINUSE). ${name} sets`,
    );
  });
});

describe('a port of the model server that another program has', () => {
  test.each([
    ['gRPC', 0, {}],
    ['REST', 1, {}],
    ['REST, the backend', 1, { SAGEMAKER_TFS_BACKEND: 'rest' }],
    ['REST, of a multi-model endpoint', 1, { SAGEMAKER_MULTI_MODEL: 'true' }],
  ])(
    'ends the start, as TensorFlow Serving might let the other one answer: %s',
    async (_what, offset, variables) => {
      const low = await freePorts(2);
      const other = createServer().listen(low + offset, '0.0.0.0');
      await once(other, 'listening');
      cleanups.push(() => other.close());
      const ports = { SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 1}` };
      const runtime = await start({ copies: { m: halfPlusTwo } }, { ...ports, ...variables });
      expect(await runtime.exit).toBe(1);
      expect(runtime.output()).toContain(
        `port ${low + offset} of 0.0.0.0 is in use (EADDRINUSE). SAGEMAKER_SAFE_PORT_RANGE sets another.`,
      );
    },
  );
});

describe('what only a bundle shows', () => {
  test('broken CSV gets 400 also where the bundler renamed its error class', async () => {
    const runtime = await start({ copies: { half_plus_two: halfPlusTwo } });
    await runtime.ready();
    const response = await invoke(runtime, '"1\n', { 'Content-Type': 'text/csv' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({ code: 'BAD_INPUT' });
  });
});

describe('models and versions', () => {
  test('several models and versions, labels, and both transports', async () => {
    const runtime = await start(
      {
        copies: {
          'deep/below/half_plus_two': halfPlusTwo,
          classifier: fixtureModel('tf1_classifier').basePath,
        },
      },
      {
        SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two',
        SAGEMAKER_TFS_VERSION_LABELS: 'stable=1,canary=2',
      },
    );
    await runtime.ready();
    const body = '{"instances": [1.0]}';
    const versionOf = async (text: string) => {
      const response = await invoke(runtime, body, attributes(text));
      expect(response.status).toBe(200);
      return response.headers.get('X-Amzn-SageMaker-Custom-Attributes');
    };
    for (const transport of ['grpc', 'rest']) {
      const by = `tfs-transport=${transport}`;
      expect(await versionOf(by)).toBe('tfs-model-version=2');
      expect(await versionOf(`${by},tfs-model-version=1`)).toBe('tfs-model-version=1');
      expect(await versionOf(`${by},tfs-model-label=stable`)).toBe('tfs-model-version=1');
      const unknown = await invoke(runtime, body, attributes(`${by},tfs-model-name=nobody`));
      expect(unknown.status).toBe(404);
      expect(await unknown.json()).toEqual({
        error:
          'there is no model "nobody". The archive has classifier, half_plus_two. Name one with tfs-model-name.',
        code: 'MODEL_NOT_FOUND',
      });
    }
  });

  test('several instances share the requests', async () => {
    const runtime = await start(
      { copies: { m: halfPlusTwo } },
      { SAGEMAKER_TFS_INSTANCE_COUNT: '2' },
    );
    await runtime.ready();
    expect(modelServerPids(runtime)).toHaveLength(2);
    process.kill(modelServerPids(runtime)[0] as number, 'SIGKILL');
    for (let i = 0; i < 5; i++) {
      expect((await invoke(runtime, '{"instances": [1.0]}')).status).toBe(200);
    }
    expect((await fetch(`${runtime.url}/ping`)).status).toBe(200);
  });
});

/** From its log: `started` lines carry the process id. */
function modelServerPids(runtime: RuntimeProcess): number[] {
  return runtime
    .log()
    .filter(({ msg }) => msg === 'started')
    .map(({ pid }) => pid as number);
}
