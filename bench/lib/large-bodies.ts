/** Bodies of about 25 MB, the most that a real-time endpoint takes, in every format and the worst of its forms. */

import type { DecodeContext } from '@sagemaker-tfs/container/parts';
import { PREPROCESS_DEFAULTS, type Preprocess } from '@sagemaker-tfs/manifest';
import {
  DTYPES,
  encodeNpy,
  encodeRecordIo,
  encodeTfRecord,
  numericTensor,
  type Signature,
  type TensorSpec,
} from '@sagemaker-tfs/tensors';
import { zipSync } from 'fflate';
import sharp from 'sharp';

const BYTES = 25_000_000;

/** A body, and what reads it. */
export interface LargeBody {
  readonly name: string;
  readonly body: () => Uint8Array | Promise<Uint8Array>;
  readonly context: Omit<DecodeContext, 'limits'>;
}

function input(dtype: keyof typeof DTYPES, shape: readonly number[]): Signature {
  const spec: TensorSpec = { tensorName: 'x:0', dtype, dtypeEnum: DTYPES[dtype].enumValue, shape };
  return { key: 'serving_default', methodName: '', inputs: { x: spec }, outputs: {} };
}

const floats = input('float32', [-1]);
const rows = input('float32', [-1, -1]);
const strings = input('string', [-1]);

const repeated = (text: string | Uint8Array, bytes = BYTES) => {
  const piece = Buffer.from(text);
  return Buffer.alloc(Math.floor(bytes / piece.length) * piece.length, piece);
};
const field = (number: number, content: Uint8Array): Buffer => {
  const head: number[] = [number * 8 + 2];
  let rest = content.byteLength;
  for (; rest >= 128; rest = Math.floor(rest / 128)) head.push((rest % 128) + 128);
  return Buffer.concat([Buffer.from([...head, rest]), content]);
};
/** A tf.Example of one feature `x`, whose list of this kind has this content. */
const example = (kind: number, list: Uint8Array) =>
  field(1, field(1, Buffer.concat([field(1, Buffer.from('x')), field(2, field(kind, list))])));
/** A SageMaker Record of one feature `x`. */
const record = (kind: number, vector: Uint8Array) =>
  field(1, Buffer.concat([field(1, Buffer.from('x')), field(2, field(kind, vector))]));
const many = (chunks: readonly Uint8Array[]) => repeated(Buffer.concat(chunks));
const prefixed = (content: Uint8Array) => {
  const head = Buffer.alloc(4);
  head.writeUInt32BE(content.byteLength);
  return [head, content];
};
const int64s = (count: number) => field(1, Buffer.alloc(count, 7));
const float32s = (count: number) => field(1, Buffer.alloc(count * 4));

const INT64_LIST = 3;
const FLOAT_LIST = 2;
const BYTES_LIST = 1;
const FLOAT32 = 2;
const INT32 = 7;

const text = (
  name: string,
  contentType: string,
  signature: Signature,
  body: LargeBody['body'],
) => ({
  name,
  body,
  context: { signature, contentType },
});
const [JSON_TYPE, CSV, NPY, NPZ, TFRECORD, RECORDIO, PROTOBUF, PREFIXED] = [
  'application/json',
  'text/csv',
  'application/x-npy',
  'application/x-npz',
  'application/x-tfrecord',
  'application/x-recordio',
  'application/x-recordio-protobuf',
  'application/octet-stream',
];

const npy = (dtype: 'float64' | 'float32' | 'int64', count: number) =>
  Buffer.concat(
    encodeNpy(numericTensor(dtype, [count], new Uint8Array(count * DTYPES[dtype].size))),
  );

const picture = input('float32', [-1, 224, 224, 3]);
const big = { width: 10_000, height: 10_000, channels: 3, background: '#204060' } as const;
const image = (
  name: string,
  make: () => Promise<Buffer>,
  preprocess: Partial<Preprocess>,
  signature = picture,
): LargeBody => ({
  name,
  body: make,
  context: {
    signature,
    contentType: 'application/x-image',
    preprocess: { ...PREPROCESS_DEFAULTS, ...preprocess },
  },
});

