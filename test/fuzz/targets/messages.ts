/** Headers of requests, messages of TensorFlow, and replies of the model server as whole buffers. */
import { fromBinary } from '@bufbuild/protobuf';
import {
  checkExample,
  DEFAULT_DECODE_LIMITS,
  decodeExample,
  parseRequestAttributes,
  readPredictReply,
  ServingError,
} from '@sagemaker-tfs/container/parts';
import { signatureOf } from '@sagemaker-tfs/container/testing';
import {
  encodeHeaders,
  FrameReader,
  frame,
  HeaderDecoder,
  Http2ProtocolError,
  HttpProtocolError,
  ResponseReader,
} from '@sagemaker-tfs/container/transport';
import {
  decodePredictResponse,
  decodeTensorProto,
  encodePredictResponse,
  encodeTensorProto,
  numericTensor,
  type Tensor,
  TensorError,
  toNested,
} from '@sagemaker-tfs/tensors';
import { acceptableTypes, parseMediaType } from '@sagemaker-tfs/tensors/media-type';
import { ExampleSchema } from '@sagemaker-tfs/tensors/protos';
import { slip } from '../build/bytes.ts';
import { answerOf, REPLIES as HTTP_REPLIES, REPLY_TOKENS } from '../build/http1.ts';
import { headerBlock, serverBytes } from '../build/http2.ts';
import { sizesOf, tensorText } from '../build/json-text.ts';
import { changedMessage } from '../build/protobuf.ts';
import { mutate, pick, type Random } from '../random.ts';
import type { Target } from '../target.ts';
import {
  bytesOf,
  EXAMPLE_MESSAGES,
  floats,
  isClientError,
  JSON_TOKENS,
  strings,
} from './codecs.ts';

const isTensorError = (error: unknown): boolean => error instanceof TensorError;

function isExample(bytes: Uint8Array): boolean {
  try {
    checkExample(bytes, DEFAULT_DECODE_LIMITS);
    return true;
  } catch (error) {
    if (isTensorError(error)) return false;
    throw error;
  }
}

const texts =
  (...list: string[]) =>
  async () =>
    list.map((text) => Buffer.from(text));

/** Parts of the grammar joined with its own separators, and a slip now and then. */
function joined(random: Random, parts: readonly string[], separators: readonly string[]): Buffer {
  const list = Array.from({ length: 1 + random(4) }, () => pick(random, parts));
  const text = list.join(pick(random, separators));
  return random(4)
    ? Buffer.from(text, 'latin1')
    : mutate(random, [Buffer.from(text, 'latin1')], separators);
}

const ATTRIBUTES = [
  ...['tfs-transport=grpc', 'tfs-transport=rest', 'tfs-transport=x', 'tfs-model-name=a%2Cb'],
  ...['tfs-model-version=1', 'tfs-model-version=99999999999999999999', 'tfs-method=predict'],
  ...['tfs-method=classify', 'tfs-signature=serving_default', 'tfs-outputs=a%2Cb', 'tfs-outputs='],
  ...[
    'other=1',
    'tfs-unknown=1',
    'tfs-model-version=-1',
    'tfs-model-name=%zz',
    'tfs-model-name=../x',
  ],
];
const MEDIA = [
  ...['application/json', 'text/csv; header=present', '*/*;q=0.5', 'image/*', 'text/csv;q=0'],
  ...[
    'application/json; charset="utf-8"',
    'a/b;c=d;e="f\\"g"',
    'application/x-npy;q=1.000',
    'text',
  ],
];

/** Tensors of many dtypes. */
const TENSORS: readonly Tensor[] = [
  floats(2, 3),
  floats(0),
  strings,
  numericTensor('int64', [2], BigInt64Array.of(1n, -1n)),
  numericTensor('uint8', [3], Uint8Array.of(1, 2, 3)),
  numericTensor('float64', [], Float64Array.of(0.5)),
  numericTensor('bool', [2], Uint8Array.of(0, 1)),
  numericTensor('int32', [1, 1], Int32Array.of(-7)),
];
/** dtype 1 and 9, shape [2], and values packed, or the first for all. */
const BY_VALUE = [
  '08011204120208022a080000803f0000803f',
  '08091204120208025202ff01',
  '08011204120208022d0000803f',
  '0807120412020802420161420162',
  '080a1204120208025a0101',
].map((hex) => Buffer.from(hex, 'hex'));
const tensorSeeds = async (): Promise<Uint8Array[]> => [
  ...TENSORS.map((tensor) => bytesOf(encodeTensorProto(tensor))),
  ...BY_VALUE,
];

