import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RuntimeProcess, startRuntimeProcess } from '@sagemaker-tfs/container/testing';
import type { TensorMap } from '@sagemaker-tfs/tensors';
import { firstDifference } from '../../test/fixtures/compare.ts';
import { fixtureModel, loadGoldens } from '../../test/fixtures/index.ts';
import { asleep, clientOf, ENDPOINT, LOG_ARN, standIn } from '../test/sagemaker-stand-in.ts';
import type { TestServer } from '../test/servers.ts';
import {
  imagesBody,
  jsonBody,
  predict,
  predictAsync,
  predictStream,
  type Target,
  tensorsBody,
} from './index.ts';
import { type TypedTensor, toTensor, toTypedTensor } from './typed-tensor.ts';

const MODELS = ['digits', 'dtypes', 'detection', 'failing_assert', 'busy'];
const SAMPLES = join(__dirname, '../../examples/digits/samples');

const work = mkdtempSync(join(tmpdir(), 'client-test-'));
let runtime: RuntimeProcess;
let sagemaker: TestServer;

beforeAll(async () => {
  const modelDirectory = join(work, 'model');
  for (const name of MODELS) {
    await cp(fixtureModel(name).basePath, join(modelDirectory, name), { recursive: true });
  }
  runtime = await startRuntimeProcess({ SAGEMAKER_TFS_MODEL_DIR: modelDirectory });
  await runtime.ready();
  sagemaker = await standIn(runtime.url);
});

afterAll(async () => {
  await sagemaker?.stop();
  await runtime?.end();
});

const targets: readonly (readonly [string, () => Target])[] = [
  ['a plain URL', () => ({ url: runtime.url })],
  ['an endpoint', () => ({ endpointName: ENDPOINT, client: clientOf(sagemaker) })],
];

/** The busy model takes some microseconds a step, so that this takes longer than the test waits. */
const MANY_STEPS = 100_000n;

/** Some digits, and what they are by their file names (`00000-7.jpg`). */
function samples(count: number) {
  const files = readdirSync(SAMPLES).sort().slice(0, count);
  const images = files.map((file) => new Uint8Array(readFileSync(join(SAMPLES, file))));
  return { images, digits: files.map((file) => Number(/-(\d)\./.exec(file)?.[1])) };
}

/** The likeliest digit of each row of probabilities. */
function likeliest(probabilities: ArrayLike<unknown>): number[] {
  const all = Array.from(probabilities, Number);
  return Array.from({ length: all.length / 10 }, (_, row) => {
    const scores = all.slice(row * 10, row * 10 + 10);
    return scores.indexOf(Math.max(...scores));
  });
}

