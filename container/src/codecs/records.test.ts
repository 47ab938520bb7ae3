import { preprocessSchema } from '@sagemaker-tfs/manifest';
import {
  encodeLengthPrefixed,
  encodeRecordIo,
  encodeSageMakerRecord,
  encodeTfRecord,
  type Nested,
  readTfRecords,
  type Signature,
  stringTensor,
  type Tensor,
  type TensorMap,
  tensorFromNested,
  toNested,
} from '@sagemaker-tfs/tensors';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { plain } from '../images/test-pictures.ts';
import { failureOf } from '../testing/serving-failure.ts';
import type { RequestCodec } from './codec.ts';
import { lengthPrefixedRequest } from './length-prefixed.ts';
import { protobufRecordIoRequest, recordIoRequest } from './recordio.ts';
import { bodyOf, decodeContext, encodeContext, nestedOf, signatureOf } from './test-signatures.ts';
import { decodeExample } from './tf-example.ts';
import { encodeExample } from './tf-example-writer.ts';
import { tfRecordRequest, tfRecordResponse } from './tfrecord.ts';

type Framing = (record: Uint8Array) => Uint8Array[];

const FORMATS: readonly (readonly [string, RequestCodec, Framing])[] = [
  ['TFRecord', tfRecordRequest, encodeTfRecord],
  ['RecordIO', recordIoRequest, encodeRecordIo],
  ['length-prefixed', lengthPrefixedRequest, encodeLengthPrefixed],
];

const pixels = signatureOf({ image: ['uint8', [-1, 1, 1, 3]] });
const strings = signatureOf({ bytes: ['string', [-1]] });
const named = signatureOf({
  a: ['float32', [-1, 2]],
  b: ['int32', [-1]],
  c: ['string', [-1, 1]],
});

function bodyFrom(framing: Framing, records: readonly Uint8Array[]): Buffer {
  return Buffer.concat(records.flatMap(framing));
}

async function decode(
  codec: RequestCodec,
  body: Uint8Array,
  signature: Signature,
): Promise<Record<string, Nested>> {
  const { inputs } = await codec.decode(body, decodeContext(signature, ''));
  return nestedOf(inputs);
}

const failure = failureOf(decode);

