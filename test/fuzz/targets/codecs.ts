/** Bodies of requests, by media type. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  checkCall,
  DEFAULT_DECODE_LIMITS,
  decodeRequest,
  encodeExample,
  ServingError,
  unsnapped,
} from '@sagemaker-tfs/container/parts';
import {
  crafted,
  dictionaryPage,
  floatPage,
  packedPage,
  runPage,
  signatureOf,
} from '@sagemaker-tfs/container/testing';
import {
  encodeLengthPrefixed,
  encodeNpy,
  encodeNpz,
  encodeRecordIo,
  encodeSageMakerRecord,
  encodeTfRecord,
  numericTensor,
  type Signature,
  stringTensor,
  type Tensor,
  TensorError,
} from '@sagemaker-tfs/tensors';
import { snappyUncompress } from 'hyparquet';
import { npyOf, npzOf } from '../build/arrays.ts';
import { csvText, linesText, requestText } from '../build/json-text.ts';
import { changedMessage } from '../build/protobuf.ts';
import { type Frame, lengthPrefixed, recordIo, recordsOf, tfRecord } from '../build/records.ts';
import { snappyOf, toldSize } from '../build/snappy.ts';
import { edgeNumber, mutate, pick, type Random } from '../random.ts';
import type { Target } from '../target.ts';

const SIGNATURES: readonly Signature[] = [
  signatureOf({ x: ['float32', [-1]] }),
  signatureOf({ x: ['float32', [-1, 2]] }),
  signatureOf({ x: ['float32', undefined] }),
  signatureOf({ x: ['int64', [-1, -1]], s: ['string', [-1]] }),
  signatureOf({ s: ['string', [-1]] }),
  signatureOf({ b: ['bool', [-1]] }),
  signatureOf({ image: ['uint8', [-1, 8, 8, 3]] }),
];
const LIMITS = {
  ...DEFAULT_DECODE_LIMITS,
  maxDecodedBytes: 64 * 2 ** 20,
  maxImagePixels: 1_000_000,
  parquet: true,
};

/** A module that is imported late has a class of its own here, which it has not in the bundle. */
const isServingError = (error: unknown): error is ServingError =>
  error instanceof ServingError || (error instanceof Error && error.name === ServingError.name);

/** A fault of the client's. */
export const isClientError = (error: unknown): boolean =>
  isServingError(error) && error.status >= 400 && error.status < 500;

interface Body {
  readonly contentType: string;
  readonly bytesPerByte: number;
  readonly ownMiB?: number;
  readonly tokens: readonly string[];
  readonly seeds: () => readonly Uint8Array[];
  readonly build: (random: Random, signature: Signature) => Buffer;
}

/** A body of a media type, read for one of the signatures, and checked against it. */
function codec(name: string, { contentType, seeds, build, ...rest }: Body): Target {
  return {
    ...rest,
    name,
    seeds: async () => seeds(),
    isRefusal: isClientError,
    build: (random, _seeds, reader) => build(random, pick(reader, SIGNATURES)),
    async read(bytes, random) {
      const signature = pick(random, SIGNATURES);
      const context = { signature, contentType, limits: LIMITS };
      const { inputs, signatureName } = await decodeRequest(bytes, context);
      return signatureName === undefined ? checkCall(signature, inputs).inputs : signatureName;
    },
  };
}

/** Numbers from 0 on. */
export const floats = (...shape: number[]): Tensor => {
  const count = shape.reduce((product, size) => product * size, 1);
  return numericTensor(
    'float32',
    shape,
    Float32Array.from({ length: count }, (_, i) => i),
  );
};
export const strings: Tensor = stringTensor([2], ['a', 'text of some length']);
export const bytesOf = (chunks: readonly Uint8Array[]): Buffer => Buffer.concat(chunks);
const texts =
  (...list: string[]) =>
  () =>
    list.map((text) => Buffer.from(text));

/** Words of JSON. */
export const JSON_TOKENS: readonly string[] = [
  ...['[', ']', '{', '}', ',', ':', '"', '\\u0000', '\\ud800', '1e999', '-0', 'NaN', '-Infinity'],
  ...['null', 'true', '{"b64":"AA=="}', '"instances":', '"inputs":', '"examples":', '\n'],
  ...[
    '"signature_name":',
    '12345678901234567890',
    '0.1',
    '__proto__',
    'constructor',
    '"x":',
    '\u00ff',
  ],
];
const CSV_TOKENS = [
  ...[',', '"', '""', '\n', '\r\n', '\r', 'nan', '-inf', '0x10', '1e400', '\u00ff', '__proto__'],
];
const NPY_TOKENS = [
  ...["'descr': ", "'<f4'", "'|S1'", "'>U2'", "'|O'", '(', ')', ',', 'True', '1', '-1', '0'],
  '999999999999',
];