export const LARGE_BODIES: readonly LargeBody[] = [
  text('JSON, rows of numbers', JSON_TYPE, floats, () =>
    Buffer.concat([Buffer.from('{"instances": [0'), repeated(',1.5'), Buffer.from(']}')]),
  ),
  text('JSON, strings', JSON_TYPE, strings, () =>
    Buffer.concat([Buffer.from('["a"'), repeated(',"some text of 25 bytes..."'), Buffer.from(']')]),
  ),
  text('CSV, numbers', CSV, floats, () => repeated('1.5\n', 4_000_000)),
  text('CSV, one line', CSV, rows, () => Buffer.concat([repeated('1.5,'), Buffer.from('1')])),
  text('npy, float64 to float32', NPY, floats, () => npy('float64', BYTES / 8)),
  text('npy, as it lies', NPY, floats, () => npy('float32', BYTES / 4)),
  text('npz, int64 to float32', NPZ, floats, () =>
    zipSync({ 'x.npy': npy('int64', BYTES / 8) }, { level: 0 }),
  ),
  text('TFRecord, tf.Examples of 10 int64 for float32', TFRECORD, rows, () =>
    many(encodeTfRecord(example(INT64_LIST, int64s(30)))),
  ),
  text('TFRecord, tf.Examples of 10,000 float32', TFRECORD, rows, () =>
    many(encodeTfRecord(example(FLOAT_LIST, float32s(10_000)))),
  ),
  text('TFRecord, one tf.Example of 25 million int64', TFRECORD, rows, () =>
    many(encodeTfRecord(example(INT64_LIST, int64s(BYTES - 100)))),
  ),
  text('TFRecord, one tf.Example of int64 one by one', TFRECORD, rows, () =>
    many(encodeTfRecord(example(INT64_LIST, repeated(Buffer.from([8, 7]), BYTES - 100)))),
  ),
  text('TFRecord, one tf.Example of floats one by one', TFRECORD, rows, () =>
    many(encodeTfRecord(example(FLOAT_LIST, repeated(Buffer.from([13, 0, 0, 0, 0]), BYTES - 100)))),
  ),
  text('TFRecord, one tf.Example of a million strings', TFRECORD, input('string', [-1, -1]), () =>
    many(encodeTfRecord(example(BYTES_LIST, repeated(field(1, Buffer.alloc(20)), 22_000_000)))),
  ),
  text('TFRecord, one string', TFRECORD, strings, () =>
    Buffer.concat(encodeTfRecord(Buffer.alloc(BYTES))),
  ),
  text('TFRecord, one record for numbers', TFRECORD, floats, () =>
    Buffer.concat(encodeTfRecord(Buffer.alloc(BYTES))),
  ),
  text('TFRecord, one record of empty fields', TFRECORD, strings, () =>
    Buffer.concat(encodeTfRecord(repeated(Buffer.from([18, 0])))),
  ),
  text('RecordIO, one record in 65,536 parts', RECORDIO, strings, () => {
    const part = (flag: number) => {
      const b = Buffer.alloc(380);
      b.writeUInt32LE(0xced7230a);
      b.writeUInt32LE((flag * 2 ** 29 + 372) >>> 0, 4);
      return b;
    };
    return Buffer.concat([part(1), Buffer.alloc(380 * 65_000, part(2)), part(3)]);
  }),
  text('RecordIO, a million parts of nothing', RECORDIO, strings, () =>
    repeated(Buffer.concat(encodeRecordIo(new Uint8Array(24)))),
  ),
  text('RecordIO-protobuf, int32 for float32', PROTOBUF, rows, () =>
    many(encodeRecordIo(record(INT32, int64s(36)))),
  ),
  text('RecordIO-protobuf, one Record of int32', PROTOBUF, rows, () =>
    many(encodeRecordIo(record(INT32, int64s(BYTES - 100)))),
  ),
  text('RecordIO-protobuf, int32 one by one', PROTOBUF, rows, () =>
    many(encodeRecordIo(record(INT32, repeated(Buffer.from([8, 7]), BYTES - 100)))),
  ),
  text('RecordIO-protobuf, float32 in runs of one', PROTOBUF, rows, () =>
    many(encodeRecordIo(record(FLOAT32, repeated(Buffer.from([10, 4, 0, 0, 0, 0]), BYTES - 100)))),
  ),
  text('RecordIO-protobuf, sparse', PROTOBUF, rows, () =>
    many(
      encodeRecordIo(
        record(
          FLOAT32,
          Buffer.concat([
            field(1, Buffer.alloc(4 * 4_900_000)),
            field(2, Buffer.alloc(4_900_000)),
            field(3, Buffer.from([0x80, 0x80, 0x80, 0x08])),
          ]),
        ),
      ),
    ),
  ),
  text('length-prefixed tf.Examples of 30 int64', PREFIXED, rows, () =>
    many(prefixed(example(INT64_LIST, int64s(30)))),
  ),
  text('length-prefixed strings', PREFIXED, strings, () => many(prefixed(Buffer.alloc(30)))),
  image('PNG, 100 megapixels', () => sharp({ create: big }).png().toBuffer(), {}),
  image('PNG, 100 megapixels, antialias', () => sharp({ create: big }).png().toBuffer(), {
    antialias: true,
  }),
  image('PNG, 100 megapixels, area', () => sharp({ create: big }).png().toBuffer(), {
    interpolation: 'area',
  }),
  image('PNG, 100 megapixels, bgr', () => sharp({ create: big }).png().toBuffer(), {
    channels: 'bgr',
  }),
  image(
    'PNG, 100 megapixels, for gray',
    () => sharp({ create: big }).png().toBuffer(),
    { channels: 'gray' },
    input('float32', [-1, 224, 224, 1]),
  ),
  image(
    'PNG, gray of 100 megapixels, for gray',
    () => sharp({ create: big }).grayscale().png().toBuffer(),
    { channels: 'gray' },
    input('float32', [-1, 224, 224, 1]),
  ),
  image(
    'JPEG, CMYK of 100 megapixels',
    () => sharp({ create: big }).toColourspace('cmyk').jpeg().toBuffer(),
    {},
  ),
  image(
    'JPEG, turned, 100 megapixels',
    () => sharp({ create: big }).withMetadata({ orientation: 6 }).jpeg().toBuffer(),
    {},
  ),
  image('JPEG, 100 megapixels', () => sharp({ create: big }).jpeg().toBuffer(), {}),
  image(
    'TIFF, CMYK of 100 megapixels',
    () => sharp({ create: big }).toColourspace('cmyk').tiff({ compression: 'lzw' }).toBuffer(),
    {},
  ),
  image(
    'PNG, 100 megapixels of any size',
    () => sharp({ create: big }).png().toBuffer(),
    {},
    input('float32', [-1, -1, -1, 3]),
  ),
];
