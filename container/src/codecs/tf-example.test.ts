import { create, toBinary } from '@bufbuild/protobuf';
import { toNested } from '@sagemaker-tfs/tensors';
import { ExampleSchema } from '@sagemaker-tfs/tensors/protos';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { decodeExample } from './tf-example.ts';

function shown(bytes: Uint8Array): Record<string, unknown> | undefined {
  const features = decodeExample(bytes, DEFAULT_DECODE_LIMITS);
  return (
    features &&
    Object.fromEntries(
      Object.entries(features).map(([name, tensor]) => [name, [tensor.dtype, toNested(tensor)]]),
    )
  );
}

test('reads what protobuf writes', () => {
  const integers = [0n, 127n, 128n, 2n ** 31n, 2n ** 63n - 1n, -1n, -(2n ** 63n)];
  const bytes = toBinary(
    ExampleSchema,
    create(ExampleSchema, {
      features: {
        feature: {
          f: { kind: { case: 'floatList', value: { value: [0.5, Number.NaN, -1e30] } } },
          i: { kind: { case: 'int64List', value: { value: integers } } },
          b: {
            kind: {
              case: 'bytesList',
              value: { value: [new Uint8Array(0), new Uint8Array([255])] },
            },
          },
          none: {},
        },
      },
    }),
  );
  expect(shown(bytes)).toEqual({
    f: ['float32', [0.5, Number.NaN, Math.fround(-1e30)]],
    i: ['int64', integers],
    b: ['string', [Buffer.alloc(0), Buffer.from([255])]],
    none: ['float32', []],
  });
});

test('reads unpacked lists', () => {
  // features { feature { key: "a" value { int64_list { value: 1 value: 300 } } } }
  const integers = Buffer.from('0a0e0a0c0a016112071a05080108ac02', 'hex');
  expect(shown(integers)).toEqual({ a: ['int64', [1n, 300n]] });
  // features { feature { key: "a" value { float_list { value: 1.0 value: 0.5 } } } }
  const floats = Buffer.from('0a130a110a0161120c120a0d0000803f0d0000003f', 'hex');
  expect(shown(floats)).toEqual({ a: ['float32', [1, 0.5]] });
});

test('what is no Example is undefined', () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from('text'), Buffer.from('0aff', 'hex')]) {
    expect(decodeExample(bytes, DEFAULT_DECODE_LIMITS)).toBeUndefined();
  }
});
