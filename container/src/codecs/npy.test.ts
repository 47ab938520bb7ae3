import {
  decodeNpy,
  decodeNpz,
  type ElementValue,
  encodeNpy,
  encodeNpz,
  type Nested,
  type NumericDType,
  numericTensor,
  type Signature,
  stringTensor,
  type Tensor,
  type TensorMap,
  tensorFromNested,
  tensorFromValues,
  toNested,
} from '@sagemaker-tfs/tensors';
import { zipSync } from 'fflate';
import { npyRequest, npyResponse } from './npy.ts';
import { npzRequest, npzResponse } from './npz.ts';
import { bodyOf, decodeContext, encodeContext, signatureOf } from './test-signatures.ts';

const matrix = signatureOf({ x: ['float32', [-1, 2]] });

function nested(tensors: TensorMap): Record<string, Nested> {
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, toNested(tensor)]),
  );
}

async function fromNpy(tensor: Tensor, signature: Signature): Promise<Record<string, Nested>> {
  const context = decodeContext(signature, '');
  return nested((await npyRequest.decode(Buffer.concat(encodeNpy(tensor)), context)).inputs);
}

describe('npy requests', () => {
  test.each<[string, Tensor, string]>([
    [
      'float64 to float32',
      numericTensor('float64', [1, 2], Float64Array.of(1, 1e300)),
      '1e+300 at index 1',
    ],
    [
      'float32 to float16',
      numericTensor('float32', [1, 2], Float32Array.of(1e6, 1)),
      '1000000 at index 0',
    ],
    [
      'int32 to float16',
      numericTensor('int32', [1, 2], Int32Array.of(1, 65520)),
      '65520 at index 1',
    ],
    [
      'int64 to float64',
      numericTensor('int64', [1, 2], BigInt64Array.of(1n, 2n ** 53n + 1n)),
      '9007199254740993 at index 1',
    ],
    [
      'uint64 to float32',
      numericTensor('uint64', [1, 2], BigUint64Array.of(2n ** 64n - 1n, 1n)),
      '18446744073709551615 at index 0',
    ],
    [
      'int64 to int32',
      numericTensor('int64', [1, 2], BigInt64Array.of(1n, 2n ** 31n)),
      '2147483648 at index 1',
    ],
    [
      'float32 to int32',
      numericTensor('float32', [1, 2], Float32Array.of(1, -2.5)),
      '-2.5 at index 1',
    ],
    [
      'float64 to int32',
      numericTensor('float64', [1, 2], Float64Array.of(2 ** 31, 1)),
      '2147483648 at index 0',
    ],
    [
      'float64 to int64',
      numericTensor('float64', [1, 2], Float64Array.of(0, 2 ** 63)),
      '9223372036854776000 at index 1',
    ],
    [
      'float64 to uint64',
      numericTensor('float64', [1, 2], Float64Array.of(-1, 0)),
      '-1 at index 0',
    ],
    [
      'float32 to int64',
      numericTensor('float32', [1, 2], Float32Array.of(NaN, 0)),
      'NaN at index 0',
    ],
    [
      'float32 to uint8',
      numericTensor('float32', [1, 2], Float32Array.of(0, Infinity)),
      'Infinity at index 1',
    ],
    ['int64 to bool', numericTensor('int64', [1, 2], BigInt64Array.of(1n, 2n)), '2 at index 1'],
    [
      'float32 to bool',
      numericTensor('float32', [1, 2], Float32Array.of(NaN, 1)),
      'NaN at index 0',
    ],
    ['int8 to bool', numericTensor('int8', [1, 2], Int8Array.of(0, -1)), '-1 at index 1'],
  ])(
    '%s: what the dtype cannot hold is refused and named, as in JSON',
    async (name, tensor, value) => {
      const dtype = name.split(' to ')[1] as 'float32';
      const signature = signatureOf({ x: [dtype, [-1, 2]] });
      const error = await fromNpy(tensor, signature).catch((reason: unknown) => reason);
      expect(error).toMatchObject({ code: 'BAD_INPUT', message: expect.stringContaining(value) });
    },
  );

  test.each<[NumericDType, NumericDType, ElementValue[], ElementValue[]]>([
    ['float32', 'int32', [1, -2], [1, -2]],
    ['float16', 'uint8', [1, 255], [1, 255]],
    ['bfloat16', 'int64', [-0, 2 ** 62], [0n, 2n ** 62n]],
    ['float64', 'int64', [2 ** 60, -(2 ** 63)], [2n ** 60n, -(2n ** 63n)]],
    ['float64', 'uint64', [2 ** 63, 0], [2n ** 63n, 0n]],
    ['bool', 'float32', [true, false], [1, 0]],
    ['bool', 'int32', [true, false], [1, 0]],
    ['bool', 'uint64', [true, false], [1n, 0n]],
    ['int8', 'bool', [1, 0], [true, false]],
    ['uint8', 'bool', [0, 1], [false, true]],
    ['int64', 'bool', [1n, 0n], [true, false]],
    ['float32', 'bool', [-0, 1], [false, true]],
  ])('%s to %s: what the dtype holds is taken', async (from, to, values, taken) => {
    const tensor = tensorFromValues(from, [1, 2], values);
    const signature = signatureOf({ x: [to, [-1, 2]] });
    expect(await fromNpy(tensor, signature)).toEqual({ x: [taken] });
  });

  test('infinities, NaN and what rounds within the range pass', async () => {
    const values = [Number.POSITIVE_INFINITY, Number.NaN];
    const tensor = numericTensor('float64', [1, 2], Float64Array.from(values));
    expect(await fromNpy(tensor, matrix)).toEqual({ x: [values] });
    const long = numericTensor('int64', [1, 2], BigInt64Array.of(16_777_217n, 2n ** 53n));
    expect(await fromNpy(long, matrix)).toEqual({ x: [[16_777_216, 2 ** 53]] });
  });

  test('are the only input, with a batch of one where only that is missing', async () => {
    const rows = [
      [1, 2],
      [3, 4],
    ];
    expect(await fromNpy(tensorFromNested('float32', rows), matrix)).toEqual({ x: rows });
    expect(await fromNpy(tensorFromNested('float32', [1, 2]), matrix)).toEqual({ x: [[1, 2]] });
  });

  test('are converted where no value is lost', async () => {
    expect(await fromNpy(tensorFromNested('float64', [[0.1, 2]]), matrix)).toEqual({
      x: [[Math.fround(0.1), 2]],
    });
    expect(await fromNpy(tensorFromNested('uint8', [[1, 2]]), matrix)).toEqual({ x: [[1, 2]] });
    const int32 = signatureOf({ x: ['int32', [-1]] });
    expect(await fromNpy(tensorFromNested('int64', [1, -2]), int32)).toEqual({ x: [1, -2] });
  });

  test.each<[string, Tensor, Signature, string]>([
    [
      'a rank',
      tensorFromNested('float32', [[[1, 2]]]),
      matrix,
      'takes [N, 2], got float32 [1, 1, 2]',
    ],
    ['a size', tensorFromNested('float32', [[1, 2, 3]]), matrix, 'takes [N, 2]'],
    [
      'a value',
      tensorFromNested('int64', [2n ** 31n]),
      signatureOf({ x: ['int32', [-1]] }),
      'cannot hold',
    ],
    [
      'floats for integers',
      tensorFromNested('float32', [1.5]),
      signatureOf({ x: ['int32', [-1]] }),
      'takes int32',
    ],
    ['text for numbers', stringTensor([1, 2], ['1', '2']), matrix, 'takes float32'],
    [
      'several inputs',
      tensorFromNested('float32', [1]),
      signatureOf({ a: ['float32', [-1]], b: ['float32', [-1]] }),
      'application/x-npz',
    ],
  ])('that do not fit are refused: %s', async (_, tensor, signature, part) => {
    await expect(fromNpy(tensor, signature)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining(part),
    });
  });
});