describe.each(FORMATS)('%s', (_, codec, framing) => {
  test('images become one batch in their order', async () => {
    const images = await Promise.all(
      [1, 2, 3, 4, 5].map((red) => plain(5, 4, red, 0, 9).png().toBuffer()),
    );
    expect(await decode(codec, bodyFrom(framing, images), pixels)).toEqual({
      image: [1, 2, 3, 4, 5].map((red) => [[[red, 0, 9]]]),
    });
  });

  test('a DT_STRING input gets the images, or any bytes, as they are', async () => {
    const image = await plain(5, 4, 1, 2, 3).jpeg().toBuffer();
    for (const records of [
      [image, image],
      [Buffer.from('one'), Buffer.alloc(0)],
    ]) {
      expect(await decode(codec, bodyFrom(framing, records), strings)).toEqual({ bytes: records });
    }
  });

  test('tf.Examples are inputs by name', async () => {
    const examples = [1, 2].map((row) =>
      encodeExample({
        a: tensorFromNested('float32', [row, 0.5]),
        b: tensorFromNested('int64', [row]),
        c: stringTensor([1], [`row ${row}`]),
        label: tensorFromNested('int64', [9]),
      }),
    );
    expect(await decode(codec, bodyFrom(framing, examples), named)).toEqual({
      a: [
        [1, 0.5],
        [2, 0.5],
      ],
      b: [1, 2],
      c: [[Buffer.from('row 1')], [Buffer.from('row 2')]],
    });
  });

  test('a feature of bytes for an input of numbers is an image', async () => {
    const image = await plain(5, 4, 7, 8, 9).png().toBuffer();
    const example = encodeExample({ image: stringTensor([1], [image]) });
    expect(await decode(codec, bodyFrom(framing, [example]), pixels)).toEqual({
      image: [[[[7, 8, 9]]]],
    });
  });

  test('what is wrong is named with its record', async () => {
    const image = await plain(5, 4, 7, 8, 9).png().toBuffer();
    const mixed = bodyFrom(framing, [image, Buffer.from('no image')]);
    expect(await failure(codec, mixed, pixels)).toMatchObject({
      status: 400,
      message: expect.stringMatching(/^record 1: .*no image/),
    });
    const neither = bodyFrom(framing, [Buffer.from('neither')]);
    expect((await failure(codec, neither, pixels)).message).toContain('record 0 is neither');
    const whole = bodyFrom(framing, [image, image]);
    const cut = await failure(codec, whole.subarray(0, -5), pixels);
    expect(cut.message).toMatch(/record 1 at byte \d+: the data ends within it/);
    expect((await failure(codec, Buffer.alloc(0), pixels)).message).toContain('empty');
  });

  test('examples that do not fit are named with their record and feature', async () => {
    const one = { a: tensorFromNested('float32', [1, 2]), b: tensorFromNested('int64', [1]) };
    const lacking = bodyFrom(
      framing,
      [one, { a: one.a }].map((record) => encodeExample(record)),
    );
    expect((await failure(codec, lacking, named)).message).toContain(
      "record 1 lacks the feature 'b'",
    );
    const later = bodyFrom(
      framing,
      [{ a: one.a }, one].map((record) => encodeExample(record)),
    );
    expect((await failure(codec, later, named)).message).toContain(
      "record 1 has the feature 'b', which record 0 lacks",
    );
    const long = { ...one, a: tensorFromNested('float32', [1, 2, 3]) };
    const ragged = bodyFrom(
      framing,
      [one, long].map((record) => encodeExample(record)),
    );
    expect((await failure(codec, ragged, named)).message).toContain('record 1 has 3 float32');
    const wide = bodyFrom(
      framing,
      [{ ...one, b: tensorFromNested('int64', [2n ** 40n]) }].map((record) =>
        encodeExample(record),
      ),
    );
    expect((await failure(codec, wide, named)).message).toContain('int32');
    const other = bodyFrom(framing, [encodeExample({ z: one.a })]);
    expect(await failure(codec, other, named)).toMatchObject({
      code: 'UNKNOWN_INPUT',
      message: expect.stringContaining('the features z, but none is an input'),
    });
  });

  test('a body of empty records does not multiply in memory', async () => {
    const body = bodyFrom(framing, new Array(1000).fill(Buffer.alloc(0)));
    const context = decodeContext(strings, '');
    const limits = { ...context.limits, maxDecodedBytes: 50_000 };
    await expect(codec.decode(body, { ...context, limits })).rejects.toMatchObject({
      status: 413,
    });
  });
});

describe('serialized examples for a DT_STRING input', () => {
  test('go to the model as they are, unless they have a feature of its name', async () => {
    const example = encodeExample({ x: tensorFromNested('int64', [1]) });
    expect(await decode(tfRecordRequest, bodyFrom(encodeTfRecord, [example]), strings)).toEqual({
      bytes: [Buffer.from(example)],
    });
    const holding = encodeExample({ bytes: stringTensor([1], ['inner']) });
    expect(await decode(tfRecordRequest, bodyFrom(encodeTfRecord, [holding]), strings)).toEqual({
      bytes: [Buffer.from('inner')],
    });
    const stream = bodyFrom(encodeLengthPrefixed, [holding]);
    expect(await decode(lengthPrefixedRequest, stream, strings)).toEqual({
      bytes: [Buffer.from(holding)],
    });
  });
});

describe('protobuf RecordIO', () => {
  const encode = (records: readonly TensorMap[]): Buffer =>
    bodyFrom(
      encodeRecordIo,
      records.map((record) => encodeSageMakerRecord(record)),
    );

  test('features are inputs by name, or "values" the only input', async () => {
    const records = [1, 2].map((row) => ({
      a: tensorFromNested('float32', [row, 0]),
      b: tensorFromNested('int32', [row]),
      c: stringTensor([1], ['s']),
    }));
    expect(await decode(protobufRecordIoRequest, encode(records), named)).toEqual({
      a: [
        [1, 0],
        [2, 0],
      ],
      b: [1, 2],
      c: [[Buffer.from('s')], [Buffer.from('s')]],
    });
    const only = signatureOf({ x: ['float32', [-1, 2]] });
    const values = encode([{ values: tensorFromNested('float64', [0.1, 2]) }]);
    expect(await decode(protobufRecordIoRequest, values, only)).toEqual({
      x: [[Math.fround(0.1), 2]],
    });
  });

  test('what is no Record is named', async () => {
    const body = bodyFrom(encodeRecordIo, [Buffer.from([0xff, 0xff, 0xff])]);
    const error = await failure(protobufRecordIoRequest, body, named);
    expect(error.message).toMatch(/^record 0: /);
    expect(error.status).toBe(400);
  });
});

