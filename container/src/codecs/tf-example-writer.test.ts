import { fromBinary } from '@bufbuild/protobuf';
import { stringTensor, tensorFromValues, toNested } from '@sagemaker-tfs/tensors';
import { ExampleSchema } from '@sagemaker-tfs/tensors/protos';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { decodeExample } from './tf-example.ts';
import { encodeExample } from './tf-example-writer.ts';

test('every kind of feature is what protobuf reads', () => {
  const integers = [
    0n,
    1n,
    127n,
    128n,
    300n,
    2n ** 31n,
    2n ** 35n,
    2n ** 63n - 1n,
    -1n,
    -(2n ** 63n),
  ];
  const bytes = encodeExample({
    floats: tensorFromValues('float32', [3], [0.1, Number.NaN, Number.NEGATIVE_INFINITY]),
    doubles: tensorFromValues('float64', [1, 2], [0.1, 1e300]),
    halves: tensorFromValues('float16', [1], [0.5]),
    integers: tensorFromValues('int64', [integers.length], integers),
    small: tensorFromValues('uint8', [2], [0, 255]),
    flags: tensorFromValues('bool', [2], [true, false]),
    largest: tensorFromValues('uint64', [1], [2n ** 64n - 1n]),
    texts: stringTensor([3], ['', 'é', Buffer.alloc(300, 0xff)]),
    none: tensorFromValues('float32', [0], []),
  });
  const { features } = fromBinary(ExampleSchema, bytes);
  const kinds = Object.entries(features?.feature ?? {}).map(([name, { kind }]) => [
    name,
    { case: kind.case, value: kind.value?.value },
  ]);
  expect(Object.fromEntries(kinds)).toEqual({
    floats: {
      case: 'floatList',
      value: [Math.fround(0.1), Number.NaN, Number.NEGATIVE_INFINITY],
    },
    doubles: { case: 'floatList', value: [Math.fround(0.1), Number.POSITIVE_INFINITY] },
    halves: { case: 'floatList', value: [0.5] },
    integers: { case: 'int64List', value: integers },
    small: { case: 'int64List', value: [0n, 255n] },
    flags: { case: 'int64List', value: [1n, 0n] },
    largest: { case: 'int64List', value: [-1n] },
    texts: {
      case: 'bytesList',
      value: [new Uint8Array(0), new Uint8Array([0xc3, 0xa9]), new Uint8Array(300).fill(0xff)],
    },
    none: { case: 'floatList', value: [] },
  });
  expect(
    toNested(decodeExample(bytes, DEFAULT_DECODE_LIMITS)?.small ?? stringTensor([0], [])),
  ).toEqual([0n, 255n]);
});
