/** Large bodies of every format go to a thread, and come back from it as they are read here. */
import {
  encodeLengthPrefixed,
  encodeNpy,
  encodeRecordIo,
  encodeSageMakerRecord,
  encodeTfRecord,
  numericTensor,
  type Signature,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { zipSync } from 'fflate';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { plain } from '../images/test-pictures.ts';
import { readInThread, runInThread } from '../threads/text-threads.ts';
import { answerBody, type BodyTask, readBodyInThread } from './body-thread.ts';
import type { DecodeContext } from './codec.ts';
import { answerFit, type FitTask } from './fit-thread.ts';
import { withPictures } from './held-pictures.ts';
import { decodeRequest, requestMediaTypes } from './registry.ts';
import { decodeContext, nestedOf, signatureOf } from './test-signatures.ts';
import { encodeExample } from './tf-example-writer.ts';

jest.mock('../threads/text-threads.ts', () => ({
  readInThread: jest.fn(),
  runInThread: jest.fn(),
}));

const reading = jest.mocked(readInThread);
const running = jest.mocked(runInThread);

beforeEach(() => {
  reading.mockReset().mockResolvedValue(undefined);
  running.mockReset().mockResolvedValue(undefined);
});

const floats = signatureOf({ x: ['float32', [-1, 2]] });
const ints = numericTensor('int64', [2], BigInt64Array.of(1n, 2n));
const int32s = numericTensor('int32', [2], Int32Array.of(1, 2));
const example = encodeExample({ x: ints });
const doubles = numericTensor('float64', [1, 2], Float64Array.of(1, 2));
const npy = Buffer.concat(encodeNpy(doubles));

const columns = { a: [1, 3], b: [2, 4] };
const columnData = Object.entries(columns).map(([name, data]) => ({
  name,
  data,
  type: 'INT32' as const,
}));
const parquet = new Uint8Array(parquetWriteBuffer({ columnData }));

const BODIES: Readonly<Record<string, Uint8Array>> = {
  'application/json': Buffer.from('[[1, 2]]'),
  'application/jsonlines': Buffer.from('[1, 2]\n[3, 4]'),
  'application/jsons': Buffer.from('[1, 2][3, 4]'),
  'text/csv': Buffer.from('1,2\n3,4\n'),
  'application/x-npy': npy,
  'application/x-npz': zipSync({ 'x.npy': npy }),
  'application/x-tfrecord': Buffer.concat(encodeTfRecord(example)),
  'application/x-recordio': Buffer.concat(encodeRecordIo(example)),
  'application/x-recordio-protobuf': Buffer.concat(
    encodeRecordIo(encodeSageMakerRecord({ x: int32s })),
  ),
  'application/octet-stream': Buffer.concat(encodeLengthPrefixed(example)),
  'application/x-parquet': parquet,
  'application/vnd.apache.parquet': parquet,
};

/** One picture a request, which threads of their own decode. */
const PICTURES = ['application/x-image', 'image/*'];

test('all formats are here', () => {
  const known = [...Object.keys(BODIES), ...PICTURES].sort();
  expect([...requestMediaTypes()].sort()).toEqual(known);
});

test.each(Object.entries(BODIES))('%s is offered to a thread', async (contentType, body) => {
  const { inputs } = await decodeRequest(body, decodeContext(floats, contentType));
  expect(nestedOf(inputs).x).toContainEqual([1, 2]);
  expect(reading).toHaveBeenCalledTimes(1);
});

const picture = () => plain(4, 4, 10, 20, 30).png().toBuffer();

/** What a request is after it went to a thread and came back. */
async function throughThread(task: BodyTask, context: DecodeContext) {
  const { result } = await answerBody(structuredClone(task));
  reading.mockResolvedValueOnce(structuredClone(result));
  const read = await readBodyInThread(task);
  if (!read) throw new Error('not read');
  return withPictures(read, context);
}

const pictures = signatureOf({ x: ['float32', [-1, 4, 4, 3]] });
const both: Signature = signatureOf({ x: ['float32', [-1, 4, 4, 3]], n: ['float32', [-1, 2]] });

test.each<[string, Signature, () => Promise<Uint8Array[]>]>([
  ['tf.Examples', floats, async () => [example, example]],
  [
    'strings',
    signatureOf({ x: ['string', [-1]] }),
    async () => [Buffer.from('a'), Buffer.from('')],
  ],
  ['pictures', pictures, async () => [await picture(), await picture()]],
  [
    'tf.Examples with pictures',
    both,
    async () => {
      const png = await picture();
      const features: TensorMap = { x: { dtype: 'string', shape: [1], values: [png] }, n: ints };
      return [encodeExample(features), encodeExample(features)];
    },
  ],
])('%s are in a thread what they are here', async (_, signature, recordsOf) => {
  const records = await recordsOf();
  for (const [kind, contentType, encode] of [
    ['tfrecord', 'application/x-tfrecord', encodeTfRecord],
    ['recordio', 'application/x-recordio', encodeRecordIo],
    ['length-prefixed', 'application/octet-stream', encodeLengthPrefixed],
  ] as const) {
    const body = Buffer.concat(records.flatMap((record) => encode(record)));
    const context = decodeContext(signature, contentType);
    const here = await decodeRequest(body, context);
    const { signal: _none, ...sent } = context;
    const there = await throughThread({ kind, body: new Uint8Array(body), context: sent }, context);
    expect(nestedOf(there.inputs)).toEqual(nestedOf(here.inputs));
    expect(there.form).toBe(here.form);
  }
});

test('a batch of another dtype is offered to a thread, whatever the size of its body', async () => {
  const body = Buffer.concat(encodeRecordIo(encodeSageMakerRecord({ x: int32s })));
  await decodeRequest(body, decodeContext(floats, 'application/x-recordio-protobuf'));
  expect(running).toHaveBeenCalledTimes(1);
  const [bytes, taskOf] = running.mock.calls[0] as Parameters<typeof runInThread>;
  expect(bytes).toBe(8);
  const { result } = answerFit(structuredClone(taskOf().task) as FitTask);
  expect(result.x).toMatchObject({ dtype: 'float32', shape: [1, 2] });
});
