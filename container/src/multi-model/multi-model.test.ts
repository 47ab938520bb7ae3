/** Multi-model endpoints: SageMaker's routes over a real model server. */
import { once } from 'node:events';
import { symlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess, until } from '../testing/runtime-process.ts';

const halfPlusTwo = fixtureModel('half_plus_two').basePath;
/** What one model is in turn: an archive each, with a version and a handler of its own. */
const GENERATIONS = [1, 2, 3, 4];

let runtime: RuntimeProcess;
let root: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  const created = await createModelDir({
    copies: {
      'a/model': halfPlusTwo,
      'b/model/export': halfPlusTwo,
      'stuck/model': halfPlusTwo,
      'spy/model': halfPlusTwo,
      'lost/model/1/saved_model.pb': join(halfPlusTwo, '1', 'saved_model.pb'),
      'broken/model': fixtureModel('custom_op').basePath,
      ...Object.fromEntries(
        GENERATIONS.map((number) => [`turn${number}/model/${number}`, join(halfPlusTwo, '1')]),
      ),
    },
    files: {
      ...Object.fromEntries(
        GENERATIONS.map((number) => [
          `turn${number}/model/code/inference.mjs`,
          `export const outputHandler = (outputs) => ({ generation: ${number}, outputs: Object.keys(outputs).length });`,
        ]),
      ),
      'empty/model/readme.txt': '',
      'garbage/model/1/saved_model.pb': 'no protobuf at all',
      'lost/model/1/variables/readme.txt': '',
      'spy/model/code/manifest.json': JSON.stringify({
        manifestVersion: 1,
        packager: { name: 'packager', version: '1.0.0' },
        fingerprint: 'a'.repeat(64),
        files: {},
        models: [{ name: 'spy', versions: ['1'], signatures: {} }],
        postprocess: { topK: { labels: '../../../a/secret.txt' } },
      }),
      'a/secret.txt': 'of another model',
      'stuck/model/code/inference.mjs': 'await new Promise(() => {});',
      'b/model/code/inference.mjs':
        'export const handler = (_, context) => ({ own: context.modelName });',
    },
  });
  root = created.directory;
  remove = created.remove;
  await symlink('/usr', join(root, 'link'));
  runtime = await startRuntimeProcess({
    SAGEMAKER_MULTI_MODEL: 'true',
    LOCAL_MODEL_SERVER_POLL_MS: '50',
    SAGEMAKER_TFS_MULTI_MODEL_DIR: root,
    SAGEMAKER_TFS_MAX_LOAD_REQUEST_BYTES: '1024',
    SAGEMAKER_TFS_WAIT_TIME_SECONDS: '10',
  });
  await runtime.ready();
});

afterAll(async () => {
  await runtime.end('SIGKILL');
  await remove();
});

