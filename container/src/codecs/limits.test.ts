/** Every limit of what a body may make its readers do: a body that needs just so much is read with it, and not with one less. */
import {
  encodeNpy,
  encodeNpz,
  encodeRecordIo,
  encodeSageMakerRecord,
  encodeTfRecord,
  numericTensor,
  type Signature,
  stringTensor,
  type Tensor,
} from '@sagemaker-tfs/tensors';
import { zipSync } from 'fflate';
import sharp from 'sharp';
import { DEFAULT_DECODE_LIMITS, type DecodeLimits } from '../decode-limits.ts';
import { readEnvironment } from '../environment.ts';
import { ServingError } from '../errors.ts';
import { countScans } from '../images/jpeg-header.ts';
import { crafted } from './parquet/crafted.ts';
import { decodeRequest } from './registry.ts';
import { signatureOf } from './test-signatures.ts';
import { encodeExample } from './tf-example-writer.ts';

/** A body, and how much of a limit it needs. */
interface Case {
  readonly contentType: string;
  readonly signature: Signature;
  readonly body: Uint8Array;
  readonly needs: number;
  /** Limits beside it that would let the body through, or hide the one that is meant. */
  readonly others?: Partial<DecodeLimits>;
}

const floats = signatureOf({ x: ['float32', [-1, -1]] });
const strings = signatureOf({ s: ['string', [-1]] });
const pixels = signatureOf({ image: ['uint8', [-1, 8, 8, 3]] });
const two = signatureOf({ x: ['float32', [-1, -1]], y: ['float32', [-1, -1]] });
const manyStrings = signatureOf({ s: ['string', [-1, -1]] });

const zeros = (...shape: number[]): Tensor =>
  numericTensor('float32', shape, new Float32Array(shape.reduce((a, b) => a * b, 1)));
const words = (count: number) =>
  stringTensor(
    [count],
    Array.from({ length: count }, () => Buffer.from('w')),
  );
const joined = (chunks: readonly Uint8Array[]): Buffer => Buffer.concat(chunks);
const records = (...contents: Uint8Array[]): Buffer => joined(contents.flatMap(encodeRecordIo));
const picture = () =>
  sharp({ create: { width: 40, height: 30, channels: 3, background: { r: 200, g: 9, b: 90 } } });

/** SageMaker Records of 100 floats each. Only the first is written. */
function sparse(count = 1): Buffer {
  const tensor = [0x0a, 4, 0, 0, 128, 63, 0x12, 1, 0, 0x1a, 1, 100];
  const value = [0x12, tensor.length, ...tensor];
  const entry = [0x0a, 1, 'x'.charCodeAt(0), 0x12, value.length, ...value];
  const record = Uint8Array.from([0x0a, entry.length, ...entry]);
  return records(...Array.from({ length: count }, () => record));
}
/** Of the vector, and of its entry in the record. */
const SPARSE_BYTES = 12;
const SPARSE_ENTRY_BYTES = 19;

async function deflated(): Promise<Case> {
  const npy = joined(encodeNpy(zeros(1, 5000)));
  const body = zipSync({ 'x.npy': npy });
  const needs = Math.ceil(npy.length / body.length);
  return { contentType: 'application/x-npz', signature: floats, body, needs };
}

const images = { png: 'png', jpeg: 'jpeg', gif: 'gif', webp: 'webp', tiff: 'tiff' } as const;
const ofSide = async (format: keyof typeof images, lossless = false): Promise<Case> => ({
  contentType: `image/${format}`,
  signature: pixels,
  body: await picture()
    [format](lossless ? { lossless } : {})
    .toBuffer(),
  needs: 40,
});

const JSON_TYPE = 'application/json';
const CASES: Record<
  Exclude<keyof DecodeLimits, 'maxImageSeconds' | 'parquet' | 'pixelSetting'>,
  readonly (() => Case | Promise<Case>)[]