const longs = numericTensor('int64', [1, 1], new BigInt64Array(1));
/** By the inputs that each has. */
const EXAMPLES: Readonly<Record<string, readonly Uint8Array[]>> = {
  x: [encodeExample({ x: floats(1) }), encodeExample({ x: floats(2) })],
  s: [encodeExample({ s: stringTensor([1], ['a']) })],
  b: [encodeExample({ b: numericTensor('int64', [1], new BigInt64Array(1)) })],
  'x s': [
    encodeExample({ x: longs, s: stringTensor([1], ['b']) }),
    encodeExample({ x: floats(2), s: strings }),
  ],
  image: [encodeExample({ image: numericTensor('int64', [192], new BigInt64Array(192)) })],
};
const EXAMPLE = encodeExample({ x: floats(2), s: strings });
/** Of any inputs. */
export const EXAMPLE_MESSAGES: readonly Uint8Array[] = Object.values(EXAMPLES).flat();
const RECORDS: Readonly<Record<string, readonly Uint8Array[]>> = {
  x: [1, 2].map((count) => encodeSageMakerRecord({ x: floats(count) })),
  b: [encodeSageMakerRecord({ b: numericTensor('int32', [1], new Int32Array(1)) })],
  'x s': [encodeSageMakerRecord({ x: floats(2), values: floats(3) })],
  '': [1, 192].map((count) => encodeSageMakerRecord({ values: floats(count) })),
};

/** A message that has the inputs, or now and then others'; whole, or with fields changed. */
function messageFor(
  random: Random,
  { inputs }: Signature,
  messages: Readonly<Record<string, readonly Uint8Array[]>>,
): Buffer {
  const all = Object.values(messages).flat();
  const fitting = random(16) ? messages[Object.keys(inputs).join(' ')] : undefined;
  const seeds = fitting ?? messages[''] ?? all;
  return random(2) ? changedMessage(random, seeds) : Buffer.from(pick(random, seeds));
}

/** Text for strings, messages else. */
function content(random: Random, signature: Signature): Buffer {
  const names = Object.keys(signature.inputs).join();
  if (names === 's' && random(2)) return Buffer.from(pick(random, ['a', '', 'text', '\xff']));
  if (random(24) === 0) return mutate(random, EXAMPLE_MESSAGES, []);
  return messageFor(random, signature, EXAMPLES);
}

const framed =
  (frame: Frame) =>
  (random: Random, signature: Signature): Buffer =>
    recordsOf(random, frame, () => content(random, signature));

const npySpec = ({ inputs }: Signature, random: Random) => pick(random, Object.values(inputs));

/** What pyarrow writes, of one column `x` or of thirteen. */
const parquetFiles = () =>
  ['holes', 'holes-dictionary', 'v2', 'gzip'].map((name) =>
    readFileSync(
      join(__dirname, '../../../container/src/codecs/parquet/fixtures', `${name}.parquet`),
    ),
  );

/** A file of one column, in which one count or none is wrong. */
function parquetOf(random: Random): Buffer {
  const wrong = random(9);
  const count = (which: number) => (which === wrong ? edgeNumber(random) : 4);
  const pages = () => {
    if (wrong === 4) return runPage(4, edgeNumber(random));
    if (wrong === 6) {
      const dictionary = dictionaryPage(edgeNumber(random), edgeNumber(random), Buffer.alloc(16));
      return Buffer.concat([dictionary, runPage(4, 4)]);
    }
    // Snappy's tags, most of them wrong.
    if (wrong === 7) return packedPage(Buffer.from(Array.from({ length: 20 }, () => random(256))));
    return floatPage(count(0), { size: wrong === 1 ? edgeNumber(random) : 16 });
  };
  const file = crafted({
    rows: count(2),
    values: count(3),
    chunks: wrong === 5 ? 2 : 1,
    page: pages(),
    codec: wrong === 7 ? 1 : 0,
  });
  return random(4) ? file : mutate(random, [file], []);
}

/** What hyparquet reads; undefined if it refuses, as it does a few right ones. */
function unsnappedOtherwise(bytes: Uint8Array, size: number): Uint8Array | undefined {
  const plain = new Uint8Array(size);
  try {
    snappyUncompress(bytes, plain);
    return plain;
  } catch {
    return undefined;
  }
}

