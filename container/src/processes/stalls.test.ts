/** Handlers that keep the event loop: cut at the request timeout, with an answer and a word in the log. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { createModelDir, type ModelDirContents } from '../testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess, until } from '../testing/runtime-process.ts';
import { STALLED_START } from './stall-watch.ts';

const copies = { half_plus_two: fixtureModel('half_plus_two').basePath };
const LIMIT = { SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS: '4' };

/** Does what the body says. */
const HANDLER = `
import { execSync } from 'node:child_process';
const work = {
  loop() { while (true); },
  async later() { await new Promise((resolve) => setTimeout(resolve, 100)); while (true); },
  pattern() { /^(a+)+$/.test('a'.repeat(50) + 'b'); },
  native() { execSync('sleep 60'); },
  busy() { const end = Date.now() + 1500; while (Date.now() < end); return { done: true }; },
  quick() { return { done: true }; },
  waits: () => new Promise(() => {}),
};
export const handler = (data) => work[Buffer.from(data).toString()]();
`;

const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(variables: Record<string, string> = {}): Promise<RuntimeProcess> {
  const files = { 'code/inference.mjs': HANDLER };
  const { directory, remove } = await createModelDir({ copies, files });
  const runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: directory,
    ...LIMIT,
    ...variables,
  });
  cleanups.push(remove, () => runtime.end('SIGKILL'));
  await runtime.ready();
  return runtime;
}

function invoke(runtime: RuntimeProcess, work: string, id = work): Promise<Response> {
  return fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body: work,
    headers: { 'X-Amzn-SageMaker-Inference-Id': id },
  });
}

const pids = (runtime: RuntimeProcess, msg: string) =>
  runtime
    .log()
    .filter((line) => line.msg === msg)
    .map(({ pid }) => pid as number);

const fatal = (runtime: RuntimeProcess) =>
  runtime.log().find(({ level, msg }) => level === 'fatal' && /stood still/.test(String(msg)));

test.each(['loop', 'later', 'pattern'])(
  '%s: 504, the log names requests and place, another process answers, the model server stays',
  async (work) => {
    const runtime = await start();
    const beside = invoke(runtime, 'waits');
    const response = await invoke(runtime, work);
    expect(response.status).toBe(504);
    expect(await response.json()).toMatchObject({
      code: 'REQUEST_TIMEOUT',
      error: expect.stringContaining('blocked the event loop'),
    });
    expect((await beside).status).toBe(504);
    await until(() => pids(runtime, 'worker started').length === 2);
    await runtime.ready();
    expect(await (await invoke(runtime, 'quick')).json()).toEqual({ done: true });

    const line = fatal(runtime);
    const requests = line?.requests as { requestId: string }[];
    expect(requests.map(({ requestId }) => requestId)).toContain(work);
    expect(line?.stack).toContainEqual(expect.stringMatching(/code\/inference\.mjs.*:\d+:\d+/));
    expect(pids(runtime, 'started')).toHaveLength(1);
  },
);

test('native code that does not come back ends in an answer of the primary', async () => {
  const runtime = await start();
  const response = await invoke(runtime, 'native');
  expect(response.status).toBe(503);
  expect(await response.json()).toMatchObject({ code: 'PROCESS_GONE' });
  await until(() => pids(runtime, 'worker started').length === 2);
  await runtime.ready();
  expect(runtime.output()).toContain('stands still in native code');
});

test('long work below the limit is not cut, and neither is a promise that hangs', async () => {
  const runtime = await start();
  expect(await (await invoke(runtime, 'busy')).json()).toEqual({ done: true });
  expect((await invoke(runtime, 'waits')).status).toBe(504);
  expect(await (await invoke(runtime, 'busy')).json()).toEqual({ done: true });
  expect(pids(runtime, 'worker started')).toHaveLength(1);
});