> = {
  maxDecodedBytes: [
    async () => ({ ...(await ofSide('png')), needs: 8 * 8 * 3 }),
    () => ({
      contentType: 'application/x-npz',
      signature: floats,
      body: joined(encodeNpz({ x: zeros(1, 10) })),
      needs: joined(encodeNpy(zeros(1, 10))).length,
    }),
  ],
  maxOpenSizeBytes: [
    () => ({
      contentType: 'application/x-recordio-protobuf',
      signature: floats,
      body: sparse(),
      needs: 400,
    }),
    async () => ({
      ...(await ofSide('png')),
      signature: signatureOf({ x: ['uint8', [-1, -1, -1, 3]] }),
      needs: 40 * 30 * 3,
    }),
  ],
  maxImagePixels: [async () => ({ ...(await ofSide('png')), needs: 1200 })],
  maxImageSide: [
    () => ofSide('png'),
    () => ofSide('jpeg'),
    () => ofSide('gif'),
    () => ofSide('webp'),
    () => ofSide('webp', true),
    () => ofSide('tiff'),
  ],
  // IHDR, pHYs, IDAT, IEND.
  maxPngChunks: [async () => ({ ...(await ofSide('png')), needs: 4 })],
  maxJpegScans: [
    async () => {
      const body = await picture().jpeg({ progressive: true }).toBuffer();
      return { contentType: 'image/jpeg', signature: pixels, body, needs: countScans(body) };
    },
  ],
  maxStrings: [
    ...[
      { instances: ['a', 'b', 'c'] },
      { instances: [{ s: 'a' }, { s: 'b' }, { s: 'c' }] },
      { inputs: ['a', 'b', 'c'] },
      { inputs: { s: ['a', 'b', 'c'] } },
      ['a', 'b', 'c'].map((word) => [word]),
    ].map((document) => () => ({
      contentType: JSON_TYPE,
      signature: Array.isArray(document) ? manyStrings : strings,
      body: Buffer.from(JSON.stringify(document)),
      needs: 3,
    })),
    () => ({
      contentType: JSON_TYPE,
      signature: manyStrings,
      body: Buffer.from(JSON.stringify({ inputs: [['a', 'b', 'c']] })),
      needs: 3,
    }),
    () => ({
      contentType: JSON_TYPE,
      signature: signatureOf({ s: ['string', [-1, -1]], x: ['float32', [-1, -1]] }),
      body: Buffer.from(JSON.stringify({ examples: [{ s: ['a', 'b', 'c'], x: [1.5] }] })),
      needs: 3,
    }),
    () => ({
      contentType: 'text/csv',
      signature: strings,
      body: Buffer.from('a\nb\nc\n'),
      needs: 3,
    }),
    () => ({
      contentType: 'application/x-npy',
      signature: strings,
      body: joined(encodeNpy(words(3))),
      needs: 3,
    }),
    () => ({
      contentType: 'application/x-npz',
      signature: strings,
      body: joined(encodeNpz({ s: words(3) })),
      needs: 3,
    }),
    ...[
      ['application/x-tfrecord', encodeTfRecord],
      ['application/x-recordio', encodeRecordIo],
    ].map(([type, encode]) => () => ({
      contentType: type as string,
      signature: strings,
      body: joined([1, 2, 3].flatMap(() => (encode as typeof encodeTfRecord)(Buffer.from('abc')))),
      needs: 3,
    })),
    () => ({
      contentType: 'application/x-tfrecord',
      signature: signatureOf({ s: ['string', [-1, -1]], x: ['float32', [-1, -1]] }),
      body: joined(encodeTfRecord(encodeExample({ s: words(3), x: zeros(1) }))),
      needs: 3,
    }),
    () => ({
      contentType: 'application/x-recordio-protobuf',
      signature: manyStrings,
      body: records(encodeSageMakerRecord({ s: words(3) })),
      needs: 3,
    }),
  ],
  maxFeatures: [
    () => ({
      contentType: 'application/x-tfrecord',
      signature: two,
      body: joined(encodeTfRecord(encodeExample({ x: zeros(1), y: zeros(1) }))),
      needs: 2,
    }),
    () => ({
      contentType: 'application/x-recordio-protobuf',
      signature: two,
      body: records(encodeSageMakerRecord({ x: zeros(1), y: zeros(1) })),
      needs: 2,
    }),
  ],
  maxParquetBytes: [
    () => ({
      contentType: 'application/x-parquet',
      signature: signatureOf({ x: ['float32', [-1]] }),
      body: crafted({}),
      needs: 16,
      others: { parquet: true },
    }),
  ],
  maxNameBytes: [
    () => ({
      contentType: 'application/x-npz',
      signature: signatureOf({ longer: ['float32', [-1, -1]] }),
      body: joined(encodeNpz({ longer: zeros(1, 1) })),
      needs: 'longer.npy'.length,
    }),
    () => ({
      contentType: 'application/x-recordio-protobuf',
      signature: signatureOf({ longer: ['float32', [-1, -1]] }),
      body: records(encodeSageMakerRecord({ longer: zeros(1) })),
      needs: 'longer'.length,
    }),
  ],
  maxNpzRatio: [async () => ({ ...(await deflated()), others: { smallNpzBytes: 0 } })],
  smallNpzBytes: [
    async () => ({
      ...(await deflated()),
      needs: joined(encodeNpy(zeros(1, 5000))).length,
      others: { maxNpzRatio: 1 },
    }),
  ],
  maxRecordParts: [
    () => ({
      contentType: 'application/x-recordio',
      signature: strings,
      body: records(Buffer.from('616263640a23d7ce61626364', 'hex')),
      needs: 2,
    }),
  ],
  maxSparseBytes: [
    () => ({
      contentType: 'application/x-recordio-protobuf',
      signature: floats,
      body: sparse(),
      needs: 400,
    }),
    // Many small ones together are as large.
    () => ({
      contentType: 'application/x-recordio-protobuf',
      signature: floats,
      body: sparse(3),
      needs: 3 * 400 - 2 * SPARSE_ENTRY_BYTES,
    }),
  ],
  maxSparseRatio: [
    () => ({
      contentType: 'application/x-recordio-protobuf',
      signature: floats,
      body: sparse(),
      needs: Math.ceil(400 / SPARSE_BYTES),
      others: { smallSparseBytes: 0 },
    }),
  ],
  smallSparseBytes: [
    () => ({
      contentType: 'application/x-recordio-protobuf',
      signature: floats,
      body: sparse(),
      needs: 400,
      others: { maxSparseRatio: 1 },
    }),
  ],
};

const ROWS = Object.entries(CASES).flatMap(([limit, cases]) =>
  cases.map((make, index) => [limit as keyof DecodeLimits, index, make] as const),
);

test.each(ROWS)('%s, body %d', async (limit, _index, make) => {
  const { contentType, signature, body, needs, others } = await make();
  const decode = (most: number) =>
    decodeRequest(body, {
      signature,
      contentType,
      limits: { ...DEFAULT_DECODE_LIMITS, ...others, [limit]: most },
    });
  await expect(decode(needs)).resolves.toHaveProperty('inputs');
  const refusal = await decode(needs - 1).catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(ServingError);
  expect([400, 413]).toContain((refusal as ServingError).status);
});

test("the defaults are those of the environment's variables, and each has one", () => {
  const { decode, maxHeldBytes } = readEnvironment({}).environment.limits;
  expect(decode).toEqual({
    ...DEFAULT_DECODE_LIMITS,
    maxParquetBytes: maxHeldBytes,
    maxOpenSizeBytes: Math.floor(maxHeldBytes / 4),
  });
});