/** The codecs. */
export const CODECS: readonly Target[] = [
  codec('json', {
    contentType: 'application/json',
    bytesPerByte: 64,
    seeds: texts(
      '{"instances":[1.5,2,3]}',
      '{"instances":[[1,2],[3,4]]}',
      '{"inputs":{"x":[[1,2]],"s":["a"]}}',
      '{"examples":[{"x":1.0,"s":"a"},{"x":2.0,"s":{"b64":"YQ=="}}]}',
      '[[1,2],[3,4]]',
      `{"instances":[${Array(200).fill('0.25').join(',')}]}`,
    ),
    tokens: JSON_TOKENS,
    build: (random, signature) => Buffer.from(requestText(random, signature)),
  }),
  codec('json-lines', {
    contentType: 'application/jsonlines',
    bytesPerByte: 64,
    seeds: texts('[1,2]\n[3,4]\n', '"a"\n"b"', '{"x":1}{"x":2}'),
    tokens: JSON_TOKENS,
    build: (random, signature) => Buffer.from(linesText(random, signature)),
  }),
  codec('csv', {
    contentType: 'text/csv',
    bytesPerByte: 64,
    seeds: texts('1,2\n3,4\n', 'a\n"b ""c""\nd"\n', '1\r2\r', '1;2'),
    tokens: CSV_TOKENS,
    build: (random, signature) => Buffer.from(csvText(random, signature, false)),
  }),
  codec('csv-header', {
    contentType: 'text/csv; header=present',
    bytesPerByte: 64,
    seeds: texts('x,s\n1,a\n2,b\n', 'x\n1\n'),
    tokens: CSV_TOKENS,
    build: (random, signature) => Buffer.from(csvText(random, signature, true)),
  }),
  codec('npy', {
    contentType: 'application/x-npy',
    bytesPerByte: 64,
    seeds: () =>
      [floats(3), floats(2, 2), strings, longs].map((tensor) => bytesOf(encodeNpy(tensor))),
    tokens: NPY_TOKENS,
    build: (random, signature) => npyOf(random, npySpec(signature, random)),
  }),
  codec('npz', {
    contentType: 'application/x-npz',
    // What deflate makes of a byte, and a copy.
    bytesPerByte: 2_100,
    seeds: () => [
      bytesOf(encodeNpz({ x: floats(3) })),
      bytesOf(encodeNpz({ x: longs, s: strings })),
    ],
    tokens: ['PK\x01\x02', 'PK\x03\x04', 'PK\x05\x06', '.npy', 'x.npy'],
    build: npzOf,
  }),
  codec('tfrecord', {
    contentType: 'application/x-tfrecord',
    bytesPerByte: 64,
    seeds: () => [EXAMPLE, Buffer.from('text')].map((one) => bytesOf(encodeTfRecord(one))),
    tokens: ['x', 's', '\x0a', '\x12', '\x1a'],
    build: framed(tfRecord),
  }),
  codec('recordio', {
    contentType: 'application/x-recordio',
    bytesPerByte: 64,
    seeds: () => [
      bytesOf(encodeRecordIo(EXAMPLE)),
      bytesOf(encodeRecordIo(Buffer.from('0a23d7ce0a23d7ce', 'hex'))),
    ],
    tokens: ['\x0a\x23\xd7\xce'],
    build: framed(recordIo),
  }),
  codec('recordio-protobuf', {
    contentType: 'application/x-recordio-protobuf',
    bytesPerByte: 64,
    seeds: () =>
      Object.values(RECORDS)
        .flat()
        .map((one) => bytesOf(encodeRecordIo(one))),
    tokens: ['x', 'values', '\x0a', '\x12', '\x1a'],
    build: (random, signature) =>
      recordsOf(random, recordIo, () => messageFor(random, signature, RECORDS)),
  }),
  codec('length-prefixed', {
    contentType: 'application/octet-stream',
    bytesPerByte: 64,
    seeds: () => [
      bytesOf(encodeLengthPrefixed(EXAMPLE)),
      bytesOf(encodeLengthPrefixed(Buffer.from('a'))),
    ],
    tokens: ['\0\0\0\0', '\0\0\0\x01'],
    build: framed(lengthPrefixed),
  }),
  codec('parquet', {
    contentType: 'application/x-parquet',
    // What deflate makes of a byte, and a copy.
    bytesPerByte: 2_100,
    seeds: parquetFiles,
    tokens: ['PAR1', '\x15\x00', '\x19\x1c', '\x00\x00'],
    build: parquetOf,
  }),
  {
    name: 'snappy',
    bytesPerByte: 64,
    seeds: async () => ['00', '0400616263', '0c046162260200'].map((hex) => Buffer.from(hex, 'hex')),
    tokens: ['\xfc', '\xf0', '\x01\x01', '\xfe\x01\x00', '\x00'],
    build: snappyOf,
    isRefusal: (error) => error instanceof TensorError,
    read(bytes, random) {
      const plain = unsnapped(bytes, toldSize(bytes, random));
      const other = unsnappedOtherwise(bytes, plain.length);
      if (other && Buffer.compare(plain, other) !== 0) throw new Error('hyparquet reads otherwise');
      return plain;
    },
  },
];
