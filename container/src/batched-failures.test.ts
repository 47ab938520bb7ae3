/** In-process, a request that fails in a batch fails alone, and its bytes reach nobody else. */
import { encodeTfRecord, tensorFromValues } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { encodeExample } from './codecs/tf-example-writer.ts';
import { createModelDir } from './testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess } from './testing/runtime-process.ts';

const SECRET = 'SECRET-of-another-caller';

let runtime: RuntimeProcess;
let remove: () => Promise<void>;

beforeAll(async () => {
  const created = await createModelDir({
    copies: { half_plus_two: fixtureModel('half_plus_two').basePath },
  });
  remove = created.remove;
  runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: created.directory,
    SAGEMAKER_TFS_BACKEND: 'in-process',
    SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
    SAGEMAKER_TFS_MAX_BATCH_SIZE: '6',
    SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '300000',
    SAGEMAKER_TFS_NUM_BATCH_THREADS: '1',
  });
  await runtime.ready();
});

afterAll(async () => {
  await runtime.end('SIGKILL');
  await remove();
});

/** `{x: value}` as a serialized tf.Example. */
const example = (value: number) => encodeExample({ x: tensorFromValues('float32', [1], [value]) });

async function ask(serialized: Uint8Array): Promise<{ status: number; text: string }> {
  const response = await fetch(`${runtime.url}/invocations`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/x-tfrecord',
      'X-Amzn-SageMaker-Custom-Attributes': 'tfs-method=classify,tfs-signature=classify_x_to_y',
    },
    body: Buffer.concat([...encodeTfRecord(serialized)]),
  });
  return { status: response.status, text: await response.text() };
}

test('honest requests of a batch are answered, garbage gets its own error', async () => {
  const values = [1, 2, 4, 8];
  const [bad, other, ...honest] = await Promise.all([
    ask(Buffer.from(SECRET)),
    ask(Buffer.from('garbage of a second caller')),
    ...values.map((value) => ask(example(value))),
  ]);
  expect(honest.map(({ status, text }) => [status, JSON.parse(text)])).toEqual(
    values.map((value) => [200, { results: [[['', value / 2 + 2 + 1]]] }]),
  );
  expect(bad).toMatchObject({ status: 400, text: expect.stringContaining(SECRET) });
  expect(other).toMatchObject({ status: 400, text: expect.stringContaining('second caller') });
  for (const { text } of [other, ...honest]) expect(text).not.toContain(SECRET);
});