describe.each(targets)('at %s', (_name, target) => {
  const formats = ['length-prefixed', 'tfrecord', 'recordio'] as const;
  const digits = { modelName: 'digits' };

  test.each(formats)('many images in one %s body are one batch', async (format) => {
    const { images, digits: expected } = samples(20);
    const body = imagesBody(images, { format });
    const answer = await predict(target(), body, {
      accept: 'application/x-npy',
      customAttributes: { ...digits, transport: 'grpc' },
    });
    const { probabilities } = answer.tensors();
    expect(probabilities?.shape).toEqual([20, 10]);
    expect(probabilities?.data).toBeInstanceOf(Float32Array);
    expect(likeliest(probabilities?.data ?? [])).toEqual(expected);
    expect(answer).toMatchObject({ status: 200, contentType: 'application/x-npy' });
    expect(answer.customAttributes['tfs-model-version']).toBe('1');
  });

  const mediaTypes = ['x-npy', 'x-npz', 'x-tfrecord', 'json', 'jsonlines'].map(
    (type) => `application/${type}`,
  );

  test('every media type of tensors reads as the same numbers', async () => {
    const { images } = samples(3);
    const options = { customAttributes: { ...digits, outputs: ['probabilities'] } };
    const all = await Promise.all(
      mediaTypes.map(async (accept) => {
        const answer = await predict(target(), imagesBody(images), { ...options, accept });
        return answer.tensors({ probabilities: 'float32' });
      }),
    );
    expect(all[0]?.probabilities?.shape).toEqual([3, 10]);
    for (const tensors of all) expect(tensors).toEqual(all[0]);
  });

  test('every dtype goes there and back exactly, by npz and by JSON', async () => {
    for (const golden of loadGoldens(fixtureModel('dtypes'))) {
      for (const { inputs, outputs } of golden.cases) {
        const values = valuesOf(inputs);
        const dtypes = Object.fromEntries(
          Object.entries(outputs ?? {}).map(([name, { dtype }]) => [name, dtype]),
        );
        const customAttributes = { modelName: 'dtypes', signature: golden.signature };
        if (Object.values(inputs).some(({ shape }) => shape[0] === 0)) {
          const empty = predict(target(), tensorsBody(values), { customAttributes });
          await expect(empty).rejects.toThrow(/which has no rows. Send at least one instance/);
          continue;
        }
        const npz = await predict(target(), tensorsBody(values), {
          customAttributes,
          accept: 'application/x-npz',
        });
        expect(difference(npz.tensors(), outputs ?? {})).toBeUndefined();
        // JSON names a single output by request only.
        const json = await predict(target(), jsonBody({ inputs: values }), {
          customAttributes: { ...customAttributes, outputs: Object.keys(outputs ?? {}) },
        });
        expect(difference(json.tensors(dtypes), outputs ?? {})).toBeUndefined();
      }
    }
  });

  test('several outputs in one npy array are split, in the order asked for', async () => {
    const [golden] = loadGoldens(fixtureModel('detection'));
    const { inputs = {}, outputs = {} } = golden?.cases[0] ?? {};
    const reversed = Object.keys(outputs).reverse();
    const answer = await predict(target(), tensorsBody(valuesOf(inputs)), {
      accept: 'application/x-npy',
      customAttributes: { modelName: 'detection', outputs: reversed },
    });
    expect(Object.keys(answer.tensors())).toEqual(reversed);
    expect(difference(answer.tensors(), outputs, golden?.tolerance)).toBeUndefined();
  });

  test('an answer streamed is the answer, and its errors are the same', async () => {
    const body = imagesBody(samples(2).images);
    const options = { customAttributes: digits, accept: 'application/x-npy' };
    const { chunks, ...head } = await predictStream(target(), body, options);
    const all = [];
    for await (const chunk of chunks) all.push(chunk);
    const { bytes, status, contentType, customAttributes } = await predict(target(), body, options);
    expect(Buffer.concat(all)).toEqual(Buffer.from(bytes));
    expect(head).toEqual({ status, contentType, customAttributes });
    await expect(predictStream(target(), 'no json', options)).rejects.toMatchObject({
      code: 'BAD_INPUT',
      status: 400,
    });
  });

  test('the container’s own message and code explain an error, whoever passes it on', async () => {
    const call = predict(target(), jsonBody({ instances: [[1, 2]] }), {
      customAttributes: { modelName: 'digits', signature: 'no_such_signature' },
    });
    await expect(call).rejects.toMatchObject({
      name: 'PredictionError',
      code: 'UNKNOWN_SIGNATURE',
      status: 400,
      message: expect.stringContaining('no_such_signature'),
    });
  });

  test('an error of the model itself comes through', async () => {
    const [golden] = loadGoldens(fixtureModel('failing_assert'));
    const failing = golden?.cases.find(({ error }) => error !== undefined);
    const call = predict(target(), tensorsBody(valuesOf(failing?.inputs ?? {})), {
      customAttributes: { modelName: 'failing_assert' },
    });
    await expect(call).rejects.toThrow('assertion failed: [x must not be negative.');
  });

  test('no answer in time is TIMEOUT, and the caller’s signal ends a call with its reason', async () => {
    const long = tensorsBody({ dtype: 'int64', shape: [], data: [MANY_STEPS] });
    const customAttributes = { modelName: 'busy' };
    await expect(
      predict(target(), long, { customAttributes, timeoutSeconds: 0.1 }),
    ).rejects.toMatchObject({ code: 'TIMEOUT', message: expect.stringContaining('within 0.1 s') });
    const reason = new Error('enough');
    const controller = new AbortController();
    setTimeout(() => controller.abort(reason), 50);
    await expect(
      predict(target(), long, { customAttributes, signal: controller.signal }),
    ).rejects.toBe(reason);
  });
});