async function call(method: string, path: string, body?: unknown) {
  const response = await fetch(`${runtime.url}${path}`, {
    method,
    ...(body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
  });
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
}

const load = (name: string, url: string) => call('POST', '/models', { model_name: name, url });
const invoke = (name: string) => call('POST', `/models/${name}/invoke`, { instances: [1] });

describe('a multi-model endpoint', () => {
  test('a request to load that is longer than allowed is refused by the name of its limit', async () => {
    const { status, body } = await load('a', `${root}/a/model${'/.'.repeat(1000)}`);
    expect(status).toBe(413);
    expect(body.error).toContain('1024 (SAGEMAKER_TFS_MAX_LOAD_REQUEST_BYTES)');
  });

  test('load, list, describe, invoke, unload', async () => {
    expect((await invoke('a')).status).toBe(404);
    expect(await load('a', `${root}/a/model`)).toMatchObject({
      status: 200,
      body: { modelName: 'a', modelUrl: `${root}/a/model` },
    });
    expect(await invoke('a')).toEqual({ status: 200, body: { predictions: [3.5] } });
    expect(await call('GET', '/models')).toMatchObject({
      status: 200,
      body: { models: [{ modelName: 'a', modelUrl: `${root}/a/model` }] },
    });
    expect(await call('GET', '/models/a')).toMatchObject({ status: 200, body: { modelName: 'a' } });
    expect((await load('a', `${root}/a/model`)).status).toBe(409);
    expect((await call('DELETE', '/models/a')).status).toBe(200);
    expect((await call('DELETE', '/models/a')).status).toBe(404);
    expect((await call('GET', '/models/a')).status).toBe(404);
    expect((await invoke('a')).status).toBe(404);
    expect((await call('GET', '/models')).body).toEqual({ models: [] });
  });

  test('a client that dribbles its body keeps no model from being unloaded', async () => {
    await load('a', `${root}/a/model`);
    const send = async (whileItComes: () => Promise<void>) => {
      const socket = connect(Number(new URL(runtime.url).port), '127.0.0.1').setEncoding('utf8');
      let answer = '';
      socket.on('data', (text) => {
        answer += text;
      });
      const head = 'POST /models/a/invoke HTTP/1.1\r\nHost: x\r\nConnection: close\r\n';
      socket.write(`${head}Content-Type: application/json\r\nContent-Length: 17\r\n\r\n{"inst`);
      // What is asked later is answered later.
      await call('GET', '/models');
      await whileItComes();
      socket.write('ances":[1]}');
      await once(socket, 'close');
      return answer;
    };
    const unload = async () => {
      expect((await call('DELETE', '/models/a')).status).toBe(200);
    };
    const replace = async () => {
      await load('a', `${root}/a/model`);
      await unload();
      await load('a', `${root}/a/model`);
    };
    expect(await send(unload)).toMatch(/^HTTP\/1.1 404 [\s\S]*MODEL_NOT_FOUND/);
    await load('a', `${root}/a/model`);
    expect(await send(replace)).toMatch(/^HTTP\/1.1 503 [\s\S]*loaded again before/);
    expect((await invoke('a')).status).toBe(200);
    await call('DELETE', '/models/a');
  });

  test('a model with a handler of its own beside one without', async () => {
    await load('plain', `${root}/a/model`);
    await load('own', `${root}/b/model`);
    expect((await invoke('plain')).body).toEqual({ predictions: [3.5] });
    expect((await invoke('own')).body).toEqual({ own: 'own' });
    await call('DELETE', '/models/plain');
    expect((await invoke('own')).status).toBe(200);
    await call('DELETE', '/models/own');
  });

  test('a model that cannot load leaves the others as they were', async () => {
    await load('a', `${root}/a/model`);
    const failed = await load('broken', `${root}/broken/model`);
    expect(failed).toMatchObject({ status: 400, body: { code: 'BAD_ARCHIVE' } });
    expect(String(failed.body.error)).toContain('ExampleCustomOp');
    expect((await invoke('a')).status).toBe(200);
    expect((await call('GET', '/models/broken')).status).toBe(404);
    expect((await fetch(`${runtime.url}/ping`)).status).toBe(200);
    await call('DELETE', '/models/a');
  });

  test('loads at once are made one after another', async () => {
    const names = Array.from({ length: 5 }, (_, i) => `m${i}`);
    const loads = await Promise.all(names.map((name) => load(name, `${root}/a/model`)));
    expect(loads.map(({ status }) => status)).toEqual(Array(5).fill(200));
    const invoked = await Promise.all(names.map(invoke));
    expect(invoked.map(({ status }) => status)).toEqual(Array(5).fill(200));
    await Promise.all(names.map((name) => call('DELETE', `/models/${name}`)));
  });

  test('a list of many goes in pages', async () => {
    // The bound of a page is not reached with real models in a test's time; the token still must work.
    await load('a', `${root}/a/model`);
    await load('b', `${root}/a/model`);
    const after = await call('GET', '/models?next_page_token=a');
    expect(after.body).toMatchObject({ models: [{ modelName: 'b' }] });
    expect((await call('GET', '/models?next_page_token=-1')).status).toBe(400);
    await Promise.all(['a', 'b'].map((name) => call('DELETE', `/models/${name}`)));
  });

  test.each([
    ['a url above the root', 'x', () => `${root}/../etc`, 400],
    ['a url elsewhere', 'x', () => '/usr/lib', 400],
    ['a link that leads out', 'x', () => `${root}/link`, 400],
    ['the root itself', 'x', () => root, 400],
    ['a name that is a path', '../x', () => `${root}/a/model`, 400],
    ['a name that begins with no letter or digit', '__proto__', () => `${root}/a/model`, 400],
    ['a name with a slash', 'x/y', () => `${root}/a/model`, 400],
    ['a directory that is not there', 'x', () => `${root}/nobody`, 404],
    ['a manifest that names a file of another model', 'x', () => `${root}/spy/model`, 400],
    ['a directory without a version', 'x', () => `${root}/empty/model`, 404],
    ['a model without its variables', 'x', () => `${root}/lost/model`, 400],
    ['a file that is no model', 'x', () => `${root}/garbage/model`, 400],
  ])('%s is refused', async (_name, name, url, status) => {
    expect((await load(name, url())).status).toBe(status);
  });

  test('a body that is not a load request', async () => {
    expect((await call('POST', '/models', { name: 'a' })).status).toBe(400);
  });

  test('a handler that never finishes loading fails its own load, and no other waits for it', async () => {
    let isStuck = true;
    const stuck = load('stuck', `${root}/stuck/model`).finally(() => {
      isStuck = false;
    });
    const other = await load('b', `${root}/b/model/export`);
    expect(other.status).toBe(200);
    expect(isStuck).toBe(true);
    expect(await stuck).toEqual({
      status: 500,
      body: {
        code: 'HANDLER_FAILED',
        error: expect.stringMatching(/inference\.mjs could not be loaded: .*after 10 s/),
      },
    });
    await call('DELETE', '/models/b');
  });

  test('a model that is asked while it goes and comes back as another answers right, or refuses', async () => {
    let latest = 0;
    let ended = 0;
    let isOver = false;
    const seen = new Set<number>();
    const wrong: unknown[] = [];
    const clients = Array.from({ length: 4 }, async () => {
      while (!isOver) {
        const endedBefore = ended;
        const { status, body } = await invoke('turn');
        const generation = Number(body.generation);
        const isRight =
          status === 200 && generation > endedBefore && generation <= latest && body.outputs === 1;
        if (isRight) seen.add(generation);
        else if (status !== 404 || body.code !== 'MODEL_NOT_FOUND') wrong.push({ status, body });
      }
    });
    for (const number of GENERATIONS) {
      latest = number;
      expect((await load('turn', `${root}/turn${number}/model`)).status).toBe(200);
      await until(() => seen.has(number));
      expect((await call('DELETE', '/models/turn')).status).toBe(200);
      ended = number;
    }
    isOver = true;
    await Promise.all(clients);
    expect(wrong).toEqual([]);
  });

  test('models are there again after the model server was killed', async () => {
    await load('a', `${root}/a/model`);
    const started = () => runtime.log().filter(({ msg }) => msg === 'started');
    process.kill(started().at(-1)?.pid as number, 'SIGKILL');
    await until(() => started().length > 1);
    expect(await invoke('a')).toEqual({ status: 200, body: { predictions: [3.5] } });
  });
});
