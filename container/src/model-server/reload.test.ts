/** Loading and unloading models on a real process, with its races, and what is left where that fails. */
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { encodePredictRequest, tensorFromValues } from '@sagemaker-tfs/tensors';
import { GRPC_METHODS } from '@sagemaker-tfs/tensors/grpc-methods';
import pino from 'pino';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { readEnvironment } from '../environment.ts';
import type { ServedModel } from '../models/served-model.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { MODEL_SERVER_BIN } from '../testing/model-server-bin.ts';
import { freePorts } from '../testing/ports.ts';
import { until } from '../testing/runtime-process.ts';
import { getModelStatus } from './model-service.ts';
import { restorer } from './restore.ts';
import { type ModelServer, startModelServer } from './start.ts';
import { hadNoThread } from './unseen.ts';
import type { Instance } from './watched-instance.ts';

let root: string;
let removeRoot: () => Promise<void>;
let server: ModelServer;
beforeEach(async () => {
  const created = await createModelDir({
    copies: {
      a: fixtureModel('half_plus_two').basePath,
      b: fixtureModel('half_plus_two').basePath,
      broken: fixtureModel('custom_op').basePath,
      busy: fixtureModel('busy').basePath,
    },
  });
  root = created.directory;
  removeRoot = created.remove;
});
afterEach(async () => {
  await server.stop();
  await removeRoot();
});

const model = (name: string, directory = name, versions = ['1']): ServedModel => {
  return { name, basePath: join(root, directory), versions };
};

async function start(variables: Record<string, string> = {}, waitMs?: () => number): Promise<void> {
  const low = await freePorts(2);
  const { environment } = readEnvironment({
    SAGEMAKER_MULTI_MODEL: 'true',
    SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 1}`,
    ...variables,
  });
  const limits = { ...environment.limits };
  if (waitMs) Object.defineProperty(limits, 'waitMs', { get: waitMs });
  server = await startModelServer({
    environment: { ...environment, limits },
    variables: {
      ...process.env,
      PATH: `${MODEL_SERVER_BIN}:${process.env.PATH}`,
      LOCAL_MODEL_SERVER_POLL_MS: '50',
    },
    log: pino({ level: 'silent' }),
    models: [],
  });
  while (server.pool.reason !== undefined) await delay(20);
}

async function states(name: string): Promise<string[]> {
  const channel = server.pool.instances[0]?.channel;
  if (!channel) throw new Error('there is no instance');
  return (await getModelStatus(channel, { name })).map(({ state }) => state);
}

test('a model that was unloaded is at its end, and loads again at once, from elsewhere too', async () => {
  await start();
  await server.serve(() => [model('a', 'a', ['1', '2'])]);
  for (const directory of ['b', 'a', 'b']) {
    await server.serve(() => []);
    expect(new Set(await states('a'))).toEqual(new Set(['END']));
    await server.serve(() => [model('a', directory)]);
    expect(await states('a')).toContain('AVAILABLE');
  }
});

test('a model whose directory is gone keeps no other from loading, and serves on', async () => {
  await start();
  await server.serve(() => [model('a')]);
  await rm(join(root, 'a'), { recursive: true });
  await server.serve(() => [model('a'), model('b')]);
  expect(await states('a')).toEqual(['AVAILABLE']);
  expect(await states('b')).toEqual(['AVAILABLE']);
});

test('a model that does not load is gone, and the others are served on', async () => {
  await start();
  await server.serve(() => [model('a')]);
  const broken = server.serve(() => [model('a'), model('broken')]);
  await expect(broken).rejects.toThrow('did not become available');
  await expect(broken).rejects.toThrow(/^((?!\/models\/).)*$/s);
  expect(await states('a')).toEqual(['AVAILABLE']);
  expect(await states('broken')).toEqual(['END']);
  await rm(join(root, 'broken'), { recursive: true });
  await cp(fixtureModel('half_plus_two').basePath, join(root, 'broken'), { recursive: true });
  await server.serve(() => [model('a'), model('broken')]);
  expect(await states('broken')).toEqual(['AVAILABLE']);
});

test('a load past its deadline is an error that says so, and what was served before is served on', async () => {
  await start({ SAGEMAKER_TFS_WAIT_TIME_SECONDS: '6' });
  await server.serve(() => [model('a')]);
  await mkdir(join(root, 'empty'));
  // Without any version the model server waits for ever.
  const late = server.serve(() => [model('a'), model('empty')]);
  await expect(late).rejects.toMatchObject({
    code: 'REQUEST_TIMEOUT',
    message: expect.stringContaining('within 6 s'),
  });
  while (server.pool.reason !== undefined) await delay(20);
  expect(await states('a')).toEqual(['AVAILABLE']);
  await server.serve(() => [model('a'), model('b')]);
  expect(await states('b')).toEqual(['AVAILABLE']);
}, 120_000);

test('an unload past its deadline says so, and the other models are healthy', async () => {
  let waitMs = 60_000;
  await start({}, () => waitMs);
  await server.serve(() => [model('a'), model('busy')]);
  const { endpoint, readiness } = server.pool.instances[0] as Instance;
  const url = `http://127.0.0.1:${endpoint.restPort}/v1/models/busy`;
  const body = JSON.stringify({ inputs: { iterations: 1_500_000 } });
  const running = fetch(`${url}:predict`, { method: 'POST', body }).then(({ status }) => status);
  // Behind it on the server, and answered.
  await fetch(url);
  waitMs = 1000;
  await expect(server.serve(() => [model('a')])).rejects.toMatchObject({
    code: 'REQUEST_TIMEOUT',
    message: expect.stringContaining('requests in flight keep it'),
  });
  expect(await running).toBe(200);
  while ((await states('busy')).some((state) => state !== 'END')) await delay(20);
  // Has it asked for what it serves.
  readiness.lost('it was not asked yet');
  waitMs = 60_000;
  await server.pool.whenReady();
  expect(await states('a')).toEqual(['AVAILABLE']);
});

test('a process without a free thread loses no model that it should load again', async () => {
  await start({ SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: '1' });
  const models = [model('a'), model('busy')];
  await server.serve(() => models);
  const instance = server.pool.instances[0] as Instance;
  const iterations = tensorFromValues('int64', [], [30_000]);
  const request = { model: { name: 'busy' }, signature: 'serving_default', inputs: { iterations } };
  const message = encodePredictRequest(request);
  const { channel } = instance;
  // More than it has threads for; some are refused at once.
  const calls = Array.from({ length: 40 }, () =>
    channel.call({ path: GRPC_METHODS.predict, message }),
  );
  const answered = Promise.allSettled(calls);
  await until(async () => getModelStatus(channel, { name: 'a' }).then(() => false, hadNoThread));
  const lost: string[] = [];
  await restorer({
    models: () => models,
    leaveOut: async (names) => void lost.push(...names),
    onLost: (name) => lost.push(name),
    onRegained: () => undefined,
    restart: (index) => lost.push(`process ${index}`),
    deadlineMs: 60_000,
  }).restore(instance, 0);
  expect(lost).toEqual([]);
  // It was at work meanwhile.
  expect((await answered).map(({ status }) => status)).toContain('fulfilled');
});
