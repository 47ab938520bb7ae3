import { numericTensor, stringTensor } from './tensor.ts';
import { toNested, toNumbers, typedArray } from './typed-array.ts';
import { tensorFromValues } from './values.ts';

test('aligned bytes are seen in place, others are copied', () => {
  const buffer = new ArrayBuffer(20);
  const aligned = numericTensor('float32', [2], new Uint8Array(buffer, 4, 8));
  expect(typedArray(aligned).buffer).toBe(buffer);
  const bytes = new Uint8Array(buffer, 5, 8);
  bytes.set(new Uint8Array(new Float32Array([1.5, -2]).buffer));
  const elements = typedArray({
    ...numericTensor('float32', [2], bytes),
    dtype: 'float32' as const,
  });
  expect(elements).toEqual(new Float32Array([1.5, -2]));
  expect(elements.buffer).not.toBe(buffer);
});

test('a view in Node’s Buffer pool is read at its own place', () => {
  const pooled = Buffer.from(new Uint8Array(new Int16Array([-5, 300]).buffer));
  expect(Array.from(typedArray(numericTensor('int16', [2], pooled)) as Int16Array)).toEqual([
    -5, 300,
  ]);
});

test('16-bit floats are bit patterns as typed arrays, values as numbers', () => {
  const half = numericTensor('float16', [2], new Uint16Array([0x3e00, 0xc080]));
  expect(typedArray(half)).toEqual(new Uint16Array([0x3e00, 0xc080]));
  expect(toNumbers(half)).toEqual(new Float32Array([1.5, -2.25]));
  const brain = numericTensor('bfloat16', [2], new Uint16Array([0x3fc0, 0xc010]));
  expect(toNumbers(brain)).toEqual(new Float32Array([1.5, -2.25]));
});

test('an array of another dtype is refused though its bytes fill the shape', () => {
  expect(() => numericTensor('float32', [2], Float64Array.of(1))).toThrow(
    'float32 elements are in a Float64Array. Give a Float32Array, or their bytes in a Uint8Array.',
  );
  expect(() => numericTensor('int64', [1], Int32Array.of(1, 2))).toThrow('a BigInt64Array');
  expect(() => numericTensor('bool', [1], Int8Array.of(1))).toThrow('Give a Uint8Array.');
  const levels = Uint8ClampedArray.of(1, 2);
  expect(numericTensor('uint8', [2], levels).bytes.buffer).toBe(levels.buffer);
});

test('nested arrays of every kind of element', () => {
  expect(toNested(tensorFromValues('int64', [2, 1], [5, 2n ** 60n]))).toEqual([[5n], [2n ** 60n]]);
  expect(toNested(tensorFromValues('bool', [2], [true, false]))).toEqual([true, false]);
  expect(toNested(tensorFromValues('float32', [], [2.5]))).toBe(2.5);
  expect(toNested(tensorFromValues('float32', [2, 0], []))).toEqual([[], []]);
  expect(toNested(stringTensor([1, 1], ['é']))).toEqual([[Buffer.from('é')]]);
});