describe('npz requests', () => {
  const two = signatureOf({ a: ['float32', [-1]], b: ['string', [-1]] });

  test('are inputs by name, deflated or stored', async () => {
    const arrays = { a: tensorFromNested('float32', [1, 2]), b: stringTensor([1], ['x']) };
    const stored = Buffer.concat(encodeNpz(arrays));
    const files = Object.fromEntries(
      Object.entries(arrays).map(([name, array]) => [
        `${name}.npy`,
        new Uint8Array(Buffer.concat(encodeNpy(array))),
      ]),
    );
    for (const body of [stored, zipSync(files, { level: 9 })]) {
      const { inputs } = await npzRequest.decode(body, decodeContext(two, ''));
      expect(nested(inputs)).toEqual({ a: [1, 2], b: [Buffer.from('x')] });
    }
  });

  test('with one unnamed array are the only input', async () => {
    const body = Buffer.concat(encodeNpz({ arr_0: tensorFromNested('float32', [[1, 2]]) }));
    const { inputs } = await npzRequest.decode(body, decodeContext(matrix, ''));
    expect(nested(inputs)).toEqual({ x: [[1, 2]] });
  });

  test('with other names are refused', async () => {
    const body = Buffer.concat(encodeNpz({ c: tensorFromNested('float32', [1]) }));
    await expect(npzRequest.decode(body, decodeContext(two, ''))).rejects.toMatchObject({
      code: 'UNKNOWN_INPUT',
    });
  });

  test('that unpack to more than the limit are refused', async () => {
    const zeros = tensorFromNested('float32', new Float32Array(2_000_000));
    const bomb = zipSync({ 'a.npy': new Uint8Array(Buffer.concat(encodeNpy(zeros))) });
    expect(bomb.length).toBeLessThan(50_000);
    const context = decodeContext(two, '');
    const limits = { ...context.limits, maxDecodedBytes: 1_000_000 };
    await expect(npzRequest.decode(bomb, { ...context, limits })).rejects.toMatchObject({
      status: 413,
    });
  });

  test('a small archive holds few strings, a larger one more', async () => {
    const context = decodeContext(signatureOf({ x: ['string', [-1]] }), '');
    const npy = Buffer.concat(encodeNpy(stringTensor([70_000], Array(70_000).fill(''))));
    await expect(npzRequest.decode(zipSync({ 'x.npy': npy }), context)).rejects.toMatchObject({
      code: 'REQUEST_TOO_LARGE',
      message: expect.stringContaining('At most 65536'),
    });
    const stored = zipSync({ 'x.npy': npy }, { level: 0 });
    await expect(npzRequest.decode(stored, context)).resolves.toHaveProperty('inputs');
  });
});

