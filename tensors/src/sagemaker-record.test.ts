import { create, toBinary } from '@bufbuild/protobuf';
import { fromBase64, goldenJson } from '../fixtures/read.ts';
import { RecordSchema } from './gen/sagemaker_record_pb.ts';
import { encodeRecordIo, readRecordIo } from './recordio.ts';
import { decodeSageMakerRecord, encodeSageMakerRecord } from './sagemaker-record.ts';
import type { Tensor } from './tensor.ts';
import { toNested } from './typed-array.ts';
import { tensorFromValues } from './values.ts';

const golden = goldenJson<Record<'dense' | 'sparse' | 'images', string>>('recordio.json');

function records(name: keyof typeof golden) {
  return [...readRecordIo(fromBase64(golden[name]))].map((record) => decodeSageMakerRecord(record));
}

function nested(tensor: Tensor | undefined): unknown {
  return tensor && [tensor.dtype, toNested(tensor)];
}

describe('reads what SageMaker’s Python SDK writes', () => {
  test('dense rows with labels', () => {
    const rows = records('dense');
    expect(rows.map((row) => nested(row.features.values))).toEqual([
      ['float32', [1.5, -2, 3.25]],
      ['float32', [4, 5.5, 6]],
    ]);
    expect(rows.map((row) => nested(row.label.values))).toEqual([
      ['float64', [1]],
      ['float64', [0]],
    ]);
  });

  test('sparse rows, made dense', () => {
    expect(records('sparse').map((row) => nested(row.features.values))).toEqual([
      ['int32', [0, 7, 0, 9]],
      ['int32', [1, 0, 0, 0]],
    ]);
  });

  test('a sparse row of zeros has neither keys nor values', () => {
    const value = { case: 'int32Tensor' as const, value: { shape: [2n, 3n] } };
    const record = toBinary(
      RecordSchema,
      create(RecordSchema, { features: { values: { value } } }),
    );
    expect(nested(decodeSageMakerRecord(record).features.values)).toEqual([
      'int32',
      [
        [0, 0, 0],
        [0, 0, 0],
      ],
    ]);
  });

  test('bytes', () => {
    const [image] = records('images');
    expect(nested(image?.features.image)).toEqual([
      'string',
      [Buffer.from('\xff\xd8\xff\xe0 jpeg', 'latin1')],
    ]);
  });
});

test('writes the framed record that comes back', () => {
  const features = {
    values: tensorFromValues('float32', [2, 2], [1, 2, 3, 4]),
    id: tensorFromValues('int32', [1], [-7]),
    image: tensorFromValues('string', [1], [Uint8Array.of(255, 216)]),
  };
  const file = Buffer.concat(encodeRecordIo(encodeSageMakerRecord(features)));
  const [record] = [...readRecordIo(file)].map((record) => decodeSageMakerRecord(record));
  expect(Object.keys(record?.features ?? {})).toEqual(Object.keys(features));
  for (const [name, tensor] of Object.entries(features)) {
    expect(record?.features[name]?.shape).toEqual(tensor.shape);
    expect(nested(record?.features[name])).toEqual(nested(tensor));
  }
});

describe('refused, naming the feature', () => {
  const float32 = (value: { values?: number[]; keys?: bigint[]; shape?: bigint[] }) =>
    toBinary(
      RecordSchema,
      create(RecordSchema, { features: { x: { value: { case: 'float32Tensor', value } } } }),
    );

  test.each<[Uint8Array, string, string]>([
    [
      float32({ values: [1], shape: [2n] }),
      'SHAPE_MISMATCH',
      'feature "x": 1 values for shape [2]',
    ],
    [float32({ values: [1], keys: [0n] }), 'MALFORMED', 'feature "x": sparse values need a shape'],
    [
      float32({ values: [1], keys: [2n], shape: [2n] }),
      'SHAPE_MISMATCH',
      'key 2 is outside shape [2]',
    ],
    [float32({ values: [1], keys: [0n, 1n], shape: [2n] }), 'MALFORMED', '2 keys for 1 values'],
    [float32({ shape: [1n << 40n] }), 'TOO_LARGE', 'sparse values of shape'],
    [
      float32({ values: [1], keys: [0n], shape: [1n << 40n] }),
      'TOO_LARGE',
      'sparse values of shape',
    ],
    [Uint8Array.of(0x0a, 0x05, 0x01), 'MALFORMED', 'not an aialgs.data.Record message'],
  ])('%#', (bytes, code, message) => {
    expect(() => decodeSageMakerRecord(bytes)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(message) }),
    );
  });

  test('a dtype that records do not hold', () => {
    const x = tensorFromValues('uint8', [1], [1]);
    expect(() => encodeSageMakerRecord({ x })).toThrow(/feature "x": .* not uint8/);
  });
});
