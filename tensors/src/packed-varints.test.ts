/** Varints against the protobuf library's, and in memory of a small multiple of their own for very many. */
import { BinaryReader, BinaryWriter } from '@bufbuild/protobuf/wire';
import { DTYPES, type NumericDType } from './dtype.ts';
import { encodeVarints } from './packed-varints.ts';
import { numericTensor } from './tensor.ts';
import { decodeTensorProto, TENSOR_VALUE_FIELD } from './tensor-proto.ts';
import { concatBytes } from './text.ts';
import { newTypedArray, typedArray } from './typed-array.ts';

const INTEGERS = [
  'int8',
  'int16',
  'int32',
  'int64',
  'uint8',
  'uint16',
  'uint32',
  'uint64',
  'float16',
  'bfloat16',
] as const satisfies readonly NumericDType[];

/** Every power of two of 64 bits with its neighbors, and their negatives. */
const EDGES = Array.from({ length: 64 }, (_, bit) => 1n << BigInt(bit)).flatMap((power) => [
  power - 1n,
  power,
  power + 1n,
  -power,
]);

/** The edges as an element of the dtype holds them. */
function edges(dtype: (typeof INTEGERS)[number]) {
  const { size } = DTYPES[dtype];
  const words = BigInt64Array.from(EDGES, (edge) => BigInt.asIntN(64, edge));
  const bytes = new Uint8Array(words.buffer);
  const cut = EDGES.flatMap((_, i) => [...bytes.subarray(8 * i, 8 * i + size)]);
  return typedArray(
    numericTensor(dtype, [EDGES.length], Uint8Array.from(cut)) as {
      dtype: typeof dtype;
    } & ReturnType<typeof numericTensor>,
  );
}

function byLibrary(dtype: NumericDType, values: ArrayLike<number | bigint>): Uint8Array {
  const writer = new BinaryWriter();
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number | bigint;
    if (dtype === 'uint64') writer.uint64(value);
    else if (dtype === 'uint32') writer.uint32(Number(value));
    else if (dtype === 'int64') writer.int64(value);
    else writer.int32(Number(value));
  }
  return writer.finish();
}

/** A TensorProto with these packed values. */
function proto(dtype: NumericDType, count: number, packed: Uint8Array): Uint8Array {
  const head = new BinaryWriter().tag(1, 0).int32(DTYPES[dtype].enumValue);
  head.tag(2, 2).fork().tag(2, 2).fork().tag(1, 0).int64(count).join().join();
  head.tag(TENSOR_VALUE_FIELD[dtype], 2).uint32(packed.byteLength);
  return concatBytes([head.finish(), packed]);
}

test.each(INTEGERS)('%s: written as the library does, and read back', (dtype) => {
  const values = edges(dtype);
  const packed = encodeVarints(values);
  expect(Buffer.from(packed).equals(byLibrary(dtype, values))).toBe(true);
  const read = decodeTensorProto(proto(dtype, values.length, packed));
  expect(read).toMatchObject({ dtype, shape: [values.length] });
  expect(typedArray(read as never)).toEqual(values);
});

test('truth is any bit, as the library reads it', () => {
  const packed = byLibrary('uint64', [0n, 1n, 2n, 256n, 1n << 32n, 1n << 63n, 0n]);
  const reader = new BinaryReader(packed);
  const expected = Array.from({ length: 7 }, () => Number(reader.bool()));
  expect(decodeTensorProto(proto('bool', 7, packed))).toMatchObject({
    bytes: Uint8Array.from(expected),
  });
});

test.each([...INTEGERS, 'bool'] as const)('%s: millions take no object each', (dtype) => {
  const count = 20_000_000 / DTYPES[dtype].size;
  const values = newTypedArray(dtype, count);
  new Uint8Array(values.buffer).fill(1);
  const before = process.memoryUsage();
  const packed = encodeVarints(values);
  const read = decodeTensorProto(proto(dtype, count, packed));
  const after = process.memoryUsage();
  expect(read).toMatchObject({ dtype, shape: [count] });
  expect(Buffer.compare((read as { bytes: Uint8Array }).bytes, new Uint8Array(values.buffer))).toBe(
    0,
  );
  expect(after.heapUsed - before.heapUsed).toBeLessThan(20_000_000);
  // The varints, the message, the elements.
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4 * 20_000_000);
});
