/** Bodies of very many records: they are refused at the first that does not fit, and leave others their turns. */
import {
  decodeNpy,
  encodeRecordIo,
  encodeSageMakerRecord,
  encodeTfRecord,
  numericTensor,
  type Signature,
  stringTensor,
} from '@sagemaker-tfs/tensors';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import type { ServingError } from '../errors.ts';
import { countTurns } from '../testing/count-turns.ts';
import type { DecodedRequest, RequestCodec, ResponseCodec } from './codec.ts';
import { csvRequest } from './csv.ts';
import { csvResponse } from './csv-response.ts';
import { jsonResponse } from './json-response.ts';
import { lengthPrefixedRequest } from './length-prefixed.ts';
import { npyResponse } from './npy.ts';
import { npzResponse } from './npz.ts';
import { parquetResponse } from './parquet-response.ts';
import { protobufRecordIoRequest, recordIoRequest } from './recordio.ts';
import { bodyOf, decodeContext, encodeContext, signatureOf } from './test-signatures.ts';
import { encodeExample } from './tf-example-writer.ts';
import { tfRecordRequest, tfRecordResponse } from './tfrecord.ts';

const floats = signatureOf({ a: ['float32', [-1, 2]] });
const strings = signatureOf({ text: ['string', [-1]] });
const scalar = signatureOf({ a: ['float32', [-1]] });

/** The record `count` times, as the format has it. */
function bodyOfMany(chunks: readonly Uint8Array[], count: number): Uint8Array {
  const one = Buffer.concat(chunks);
  return new Uint8Array(Buffer.alloc(one.length * count, one));
}

function example(values: number[]): Uint8Array {
  const a = numericTensor('float32', [values.length], Float32Array.from(values));
  return encodeExample({ a });
}

/** Decodes, and counts the turns that the event loop took meanwhile. */
async function decoding(
  codec: RequestCodec,
  body: Uint8Array,
  signature: Signature,
  signal?: AbortSignal,
): Promise<{ turns: number; decoded?: DecodedRequest; error?: ServingError }> {
  const { turns, result } = await countTurns(async () => {
    try {
      return { decoded: await codec.decode(body, { ...decodeContext(signature, ''), signal }) };
    } catch (error) {
      return { error: error as ServingError };
    }
  });
  return { turns, ...result };
}

const EMPTY = new Uint8Array(0);

test.each<[string, RequestCodec, Uint8Array, RegExp]>([
  ['TFRecord', tfRecordRequest, bodyOfMany(encodeTfRecord(EMPTY), 100_000), /record 0 is neither/],
  [
    'TFRecord of tf.Examples of other features',
    tfRecordRequest,
    bodyOfMany(
      encodeTfRecord(encodeExample({ z: numericTensor('int64', [0], new BigInt64Array(0)) })),
      100_000,
    ),
    /record 0 has the features z/,
  ],
  [
    'TFRecord of tf.Examples of another size',
    tfRecordRequest,
    bodyOfMany(encodeTfRecord(example([1, 2, 3])), 100_000),
    /^record 0: .*takes instances of \[2\]/,
  ],
  ['RecordIO', recordIoRequest, bodyOfMany(encodeRecordIo(EMPTY), 100_000), /record 0 is neither/],
  [
    'RecordIO-protobuf',
    protobufRecordIoRequest,
    bodyOfMany(encodeRecordIo(EMPTY), 100_000),
    /record 0 has the features/,
  ],
  ['zeros', lengthPrefixedRequest, new Uint8Array(4_000_000), /record 0 is neither/],
])('%s that does not fit is refused at its first record', async (_, codec, body, message) => {
  const broken = body.slice();
  // Nobody reads as far as this.
  broken.fill(0xff, body.length / 2);
  const { error, turns } = await decoding(codec, broken, floats);
  expect(error?.message).toMatch(message);
  expect(turns).toBe(0);
});

test.each([
  ['plain', `1.${'0'.repeat(200)}\n`],
  ['quoted', `"1.${'0'.repeat(200)}"\n`],
])('%s CSV of several requests is read in one slice a turn', async (_, line) => {
  const body = Buffer.from(line.repeat(3_000));
  const { turns: alone } = await decoding(csvRequest, body, scalar);
  const { turns } = await countTurns(() =>
    Promise.all([1, 2, 3, 4].map(() => csvRequest.decode(body, decodeContext(scalar, '')))),
  );
  expect(alone).toBeGreaterThan(5);
  expect(turns).toBeGreaterThanOrEqual(3 * alone);
});

const label = numericTensor('float32', [1], Float32Array.of(0.5));

test.each<[string, RequestCodec, Uint8Array, Signature]>([
  ['tf.Examples', tfRecordRequest, bodyOfMany(encodeTfRecord(example([1, 2])), 20_000), floats],
  [
    'Records',
    protobufRecordIoRequest,
    bodyOfMany(encodeRecordIo(encodeSageMakerRecord({ a: label })), 20_000),
    scalar,
  ],
  ['strings', recordIoRequest, bodyOfMany(encodeRecordIo(EMPTY), 20_000), strings],
  ['length-prefixed strings', lengthPrefixedRequest, new Uint8Array(80_000), strings],
])('20000 %s are read in turns', async (_, codec, body, signature) => {
  const { decoded, turns } = await decoding(codec, body, signature);
  expect(Object.values(decoded?.inputs ?? {})[0]?.shape[0]).toBe(20_000);
  expect(turns).toBeGreaterThanOrEqual(19);
});

test('few records take no further turn', async () => {
  const body = bodyOfMany(encodeTfRecord(example([1, 2])), 1000);
  expect((await decoding(tfRecordRequest, body, floats)).turns).toBe(0);
});

