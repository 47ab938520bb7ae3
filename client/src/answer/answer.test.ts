import { encodeNpy, encodeNpz, tensorFromValues } from '@sagemaker-tfs/tensors';
import { texts } from '../typed-tensor.ts';
import { readAnswer } from './answer.ts';

function answer(
  contentType: string,
  body: string | readonly Uint8Array[],
  { customAttributes = '', outputs }: { customAttributes?: string; outputs?: string[] } = {},
) {
  const bytes = typeof body === 'string' ? Buffer.from(body) : Buffer.concat(body);
  return readAnswer(
    { status: 200, contentType, customAttributes, bytes },
    { outputs, maxBytes: 1e9 },
  );
}

const json = (body: string, outputs?: string[]) =>
  answer('application/json; charset=utf-8', body, outputs ? { outputs } : {});

describe('npy', () => {
  test('one output has the name that the runtime tells', () => {
    const body = encodeNpy(tensorFromValues('float32', [1, 2], [0.5, 2]));
    const customAttributes = 'tfs-output-shapes=scores:1x2';
    expect(answer('application/x-npy', body, { customAttributes }).tensors()).toEqual({
      scores: { dtype: 'float32', shape: [1, 2], data: Float32Array.of(0.5, 2) },
    });
  });

  test('a concatenation is split by names and shapes, scalars and odd names among them', () => {
    const body = encodeNpy(tensorFromValues('int64', [6], [1, 2, 3, 4, 5, 6]));
    const customAttributes = 'tfs-model-version=1,tfs-output-shapes=a%2Cb%3A:2x2;count:;last:1';
    expect(answer('application/x-npy', body, { customAttributes }).tensors()).toEqual({
      'a,b:': { dtype: 'int64', shape: [2, 2], data: BigInt64Array.of(1n, 2n, 3n, 4n) },
      count: { dtype: 'int64', shape: [], data: BigInt64Array.of(5n) },
      last: { dtype: 'int64', shape: [1], data: BigInt64Array.of(6n) },
    });
  });

  test('shapes that do not fit, or are missing, are errors rather than wrong tensors', () => {
    const body = encodeNpy(tensorFromValues('float32', [3], [1, 2, 3]));
    const wrong = { customAttributes: 'tfs-output-shapes=a:2;b:2' };
    expect(() => answer('application/x-npy', body, wrong).tensors()).toThrow(
      'the answer has 3 elements, tfs-output-shapes tells of 4',
    );
    const twice = { customAttributes: 'tfs-output-shapes=a:3;b:0;a:0' };
    expect(() => answer('application/x-npy', body, twice).tensors()).toThrow('has "a" twice');
    expect(() => answer('application/x-npy', body, { outputs: ['a', 'b'] }).tensors()).toThrow(
      /does not tell their shapes .* Accept application\/x-npz/,
    );
    const cut = [Buffer.concat(body).subarray(0, -1)];
    expect(() => answer('application/x-npy', cut).tensors()).toThrow(
      /not readable as application\/x-npy: .* needs 12 bytes of data, has 11/,
    );
  });

  test('16-bit floats are widened', () => {
    const body = encodeNpy(tensorFromValues('bfloat16', [2], [1.5, -0.25]));
    expect(answer('application/x-npy', body).tensors().output).toEqual({
      dtype: 'bfloat16',
      shape: [2],
      data: Float32Array.of(1.5, -0.25),
    });
  });
});

test('npz: outputs by name, strings as bytes and as text', () => {
  const body = encodeNpz({
    words: tensorFromValues('string', [2], ['é', '']),
    flags: tensorFromValues('bool', [], [true]),
  });
  const { words, flags } = answer('application/x-npz', body).tensors();
  expect(flags).toEqual({ dtype: 'bool', shape: [], data: Uint8Array.of(1) });
  if (words?.dtype !== 'string') throw new Error('no strings');
  expect(texts(words)).toEqual(['é', '']);
});

describe('JSON', () => {
  test('row form with one output, named by the request or not at all', () => {
    const body = '{"predictions":[[0.1,1.0],[2e-7,NaN]]}';
    const data = Float64Array.of(0.1, 1, 2e-7, Number.NaN);
    const tensor = { dtype: 'float64', shape: [2, 2], data };
    expect(json(body).tensors()).toEqual({ output: tensor });
    expect(json(body, ['scores']).tensors()).toEqual({ scores: tensor });
  });

  test('row form with several outputs', () => {
    const body =
      '{"predictions":[{"id":9223372036854775807,"p":1.0,"ok":true},{"id":-1,"p":2.0,"ok":false}]}';
    expect(json(body).tensors()).toEqual({
      id: { dtype: 'int64', shape: [2], data: BigInt64Array.of(2n ** 63n - 1n, -1n) },
      p: { dtype: 'float64', shape: [2], data: Float64Array.of(1, 2) },
      ok: { dtype: 'bool', shape: [2], data: Uint8Array.of(1, 0) },
    });
  });

  test('columnar form', () => {
    const body = '{"outputs":{"n":3,"big":[18446744073709551615],"x":[[1.0],[2.0]]}}';
    expect(json(body).tensors()).toEqual({
      n: { dtype: 'int64', shape: [], data: BigInt64Array.of(3n) },
      big: { dtype: 'uint64', shape: [1], data: BigUint64Array.of(2n ** 64n - 1n) },
      x: { dtype: 'float64', shape: [2, 1], data: Float64Array.of(1, 2) },
    });
    expect(json('{"outputs":[1,2]}').tensors().output?.shape).toEqual([2]);
  });

  test('strings, plain and base64', () => {
    const { output } = json('{"predictions":["a",{"b64":"/w=="}]}').tensors();
    expect(output).toMatchObject({ dtype: 'string', shape: [2] });
    expect(output?.data[1]).toEqual(Buffer.of(255));
  });

  test('the caller names dtypes that JSON does not tell', () => {
    const dtypes = { output: 'float32' } as const;
    expect(json('{"predictions":[0.1]}').tensors(dtypes).output?.data).toEqual(
      Float32Array.of(0.1),
    );
  });

  test('several documents, as batch transform joins them, are one batch', () => {
    const lines = answer(
      'application/jsonlines',
      '{"predictions":[[1.0]]}\n{"predictions":[[2.0]]}\n',
    );
    expect(lines.tensors().output).toEqual({
      dtype: 'float64',
      shape: [2, 1],
      data: Float64Array.of(1, 2),
    });
  });

  test('a handler’s own JSON is read with json(), which loses no digits', () => {
    const own = json('{"digit":7,"id":9007199254740993}');
    expect(own.json()).toEqual({ digit: 7, id: 9007199254740993n });
    expect(() => own.tensors()).toThrow(/as a handler may give\. Read it with json\(\)\./);
  });

  test('lists nested deeper than the stack are UNREADABLE_ANSWER', () => {
    const body = `{"predictions":${'['.repeat(5_000)}1${']'.repeat(5_000)}}`;
    expect(() => json(body).tensors()).toThrow(
      expect.objectContaining({ code: 'UNREADABLE_ANSWER' }),
    );
  });

  test('ragged lists and text that is no JSON are UNREADABLE_ANSWER', () => {
    expect(() => json('{"predictions":[[1],[2,3]]}').tensors()).toThrow(/output\[1\]/);
    expect(() => json('<html>').json()).toThrow(
      expect.objectContaining({ code: 'UNREADABLE_ANSWER' }),
    );
  });
});

test('media types without tensors are named', () => {
  expect(() => answer('text/csv', '1,2\n').tensors()).toThrow(
    /'text\/csv' holds no tensors .* application\/x-npz/,
  );
});