test('of two processes in-process only the one that stands still is replaced', async () => {
  const runtime = await start({
    SAGEMAKER_TFS_BACKEND: 'in-process',
    SAGEMAKER_TFS_PROCESSES: '2',
  });
  expect((await invoke(runtime, 'loop')).status).toBe(504);
  await until(() => pids(runtime, 'worker started').length === 3);
  expect(await (await invoke(runtime, 'quick')).json()).toEqual({ done: true });
});

async function startMultiModel(
  contents: ModelDirContents,
  variables: Record<string, string>,
): Promise<{ runtime: RuntimeProcess; root: string }> {
  const { directory: root, remove } = await createModelDir(contents);
  const runtime = await startRuntimeProcess({
    SAGEMAKER_MULTI_MODEL: 'true',
    SAGEMAKER_TFS_MULTI_MODEL_DIR: root,
    ...variables,
  });
  cleanups.push(remove, () => runtime.end('SIGKILL'));
  return { runtime, root };
}

const ENDLESS = 'for (;;);\nexport const handler = () => 1;';

test("a multi-model endpoint's own handler whose top level has no end fails the start, and says so", async () => {
  const { runtime } = await startMultiModel(
    { files: { 'code/inference.mjs': ENDLESS } },
    { SAGEMAKER_TFS_WAIT_TIME_SECONDS: '1' },
  );
  expect(await runtime.exit).toBe(STALLED_START);
  expect(runtime.output()).toMatch(
    /^sagemaker-tfs: the top level of the handler.* within 1 s \(SAGEMAKER_TFS_WAIT_TIME_SECONDS\)\. It stands at .*inference\.mjs/m,
  );
});

test('in-process, models are loaded again after one whose handler has no end: 503 meanwhile, never 404', async () => {
  const { runtime, root } = await startMultiModel(
    {
      copies: {
        ...Object.fromEntries(
          ['a', 'b', 'gone', 'endless'].map((name) => [name, copies.half_plus_two]),
        ),
      },
      files: { 'endless/code/inference.mjs': ENDLESS, 'garbage/1/saved_model.pb': 'no protobuf' },
    },
    { SAGEMAKER_TFS_BACKEND: 'in-process', ...LIMIT },
  );
  await runtime.ready();
  const call = async (method: string, path: string, body?: object) => {
    const sent = body && {
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    };
    const response = await fetch(`${runtime.url}${path}`, { method, ...sent });
    const answer = (await response.json()) as Record<string, unknown>;
    return { status: response.status, body: answer };
  };
  const load = (name: string) =>
    call('POST', '/models', { model_name: name, url: `${root}/${name}` });
  const invoke = (name: string) => call('POST', `/models/${name}/invoke`, { instances: [1] });
  for (const name of ['a', 'b', 'gone']) expect((await load(name)).status).toBe(200);
  expect(await load('garbage')).toMatchObject({ status: 400, body: { code: 'BAD_ARCHIVE' } });
  await rm(join(root, 'gone'), { recursive: true });

  expect(await load('endless')).toMatchObject({ status: 504, body: { code: 'REQUEST_TIMEOUT' } });
  const seen = new Set<unknown>();
  await until(async () => {
    const { status, body } = await invoke('b');
    seen.add(`${status} ${body.code ?? ''}`);
    return status === 200;
  });
  expect([...seen].filter((answer) => answer !== '200 ')).toEqual(
    [...seen].filter((answer) => /^503 (PROCESS_GONE|MODEL_NOT_READY)$/.test(String(answer))),
  );
  expect(await invoke('a')).toEqual({ status: 200, body: { predictions: [3.5] } });
  expect((await load('a')).status).toBe(409);
  // Its files are gone, and it was not unloaded: the reason, each time.
  await until(async () => (await invoke('gone')).status !== 503);
  expect(await invoke('gone')).toMatchObject({
    body: { error: expect.stringContaining('no such directory') },
  });
  expect((await call('DELETE', '/models/gone')).status).toBe(200);
  expect(await invoke('gone')).toMatchObject({
    status: 404,
    body: { error: expect.stringContaining('not loaded yet') },
  });
});