describe('answers', () => {
  const a = tensorFromNested('float32', [[1, 2]]);
  const b = tensorFromNested('float32', [[[3], [4]]]);
  const ids = tensorFromNested('int64', [7]);

  test('npy of one output is the output', async () => {
    const encoded = await npyResponse.encode({ a }, encodeContext());
    expect(decodeNpy(await bodyOf(encoded))).toMatchObject({ shape: [1, 2], dtype: 'float32' });
    expect(encoded.customAttributes).toEqual({ 'tfs-output-shapes': 'a:1x2' });
  });

  test('npy of several of one dtype is their elements in the order asked for', async () => {
    const outputs = { a, 'b;1': b, scalar: tensorFromNested('float32', 9) };
    const encoded = await npyResponse.encode(outputs, encodeContext(['b;1', 'a', 'scalar']));
    const whole = decodeNpy(await bodyOf(encoded));
    expect(toNested(whole)).toEqual([3, 4, 1, 2, 9]);
    expect(encoded.customAttributes).toEqual({
      'tfs-output-shapes': 'b%3B1:1x2x1;a:1x2;scalar:',
    });
  });

  test('npy of several dtypes is not acceptable, and npz is named', async () => {
    await expect(npyResponse.encode({ a, ids }, encodeContext())).rejects.toMatchObject({
      status: 406,
      message: expect.stringContaining('application/x-npz'),
    });
  });

  test.each([
    ['npy', npyResponse],
    ['npz', npzResponse],
  ])('a string that ends in a zero byte is not acceptable as %s', async (_name, codec) => {
    const outputs = { names: stringTensor([1], [Buffer.from('a\0')]) };
    await expect(codec.encode(outputs, encodeContext())).rejects.toMatchObject({
      status: 406,
      message: expect.stringContaining(
        'value 0 ends in a zero byte, which .npy strings cannot hold. Ask for JSON instead',
      ),
    });
  });

  test('npz has all outputs by name', async () => {
    const encoded = await npzResponse.encode({ a, ids }, encodeContext(['ids', 'a']));
    const arrays = decodeNpz(await bodyOf(encoded), { maxBytes: 1e6 });
    expect(Object.keys(arrays)).toEqual(['ids', 'a']);
    expect(nested(arrays)).toEqual({ ids: [7n], a: [[1, 2]] });
  });

  test('tensors are sent from where they lie', async () => {
    const { body } = await npyResponse.encode({ a, b }, encodeContext());
    const pieces = body as readonly Uint8Array[];
    expect(pieces.map(({ buffer }) => buffer)).toEqual(
      expect.arrayContaining([(a as { bytes: Uint8Array }).bytes.buffer]),
    );
  });
});