const REPLIES = [
  signatureOf({}, { y: ['float32', [-1, -1]] }),
  signatureOf({}, { y: ['float32', [-1]], t: ['string', [-1]] }),
];

function replyText(random: Random, reader: Random): string {
  const outputs = Object.entries(pick(reader, REPLIES).outputs);
  const tensors = outputs.map(
    ([name, spec]) => [name, tensorText(random, spec, sizesOf(random, spec))] as const,
  );
  const [only] = tensors;
  const all = `{${tensors.map(([name, text]) => `"${name}": ${text}`).join(',')}}`;
  const value = outputs.length === 1 && only && random(4) ? only[1] : all;
  return random(12)
    ? `{"outputs": ${value}}`
    : pick(random, [`{"error":"x"}`, value, '{"outputs":1,"outputs":[2]}']);
}

/** Of the nested lists too: an empty tensor may still have many empty rows. */
const size = ({ shape }: Tensor): number =>
  shape.reduce((product, one) => product * Math.max(1, one), 1);

/** The targets. */
export const MESSAGES: readonly Target[] = [
  {
    name: 'custom-attributes',
    bytesPerByte: 64,
    seeds: texts(
      'tfs-transport=grpc,tfs-model-name=a%2Cb,tfs-model-version=1',
      'tfs-outputs=a%2Cb,tfs-method=predict',
    ),
    tokens: ['=', ',', '%', '%2C', '%zz', '%c3%28', 'tfs-model-version=', '99999999999999999999'],
    build: (random) => joined(random, ATTRIBUTES, [',', ', ', ',,', ';', '=']),
    isRefusal: isClientError,
    read: (bytes) => parseRequestAttributes(bytes.toString('latin1')),
  },
  {
    name: 'media-types',
    bytesPerByte: 64,
    seeds: texts(
      'application/json; charset=utf-8',
      'text/csv; header=present, */*;q=0.5',
      'image/*',
    ),
    tokens: ['/', ';', '=', ',', '"', '*', 'q=', '0.5', 'q=-1'],
    build: (random) => joined(random, MEDIA, [',', ', ', ';', ' ,,']),
    isRefusal: isClientError,
    read: (bytes) => [
      parseMediaType(bytes.toString('latin1')),
      acceptableTypes(bytes.toString('latin1'), ['application/json', 'text/csv']),
    ],
  },
  {
    name: 'tensor-proto',
    bytesPerByte: 64,
    seeds: tensorSeeds,
    tokens: ['\x12', '\x08\x01', '\x22', '\x2d', '\x3a', '\x42\0'],
    build: changedMessage,
    isRefusal: isTensorError,
    read: (bytes) => {
      const tensor = decodeTensorProto(bytes);
      return [tensor.shape, size(tensor) < 10_000 ? toNested(tensor) : []];
    },
  },
  {
    name: 'predict-response',
    bytesPerByte: 64,
    seeds: async () => [
      bytesOf(
        encodePredictResponse({
          model: { name: 'm', version: '1' },
          signature: 's',
          outputs: { y: floats(2), t: strings },
        }),
      ),
    ],
    tokens: ['\x0a', '\x12', '\x1a'],
    build: changedMessage,
    isRefusal: isTensorError,
    read: (bytes) => decodePredictResponse(bytes).model,
  },
  {
    name: 'tf-example',
    bytesPerByte: 64,
    seeds: async () => EXAMPLE_MESSAGES,
    tokens: ['\x0a', '\x12', '\x1a', '\x0d', '\x08'],
    build: changedMessage,
    isRefusal: isTensorError,
    read: (bytes) => {
      // What passes the check must be readable for TensorFlow Serving, here for another reader of protobuf.
      if (isExample(bytes)) fromBinary(ExampleSchema, bytes);
      return Object.keys(decodeExample(bytes, DEFAULT_DECODE_LIMITS) ?? {});
    },
  },
  {
    name: 'rest-reply-json',
    bytesPerByte: 64,
    seeds: texts('{"outputs":[[1,2]]}', '{"outputs":{"y":[1],"t":["a"]}}'),
    tokens: JSON_TOKENS,
    build: (random, _seeds, reader) => Buffer.from(replyText(random, reader)),
    isRefusal: (error) => error instanceof ServingError || isTensorError(error),
    read: (bytes, random) => {
      const how = { signature: pick(random, REPLIES), outputs: undefined, maxStrings: 2 ** 20 };
      return readPredictReply(bytes, how);
    },
  },
  {
    name: 'rest-reply-http',
    bytesPerByte: 64,
    seeds: texts(...HTTP_REPLIES),
    tokens: [...REPLY_TOKENS, 'ffffffffffff', '100 Continue'],
    build: (random) =>
      Buffer.from(answerOf(random, pick(random, ['ok', '', 'x'.repeat(900)])), 'latin1'),
    isRefusal: (error) => error instanceof HttpProtocolError,
    read: readHttp,
  },
  {
    name: 'http2-frames',
    bytesPerByte: 64,
    seeds: async () => [
      Buffer.concat([
        frame({ type: 4, flags: 0, stream: 0 }, Buffer.alloc(6)),
        frame({ type: 1, flags: 4, stream: 1 }, encodeHeaders([[':status', '200']])),
        frame({ type: 0, flags: 8, stream: 1 }, Buffer.from('\x02data\0\0', 'latin1')),
      ]),
    ],
    tokens: ['\0\0\0\x04\0\0\0\0\0', '\0\0\0\0\x08'],
    build: (random) => serverBytes(random, Buffer.alloc(random(40))),
    isRefusal: (error) => error instanceof Http2ProtocolError,
    read: readFrames,
  },
  {
    name: 'hpack',
    bytesPerByte: 64,
    seeds: async () => [
      encodeHeaders([
        [':status', '200'],
        ['grpc-status', '0'],
      ]),
      Buffer.from('828684418cf1e3c2e5f23a6ba0ab90f4ff', 'hex'),
    ],
    tokens: ['\x80', '\xff', '\x3f\xe1\x1f', '\x40', '\x7f', '\x80\x80\x80\x80\x80'],
    build: (random) => headerBlock(random, [[':status', '200']]),
    // Node's own are of another realm in tests.
    isRefusal: (error) => (error as Error).name === 'RangeError',
    read: (bytes, random) => {
      // What one block leaves in the table, the next may name.
      const decoder = new HeaderDecoder();
      const at = slip(random, bytes.length);
      return [decoder.decode(bytes), decoder.decode(bytes.subarray(0, at))];
    },
  },
];

function readHttp(bytes: Buffer, random: Random): number {
  let taken = 0;
  const reader = new ResponseReader({
    begin: () => undefined,
    room: () => undefined,
    filled: () => undefined,
    push: (piece) => {
      taken += piece.length;
    },
  });
  inPieces(bytes, random, (piece) => reader.push(piece));
  reader.end();
  return taken;
}

function readFrames(bytes: Buffer, random: Random): number {
  let frames = 0;
  const handler = {
    data: () => undefined,
    room: () => undefined,
    filled: () => undefined,
    knows: () => true,
    frame: () => {
      frames += 1;
    },
  };
  const reader = new FrameReader(handler, 16_384);
  inPieces(bytes, random, (piece) => reader.push(piece));
  return frames;
}

/** As a socket would give them. */
export function inPieces(bytes: Buffer, random: Random, take: (piece: Buffer) => void): void {
  for (let at = 0; at < bytes.length; ) {
    const size = 1 + random(2 * bytes.length);
    take(bytes.subarray(at, at + size));
    at += size;
  }
}
