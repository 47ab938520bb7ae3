import type { DType } from './dtype.ts';
import { toNested } from './typed-array.ts';
import { type ElementValue, tensorFromValues } from './values.ts';

test.each<[DType, ElementValue[]]>([
  ['float16', [1.5, -65504]],
  ['bfloat16', [1.5, -3]],
  ['float32', [1.5, Number.NaN, Number.POSITIVE_INFINITY, -0]],
  ['float64', [Math.PI, Number.NEGATIVE_INFINITY, 5e-324]],
  ['int8', [-128, 127]],
  ['int16', [-32768, 32767]],
  ['int32', [-2147483648, 2147483647]],
  ['int64', [-(2n ** 63n), 2n ** 63n - 1n]],
  ['uint8', [0, 255]],
  ['uint16', [0, 65535]],
  ['uint32', [0, 4294967295]],
  ['uint64', [0n, 2n ** 64n - 1n]],
  ['bool', [true, false]],
])('%s holds %j', (dtype, values) => {
  expect(toNested(tensorFromValues(dtype, [values.length], values))).toEqual(values);
});

test('numbers for 64-bit integers, bigints for everything numeric', () => {
  expect(toNested(tensorFromValues('int64', [2], [7, -7]))).toEqual([7n, -7n]);
  expect(toNested(tensorFromValues('int32', [1], [7n]))).toEqual([7]);
  expect(toNested(tensorFromValues('float32', [1], [2n ** 60n]))).toEqual([2 ** 60]);
});

test('text is UTF-8, bytes are themselves', () => {
  expect(toNested(tensorFromValues('string', [2], ['é', new Uint8Array([255])]))).toEqual([
    Buffer.from([0xc3, 0xa9]),
    Buffer.from([255]),
  ]);
});

test.each<[DType, ElementValue, RegExp]>([
  ['uint8', 256, /^value 1: 256 is beyond the range of uint8, 0 to 255$/],
  ['int8', -129, /beyond the range of int8, -128 to 127/],
  ['int32', 1.5, /1.5 is not a whole number for int32/],
  ['int32', Number.NaN, /NaN is not a whole number for int32/],
  ['int64', 2 ** 53, /beyond 2\^53.*give a bigint; in JSON write all digits/],
  ['uint64', -1n, /beyond the range of uint64/],
  ['float32', 1e39, /1e\+39 is beyond the range of float32/],
  ['float16', 65520, /beyond the range of float16/],
  ['float32', 'abc', /"abc" is not a number for float32/],
  ['float32', true, /true is not a number for float32/],
  ['bool', 1, /1 is not a boolean/],
  ['string', 1, /1 is not a string/],
])('%s refuses %p', (dtype, value, message) => {
  const good: Partial<Record<DType, ElementValue>> = { bool: true, string: 'a' };
  const values = [good[dtype] ?? 1, value];
  expect(() => tensorFromValues(dtype, [2], values)).toThrow(message);
  expect(() => tensorFromValues(dtype, [2], values)).toThrow(
    expect.objectContaining({ code: 'VALUE_OUT_OF_RANGE' }),
  );
});

test('values that do not fill the shape', () => {
  expect(() => tensorFromValues('int8', [2, 2], [1, 2, 3])).toThrow(
    expect.objectContaining({ code: 'SHAPE_MISMATCH' }),
  );
});
