import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { findLibrary } from '@sagemaker-tfs/libtensorflow';
import { loadServable, warmUp } from '@sagemaker-tfs/libtensorflow/serving';
import { encodeTfRecord } from '@sagemaker-tfs/tensors';
import { ExampleSchema, PredictionLogSchema } from '@sagemaker-tfs/tensors/protos';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { temporaryDirectory } from '../test/temporary.ts';

/** Made by TensorFlow: `test/warmup/make_warmup.py`. */
const REQUESTS = join(__dirname, '..', 'test', 'warmup', 'requests.tfrecord');

/** A version of half_plus_two with this warm-up file; loaded without it. */
async function versionWith(requests: Buffer) {
  const path = join(await temporaryDirectory(), '1');
  await cp(fixtureModel('half_plus_two', '1').directory, path, { recursive: true });
  await mkdir(join(path, 'assets.extra'));
  await writeFile(join(path, 'assets.extra', 'tf_serving_warmup_requests'), requests);
  const library = await findLibrary();
  if (!library) throw new Error('this test needs libtensorflow');
  const load = (warmupIterations: number) =>
    loadServable('m', { version: 1n, path }, { library, tags: ['serve'], warmupIterations });
  return { path, load };
}

test('every record runs, of each API', async () => {
  const { path, load } = await versionWith(await readFile(REQUESTS));
  const servable = await load(0);
  expect(await warmUp(servable, path, 2)).toBe(3);
  await servable.unload();
});

test('no file is no error', async () => {
  const { load } = await versionWith(Buffer.alloc(0));
  const servable = await load(1);
  expect(await warmUp(servable, '/none', 1)).toBe(0);
  await servable.unload();
});

test.each([
  ['cut off', (file: Buffer) => file.subarray(0, -1)],
  ['changed', (file: Buffer) => Buffer.from(file).fill(7, 20, 24)],
  ['something else', () => Buffer.from('not a TFRecord file at all')],
])('a file that is %s keeps the version from loading', async (_, change) => {
  const { load } = await versionWith(change(await readFile(REQUESTS)));
  await expect(load(1)).rejects.toThrow(
    /corrupted record at \d+\. Please verify your warmup data is in TFRecord format\./,
  );
});

test('a request that fails keeps the version from loading', async () => {
  const { path, load } = await versionWith(await readFile(REQUESTS));
  await cp(fixtureModel('digits').directory, path, { recursive: true });
  await expect(load(1)).rejects.toThrow('not found in request and no default value provided');
});

const log = (
  logType: NonNullable<MessageInitShape<typeof PredictionLogSchema>['logType']>,
): Buffer =>
  Buffer.concat(
    encodeTfRecord(toBinary(PredictionLogSchema, create(PredictionLogSchema, { logType }))),
  );

const task = (signatureName: string, methodName: string) => ({
  modelSpec: { name: 'm', signatureName },
  methodName: `tensorflow/serving/${methodName}`,
});

test('MultiInference runs too, and a record without a request of any API is passed over', async () => {
  const feature = { x: { kind: { case: 'floatList' as const, value: { value: [1] } } } };
  const example = create(ExampleSchema, { features: { feature } });
  const request = {
    tasks: [task('regress_x_to_y', 'regress'), task('classify_x_to_y', 'classify')],
    input: { kind: { case: 'exampleList' as const, value: { examples: [example] } } },
  };
  const records = [
    log({ case: 'multiInferenceLog', value: { request } }),
    log({ case: undefined }),
  ];
  const { path, load } = await versionWith(Buffer.concat(records));
  const servable = await load(0);
  expect(await warmUp(servable, path, 1)).toBe(2);
  await servable.unload();
});

test.each([
  ['a run of the session', log({ case: 'sessionRunLog', value: {} }), 5],
  ['a streamed prediction', log({ case: 'predictStreamedLog', value: {} }), 7],
])('%s keeps the version from loading', async (_, record, number) => {
  const { load } = await versionWith(record);
  await expect(load(1)).rejects.toThrow(`Unsupported log_type for warmup: ${number}`);
});