test('one that is aborted is not read to its end', async () => {
  const body = bodyOfMany(encodeTfRecord(example([1, 2])), 20_000);
  const signal = AbortSignal.abort(new Error('gone'));
  const { error, turns } = await decoding(tfRecordRequest, body, floats, signal);
  expect(error?.message).toBe('gone');
  expect(turns).toBeLessThanOrEqual(2);
});

test('more records than the tensors have room for are refused before the rest is read', async () => {
  const wide = signatureOf({ a: ['float32', [-1, 2, 500_000]] });
  const body = bodyOfMany(encodeTfRecord(EMPTY), 100_000);
  body.fill(0xff, 2000);
  const limits = { ...DEFAULT_DECODE_LIMITS, maxDecodedBytes: 50_000_000, maxImagePixels: 1 };
  const context = { ...decodeContext(signatureOf({ a: ['string', [-1]] }), ''), limits };
  await expect(
    tfRecordRequest.decode(body, { ...context, limits: { ...limits, maxDecodedBytes: 1280 } }),
  ).rejects.toMatchObject({ code: 'REQUEST_TOO_LARGE' });
  const png = Buffer.from('89504e470d0a1a0a', 'hex');
  const pictures = bodyOfMany(encodeTfRecord(png), 100);
  await expect(
    tfRecordRequest.decode(pictures, { ...decodeContext(wide, ''), limits }),
  ).rejects.toMatchObject({
    code: 'REQUEST_TOO_LARGE',
    message: expect.stringMatching(/than 12 /),
  });
});

test('a tf.Example, a Record and a RecordIO record are bounded within, too', async () => {
  const messages = Buffer.alloc(2 * 70_000, Buffer.from('0a00', 'hex'));
  // The same name again and again.
  const entries = Buffer.alloc(6 * 70_000, Buffer.from('0a0412021200', 'hex'));
  for (const [codec, body] of [
    [tfRecordRequest, Buffer.concat(encodeTfRecord(messages))],
    [protobufRecordIoRequest, Buffer.concat(encodeRecordIo(entries))],
  ] as const) {
    const { error } = await decoding(codec, new Uint8Array(body), floats);
    expect(error).toMatchObject({ code: 'REQUEST_TOO_LARGE' });
  }
  const begin = encodeRecordIo(EMPTY)[0] as Uint8Array;
  const [first, middle] = [begin.slice(), begin.slice()];
  first[7] = 1 << 5;
  middle[7] = 2 << 5;
  const parts = Buffer.concat([first, Buffer.alloc(8 * 140_000, middle)]);
  const { error } = await decoding(recordIoRequest, new Uint8Array(parts), floats);
  expect(error).toMatchObject({ code: 'REQUEST_TOO_LARGE' });
});

test('a large answer is looked through in turns before it becomes tf.Examples', async () => {
  const count = 2 ** 20;
  const outputs = { a: numericTensor('float64', [count], new Float64Array(count)) };
  const context = {
    signature: signatureOf({ a: ['float64', [-1]] }),
    outputOrder: ['a'],
    form: 'row',
  } as const;
  const { turns } = await countTurns(() => tfRecordResponse.encode(outputs, context));
  expect(turns).toBeGreaterThan(10);
  outputs.a = numericTensor('float64', [count], new Float64Array(count).fill(1e300, count - 1));
  await expect(tfRecordResponse.encode(outputs, context)).rejects.toMatchObject({
    code: 'NOT_ACCEPTABLE',
    message: expect.stringContaining("output 'a' has 1e+300"),
  });
});

test.each([
  ['npy', npyResponse],
  ['npz', npzResponse],
  ['CSV', csvResponse],
  ['JSON', jsonResponse],
  ['Parquet', parquetResponse],
])('an answer of very many strings is written as %s in turns', async (_, codec) => {
  const count = 200_000;
  const values = Array.from({ length: count }, (_, index) => `${index}`);
  // One row: there is nothing between two rows to wait at.
  const outputs = { text: stringTensor([1, count], values) };
  const context = encodeContext(['text']);
  const { turns } = await countTurns(async () => {
    const { body } = await codec.encode(outputs, context);
    for await (const piece of body) expect(piece.byteLength).toBeGreaterThan(0);
  });
  expect(turns).toBeGreaterThan(15);
});

const LONG = 3_000_000;

test.each([
  ['ASCII', Buffer.alloc(LONG, 'text, ')],
  ['quotes', Buffer.alloc(LONG, '"')],
  ['text', Buffer.from(`a${'ü🙂'.repeat(LONG / 6)}`)],
  ['bytes', Buffer.concat([Buffer.from('"ü'), Buffer.alloc(LONG, 0xbf)])],
])('one long string of %s is written in turns, whole', async (kind, value) => {
  const outputs = { text: stringTensor([1], [value]) };
  const context = encodeContext(['text']);
  const written = async (codec: ResponseCodec) => {
    const { turns, result } = await countTurns(async () =>
      bodyOf(await codec.encode(outputs, context)),
    );
    expect(turns).toBeGreaterThan(kind === 'bytes' && codec === npyResponse ? -1 : 8);
    return result;
  };
  const json = JSON.parse((await written(jsonResponse)).toString()).predictions[0];
  const npy = decodeNpy(await written(npyResponse)) as typeof outputs.text;
  expect(Buffer.from(npy.values[0] as Uint8Array).equals(value)).toBe(true);
  if (kind === 'bytes') {
    expect(Buffer.from(json.b64, 'base64').equals(value)).toBe(true);
    return;
  }
  expect(json === value.toString()).toBe(true);
  const csv = (await written(csvResponse)).toString();
  expect(csv === `"${value.toString().replaceAll('"', '""')}"\n`).toBe(true);
});