test('an image without its length gets the type where it belongs', async () => {
  const image = await plain(5, 4, 1, 2, 3).jpeg().toBuffer();
  const error = await failure(lengthPrefixedRequest, image, pixels);
  expect(error.message).toContain('image/jpeg');
});

test('declared preprocess applies to images in records', async () => {
  const image = await plain(5, 4, 10, 20, 30).png().toBuffer();
  const preprocess = preprocessSchema.parse({ channels: 'bgr' });
  const body = bodyFrom(encodeLengthPrefixed, [image, image]);
  const context = decodeContext(pixels, '', preprocess);
  const { inputs } = await lengthPrefixedRequest.decode(body, context);
  expect(inputs.image && toNested(inputs.image)).toEqual([[[[30, 20, 10]]], [[[30, 20, 10]]]]);
});

describe('TFRecord answers', () => {
  test('are a tf.Example an instance, flattened', async () => {
    const outputs = {
      scores: tensorFromNested('float32', [
        [[0.5], [1]],
        [[2], [3]],
      ]),
      ids: tensorFromNested('int64', [2n ** 62n, -1n]),
      flags: tensorFromNested('bool', [true, false]),
      names: stringTensor([2], ['é', Buffer.from([0xff])]),
    };
    const body = await bodyOf(await tfRecordResponse.encode(outputs, encodeContext()));
    const rows = [...readTfRecords(body)].map((record) =>
      Object.fromEntries(
        Object.entries(decodeExample(record, DEFAULT_DECODE_LIMITS) ?? {}).map(([name, tensor]) => [
          name,
          toNested(tensor),
        ]),
      ),
    );
    expect(rows).toEqual([
      { scores: [0.5, 1], ids: [2n ** 62n], flags: [1n], names: [Buffer.from('é')] },
      { scores: [2, 3], ids: [-1n], flags: [0n], names: [Buffer.from([0xff])] },
    ]);
    const back = signatureOf({
      scores: ['float32', [-1, 2, 1]],
      ids: ['int64', [-1]],
      flags: ['bool', [-1]],
      names: ['string', [-1]],
    });
    const { inputs } = await tfRecordRequest.decode(body, decodeContext(back, ''));
    expect(nestedOf(inputs)).toEqual(nestedOf(outputs));
  });

  test.each<[string, Tensor, string]>([
    ['float64', tensorFromNested('float64', [1, -1e300]), '-1e+300'],
    ['uint64', tensorFromNested('uint64', [1n, 2n ** 64n - 1n]), '18446744073709551615'],
  ])('%s that a tf.Example cannot hold is not acceptable', async (_dtype, far, value) => {
    await expect(tfRecordResponse.encode({ far }, encodeContext())).rejects.toMatchObject({
      status: 406,
      message: expect.stringContaining(`output 'far' has ${value}`),
    });
  });

  test('the ends of what a tf.Example holds, infinity and NaN are sent', async () => {
    const outputs = {
      wide: tensorFromNested('float64', [3.4028234663852886e38, Infinity, NaN]),
      count: tensorFromNested('uint64', [2n ** 63n - 1n, 0n, 1n]),
    };
    const body = await bodyOf(await tfRecordResponse.encode(outputs, encodeContext()));
    expect([...readTfRecords(body)]).toHaveLength(3);
  });

  test('need a common number of instances', async () => {
    const outputs = { total: tensorFromNested('float32', 1) };
    await expect(tfRecordResponse.encode(outputs, encodeContext())).rejects.toMatchObject({
      status: 406,
    });
  });
});