test('an endpoint’s error says where the container’s log is', async () => {
  const target = { endpointName: ENDPOINT, client: clientOf(sagemaker) };
  const call = predict(target, 'not json', { customAttributes: { modelName: 'digits' } });
  await expect(call).rejects.toThrow(
    expect.objectContaining({ message: expect.stringContaining(`Its log: ${LOG_ARN}`) }),
  );
});

test('an endpoint that is not there is named with what to check', async () => {
  const target = { endpointName: 'nobody', client: clientOf(sagemaker) };
  await expect(predict(target, jsonBody({ instances: [1] }))).rejects.toMatchObject({
    code: 'ENDPOINT_NOT_FOUND',
    status: 400,
    message: expect.stringContaining('Check the name, the region and the account.'),
  });
});

test('a component that sleeps is reported, or waited for', async () => {
  const target = { endpointName: ENDPOINT, client: clientOf(sagemaker) };
  const body = jsonBody({ instances: [Array.from({ length: 784 }, () => 0)] });
  const options = { inferenceComponent: 'digits-cats', customAttributes: { modelName: 'digits' } };
  asleep.add('digits-cats');
  const before = sagemaker.requests.length;
  await expect(predict(target, body, options)).rejects.toMatchObject({
    code: 'ASLEEP',
    status: 400,
    message: expect.stringContaining('has no copies') as string,
  });
  // A refusal is no reason to hurry: it is not repeated at once.
  expect(sagemaker.requests).toHaveLength(before + 1);
  const waiting = predict(target, body, { ...options, wakeSeconds: 0.05 });
  await expect(waiting).rejects.toMatchObject({ code: 'ASLEEP' });
  expect(sagemaker.requests).toHaveLength(before + 3);
  asleep.clear();
  const awake = await predict(target, body, { ...options, wakeSeconds: 0.05 }).catch(
    (error: unknown) => error,
  );
  expect(awake).not.toMatchObject({ code: 'ASLEEP' });
  expect(sagemaker.requests.at(-1)?.headers).toMatchObject({
    'x-amzn-sagemaker-inference-component': 'digits-cats',
  });
});

test('asynchronous inference tells where the answer will lie', async () => {
  const target = { endpointName: ENDPOINT, client: clientOf(sagemaker) };
  const options = { contentType: 'image/jpeg', customAttributes: { modelName: 'digits' } };
  expect(await predictAsync(target, 's3://bucket/digit.jpg', options)).toEqual({
    inferenceId: 'inference-1',
    outputLocation: 's3://bucket/digit.jpg.out',
    failureLocation: undefined,
  });
  expect(sagemaker.requests.at(-1)?.headers).toMatchObject({
    'x-amzn-sagemaker-content-type': 'image/jpeg',
    'x-amzn-sagemaker-custom-attributes': 'tfs-model-name=digits',
  });
});

test('a small asynchronous request is sent along, a large one is sent to S3', async () => {
  const target = { endpointName: ENDPOINT, client: clientOf(sagemaker) };
  const options = { contentType: 'image/jpeg' };
  await predictAsync(target, Buffer.from('a picture'), options);
  expect(sagemaker.requests.at(-1)?.headers).not.toHaveProperty('x-amzn-sagemaker-inputlocation');
  await expect(predictAsync(target, new Uint8Array(128_001), options)).rejects.toMatchObject({
    code: 'BAD_OPTION',
    message: expect.stringContaining('carries at most 128000. Put it into S3'),
  });
});

function valuesOf(tensors: TensorMap): Record<string, TypedTensor> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, toTypedTensor(tensor)]),
  );
}

function difference(
  actual: Readonly<Record<string, TypedTensor>>,
  expected: TensorMap,
  tolerance = 0,
) {
  const tensors = Object.entries(actual).map(([name, value]) => [name, toTensor(value)]);
  return firstDifference(Object.fromEntries(tensors), expected, tolerance);
}
