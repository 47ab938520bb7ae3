/** Values in every form that a message may have them in, and no memory for each of very many. */
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { decodePredictRequest, PREDICT_REQUEST_LIMITS } from './predict-message.ts';
import { repeatedValues, type ValueWire } from './repeated-values.ts';
import { decodeSageMakerRecord } from './sagemaker-record.ts';
import { decodeTensorProto } from './tensor-proto.ts';
import { forEachField, WIRE } from './wire-reader.ts';

const FIELD = 5;

function packedOf(single: ValueWire, message: Uint8Array): number[] {
  const values = repeatedValues(single);
  forEachField(
    message,
    (field, wireType, reader) => field === FIELD && values.take(reader, wireType),
  );
  return [...values.packed()];
}

test('runs, single values and others between them become one run', () => {
  const message = new BinaryWriter().tag(FIELD, 2).bytes(Uint8Array.of(1, 0x80, 1));
  message.tag(FIELD, 0).uint32(300).tag(9, 0).uint32(7).tag(FIELD, 2).bytes(new Uint8Array(0));
  message.tag(FIELD, 2).bytes(Uint8Array.from({ length: 100 }, (_, i) => i));
  const expected = [1, 0x80, 1, 0xac, 2, ...Array.from({ length: 100 }, (_, i) => i)];
  expect(packedOf(WIRE.varint, message.finish())).toEqual(expected);
});

test('one run alone is a view', () => {
  const message = new BinaryWriter().tag(FIELD, 2).bytes(new Uint8Array(8)).finish();
  const values = repeatedValues(WIRE.fixed32);
  forEachField(message, (_, wireType, reader) => values.take(reader, wireType));
  expect(values.packed().buffer).toBe(message.buffer);
});

test.each<[string, ValueWire, readonly number[]]>([
  ['a varint', WIRE.varint, [1, 0x80]],
  ['a float', WIRE.fixed32, [1, 2, 3]],
  ['a double', WIRE.fixed64, [1, 2, 3, 4]],
])('a run that ends within %s is refused', (_, single, run) => {
  const message = new BinaryWriter().tag(FIELD, 2).bytes(Uint8Array.from(run));
  message.tag(FIELD, 2).bytes(Uint8Array.from([...run]));
  expect(() => packedOf(single, message.finish())).toThrow(
    expect.objectContaining({ code: 'MALFORMED' }),
  );
});

test('a value of another wire type is passed over', () => {
  const message = new BinaryWriter().tag(FIELD, 1).fixed64(1).tag(FIELD, 0).uint32(3).finish();
  expect(packedOf(WIRE.varint, message)).toEqual([3]);
});

const COUNT = 1_000_000;
/** `COUNT` fields of one value each, in one of the forms. */
const many = (piece: readonly number[]) =>
  Buffer.alloc(COUNT * piece.length, Uint8Array.from(piece));
const tensorOf = (dtype: number, values: Uint8Array, count = COUNT) =>
  Buffer.concat([
    new BinaryWriter().tag(1, 0).int32(dtype).finish(),
    new BinaryWriter()
      .tag(2, 2)
      .fork()
      .tag(2, 2)
      .fork()
      .tag(1, 0)
      .int64(count)
      .join()
      .join()
      .finish(),
    values,
  ]);
const recordOf = (kind: number, vector: Uint8Array) =>
  new BinaryWriter()
    .tag(1, 2)
    .fork()
    .tag(1, 2)
    .string('x')
    .tag(2, 2)
    .fork()
    .tag(kind, 2)
    .bytes(vector)
    .join()
    .join()
    .finish();

test.each<[string, Uint8Array, (bytes: Uint8Array) => unknown]>([
  ['int64 one by one', tensorOf(9, many([0x50, 7])), decodeTensorProto],
  ['int64 in runs of one', tensorOf(9, many([0x52, 1, 7])), decodeTensorProto],
  ['int64 in empty runs', tensorOf(9, many([0x52, 0])), decodeTensorProto],
  ['floats one by one', tensorOf(1, many([0x2d, 0, 0, 0, 0])), decodeTensorProto],
  ['floats of unknown fields', tensorOf(1, many([0xf8, 1, 0])), decodeTensorProto],
  ['int32 of a Record one by one', recordOf(7, many([0x08, 7])), decodeSageMakerRecord],
  [
    'floats of a Record in runs of one',
    recordOf(2, many([0x0a, 4, 0, 0, 0, 0])),
    decodeSageMakerRecord,
  ],
])('a million %s are not kept one by one', (_, bytes, decode) => {
  const before = process.memoryUsage().heapUsed;
  const decoded = decode(bytes);
  const after = process.memoryUsage().heapUsed;
  expect(decoded).toBeDefined();
  // A view alone takes some hundred bytes. What one pass drops may still be there.
  expect(after - before).toBeLessThan(60 * COUNT);
});

describe('a PredictRequest', () => {
  const input = (name: string, tensor: Uint8Array) =>
    new BinaryWriter()
      .tag(2, 2)
      .fork()
      .tag(1, 2)
      .string(name)
      .tag(2, 2)
      .bytes(tensor)
      .join()
      .finish();
  /** Four megabytes of float32 in a few bytes: what is missing is filled up. */
  const huge = tensorOf(1, new Uint8Array(0), 2 ** 20);
  const strings = (count: number) =>
    tensorOf(7, Buffer.alloc(2 * count, Uint8Array.of(0x42, 0)), count);
  const limits = { ...PREDICT_REQUEST_LIMITS, maxRepeatedBytes: 2 ** 23 };

  test('may not claim any amount in many small inputs, or in one name', () => {
    for (const name of [(i: number) => `x${i}`, () => 'x']) {
      const few = Buffer.concat([0, 1].map((i) => input(name(i), huge)));
      expect(Object.keys(decodePredictRequest(few, limits).inputs)).not.toEqual([]);
      const many = Buffer.concat(Array.from({ length: 4 }, (_, i) => input(name(i), huge)));
      expect(() => decodePredictRequest(many, limits)).toThrow(
        expect.objectContaining({ code: 'TOO_LARGE' }),
      );
    }
  });

  test('may hold a limited number of strings and of names', () => {
    const two = Buffer.concat([input('a', strings(3)), input('b', strings(3))]);
    expect(decodePredictRequest(two, { ...limits, maxStrings: 6 }).inputs).toHaveProperty('b');
    const asked = Buffer.alloc(6, Uint8Array.of(0x1a, 0));
    for (const [bytes, less] of [
      [two, { maxStrings: 5 }],
      [two, { maxNames: 1 }],
      [asked, { maxNames: 2 }],
    ] as const) {
      expect(() => decodePredictRequest(bytes, { ...limits, ...less })).toThrow(
        expect.objectContaining({ code: 'TOO_LARGE' }),
      );
    }
  });
});
