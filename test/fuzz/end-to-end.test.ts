/**
 * Changed bodies of every kind, sent to whole runtimes with honest requests in between: nothing but 2xx and 4xx comes
 * back, the honest get their answers, no process ends, and nothing of what was sent is in the log.
 */
import { encodeNpy, encodeNpz, numericTensor } from '@sagemaker-tfs/tensors';
import { createModelDir } from '../../container/src/testing/model-dir.ts';
import {
  isAlive,
  type RuntimeProcess,
  startRuntimeProcess,
} from '../../container/src/testing/runtime-process.ts';
import { fixtureModel } from '../fixtures/index.ts';
import { mutate, pick, randomOf } from './random.ts';
import { TARGETS } from './targets/index.ts';
import { removeScratch } from './targets/scratch.ts';

const MODELS = [
  'digits',
  'half_plus_two',
  'dtypes',
  'strings',
  'image_uint8',
  'image_nchw',
  'shapes',
];
const TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  'json-lines': 'application/jsonlines',
  csv: 'text/csv',
  npy: 'application/x-npy',
  npz: 'application/x-npz',
  tfrecord: 'application/x-tfrecord',
  recordio: 'application/x-recordio',
  'recordio-protobuf': 'application/x-recordio-protobuf',
  'length-prefixed': 'application/octet-stream',
  jpeg: 'application/x-image',
  png: 'application/x-image',
  webp: 'application/x-image',
  gif: 'application/x-image',
  tiff: 'application/x-image',
};
/** What no log may show, wherever a client puts it. */
const SECRET = 'Fj3kTq9zWsecret';
const BODIES = 120;

const cleanups: (() => unknown)[] = [removeScratch];

afterAll(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
});

async function start(backend: string): Promise<RuntimeProcess> {
  const copies = Object.fromEntries(MODELS.map((name) => [name, fixtureModel(name).basePath]));
  const { directory, remove } = await createModelDir({ copies });
  cleanups.push(remove);
  const runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: directory,
    SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two',
    SAGEMAKER_TFS_BACKEND: backend,
  });
  cleanups.push(() => runtime.end('SIGKILL'));
  await runtime.ready();
  return runtime;
}

async function post(
  runtime: RuntimeProcess,
  type: string,
  body: Uint8Array,
  model: string,
  id?: string,
) {
  const response = await fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': type,
      'X-Amzn-SageMaker-Custom-Attributes': `tfs-model-name=${model}`,
      ...(id === undefined ? {} : { 'X-Amzn-SageMaker-Inference-Id': id }),
    },
  });
  return { status: response.status, text: await response.text() };
}

describe.each(['grpc', 'rest', 'in-process'])('over %s', (backend) => {
  let runtime: RuntimeProcess;
  beforeAll(async () => {
    runtime = await start(backend);
  });

  test('changed bodies get an answer, honest ones the right one', async () => {
    const targets = TARGETS.filter(({ name }) => name in TYPES);
    const odd: unknown[] = [];
    for (let index = 0; index < BODIES; index++) {
      const random = randomOf(11, index);
      const target = targets[index % targets.length] as (typeof targets)[number];
      const seeds = await target.seeds();
      const body = random(2)
        ? mutate(random, seeds, [...target.tokens, SECRET])
        : await target.build(random, seeds, randomOf(12, index));
      const type = TYPES[target.name] as string;
      const model = pick(random, MODELS);
      const { status, text } = await post(runtime, type, body, model);
      if (status >= 500)
        odd.push({ index, type, model, status, text, body: body.toString('base64') });
      if (index % 10 !== 9) continue;
      const honest = await post(
        runtime,
        'application/json',
        Buffer.from('{"instances":[4.0,6.0]}'),
        'half_plus_two',
      );
      expect(JSON.parse(honest.text)).toEqual({ predictions: [5, 6] });
    }
    expect(odd).toEqual([]);
    expect(isAlive(runtime.pid)).toBe(true);
    expect(runtime.output()).not.toMatch(/Check failed|SIGABRT|SIGSEGV/);
  });

  test('what clients send is in no log', async () => {
    const zeros = numericTensor('float32', [1], new Float32Array(1));
    const bodies: [string, Uint8Array][] = [
      ['application/json', Buffer.from(`{"instances":["${SECRET}"]}`)],
      ['application/json', Buffer.from(`{"inputs":{"x":"${SECRET}"}}`)],
      ['application/json', Buffer.from(`{"instances": ${SECRET}}`)],
      ['text/csv', Buffer.from(SECRET)],
      ['application/x-npy', Buffer.concat([...encodeNpy(zeros), Buffer.from(SECRET)])],
      ['application/x-npz', Buffer.concat(encodeNpz({ [SECRET]: zeros }))],
      ['application/x-image', Buffer.from(SECRET)],
      ['application/octet-stream', Buffer.from(SECRET)],
    ];
    for (const [type, body] of bodies) {
      const { status } = await post(runtime, type, body, 'half_plus_two');
      expect([type, [400, 415].includes(status)]).toEqual([type, true]);
    }
    const { status } = await post(
      runtime,
      'application/json',
      Buffer.from('{"instances":[4.0]}'),
      'half_plus_two',
      'i'.repeat(5_000),
    );
    expect([200, 400]).toContain(status);
    expect(runtime.output()).not.toContain(SECRET);
    expect(runtime.output()).not.toContain('i'.repeat(1_100));
  });
});
