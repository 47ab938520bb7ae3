import {
  decodeNpy,
  decodeNpz,
  parseJson,
  readLengthPrefixed,
  readRecordIo,
  readTfRecords,
} from '@sagemaker-tfs/tensors';
import { PredictionError } from '../errors/prediction-error.ts';
import { imagesBody } from './images-body.ts';
import { jsonBody } from './json-body.ts';
import { tensorsBody } from './tensors-body.ts';

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('tensorsBody', () => {
  test('one tensor is an npy array', () => {
    const { bytes, contentType } = tensorsBody({
      dtype: 'int64',
      shape: [2],
      data: [2n ** 60n + 1n, -1],
    });
    expect(contentType).toBe('application/x-npy');
    const expected = BigInt64Array.of(2n ** 60n + 1n, -1n);
    expect(decodeNpy(bytes)).toEqual({
      dtype: 'int64',
      shape: [2],
      bytes: new Uint8Array(expected.buffer),
    });
  });

  test.each(['float33', 'float', 'toString', ''])("dtype '%s' is refused by name", (dtype) => {
    const tensor = { dtype: dtype as 'float32', shape: [1], data: [1] };
    for (const tensors of [tensor, { x: tensor }]) {
      expect(() => tensorsBody(tensors)).toThrow(
        expect.objectContaining({
          code: 'BAD_OPTION',
          message: expect.stringContaining(`there is no dtype '${dtype}'`) as string,
        }),
      );
    }
  });

  test('several by name are an npz archive, whatever holds their elements', () => {
    const { bytes, contentType } = tensorsBody({
      half: { dtype: 'float16', shape: [2], data: Float32Array.of(0.5, -2) },
      flags: { dtype: 'bool', shape: [3], data: [true, 0, 1] },
      words: { dtype: 'string', shape: [2], data: ['é', Uint8Array.of(255)] },
    });
    expect(contentType).toBe('application/x-npz');
    const back = decodeNpz(bytes, { maxBytes: 10_000 });
    expect(back.half).toMatchObject({ dtype: 'float16', bytes: Uint8Array.of(0, 0x38, 0, 0xc0) });
    expect(back.flags).toMatchObject({ dtype: 'bool', bytes: Uint8Array.of(1, 0, 1) });
    expect(back.words).toMatchObject({ dtype: 'string', shape: [2] });
  });

  test('elements that do not fit are an error that names the tensor', () => {
    const image = { dtype: 'uint8', shape: [2], data: [1, 256] } as const;
    const build = () => tensorsBody({ image });
    expect(build).toThrow(PredictionError);
    expect(build).toThrow('tensor "image": value 1: 256 is beyond the range of uint8, 0 to 255');
    expect(() => tensorsBody({ dtype: 'float32', shape: [3], data: new Float32Array(2) })).toThrow(
      'float32 [3] needs 12 bytes, got 8',
    );
  });
});

describe('jsonBody', () => {
  test('64-bit integers, floats, bytes and tensors lose nothing', () => {
    const { bytes, contentType } = jsonBody({
      signature_name: 'serving_default',
      left_out: undefined,
      instances: [
        { id: 2n ** 63n - 1n, x: [0.1, Number.NaN, -Infinity], image: Uint8Array.of(1, 2, 3) },
        { id: 7, x: Float32Array.of(0.1), tensor: { dtype: 'int64', shape: [1], data: [9n] } },
      ],
    });
    expect(contentType).toBe('application/json');
    expect(text(bytes)).toBe(
      '{"signature_name":"serving_default","instances":[' +
        '{"id":9223372036854775807,"x":[0.1,NaN,-Infinity],"image":{"b64":"AQID"}},' +
        '{"id":7,"x":[0.1],"tensor":[9]}]}',
    );
  });

  test('bytes of any length are base64', () => {
    for (const length of [0, 1, 2, 3 * 8192 - 1, 3 * 8192, 3 * 8192 + 2]) {
      const bytes = Uint8Array.from({ length }, (_, i) => (i * 7) % 256);
      const { b64 } = parseJson(jsonBody(bytes).bytes) as { b64: string };
      expect(b64).toBe(Buffer.from(bytes).toString('base64'));
    }
  });

  test('-0 keeps its sign', () => {
    const value = { number: -0, list: [1, -0], doubles: Float64Array.of(-0), text: '-0' };
    expect(text(jsonBody(value).bytes)).toBe(
      '{"number":-0,"list":[1,-0],"doubles":[-0],"text":"-0"}',
    );
  });

  test.each([
    ['function', () => 1],
    ['Date', new Date(0)],
    ['Map', new Map([['a', 1]])],
    ['DataView', new DataView(new ArrayBuffer(1))],
  ])('what JSON has no form for is an error: a %s', (name, value) => {
    expect(() => jsonBody({ instances: [value] })).toThrow(`JSON cannot hold a ${name}.`);
  });
});

describe('imagesBody', () => {
  const images = [Uint8Array.of(1, 2, 3), Uint8Array.of(), Uint8Array.of(10, 35, 215, 206, 5)];
  const formats = [
    ['length-prefixed', 'application/octet-stream', readLengthPrefixed],
    ['tfrecord', 'application/x-tfrecord', readTfRecords],
    ['recordio', 'application/x-recordio', readRecordIo],
  ] as const;

  test.each(['avro', 'toString', ''])("format '%s' is refused by name", (format) => {
    expect(() => imagesBody(images, { format: format as 'recordio' })).toThrow(
      expect.objectContaining({
        code: 'BAD_OPTION',
        message: `there is no format ${JSON.stringify(format)} of images. Pass one of length-prefixed, tfrecord, recordio.`,
      }),
    );
  });

  test.each(formats)('%s gives back each image', (format, contentType, read) => {
    const body = imagesBody(images, { format });
    expect(body.contentType).toBe(contentType);
    expect([...read(body.bytes)].map((record) => [...record])).toEqual(
      images.map((image) => [...image]),
    );
  });

  test('the default is each image behind its length, 4 bytes big-endian', () => {
    expect([...imagesBody([Uint8Array.of(9)]).bytes]).toEqual([0, 0, 0, 1, 9]);
  });
});
