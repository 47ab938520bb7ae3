import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { fromBase64, goldenJson } from '../fixtures/read.ts';
import { DTYPES, type NumericDType } from './dtype.ts';
import { DataType, TensorProtoSchema, type TensorShapeProtoSchema } from './gen/tensorflow_pb.ts';
import { type NumericTensor, numericTensor, stringTensor, type Tensor } from './tensor.ts';
import { decodeTensorProto, encodeTensorProto, tensorProtoSteps } from './tensor-proto.ts';
import { toNested, typedArray } from './typed-array.ts';

const golden = goldenJson<{
  numeric: { dtype: NumericDType; form: string; shape: number[]; bytes: string; proto: string }[];
  strings: { shape: number[]; values: string[]; string_val: string; tensor_content: string };
  unsupported: Record<string, string>;
}>('tensor-protos.json');

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function errorOf(bytes: Uint8Array): { code: string; message: string } {
  try {
    decodeTensorProto(bytes);
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('decoded without an error');
}

describe('decodeTensorProto reads what TensorFlow writes', () => {
  test.each(golden.numeric)('$dtype as $form', ({ dtype, shape, bytes, proto }) => {
    const tensor = decodeTensorProto(fromBase64(proto));
    if (tensor.dtype === 'string') throw new Error('string');
    expect([tensor.dtype, tensor.shape, hex(tensor.bytes)]).toEqual([
      dtype,
      shape,
      hex(fromBase64(bytes)),
    ]);
  });

  test.each(['string_val', 'tensor_content'] as const)('strings as %s', (form) => {
    const tensor = decodeTensorProto(fromBase64(golden.strings[form]));
    if (tensor.dtype !== 'string') throw new Error(tensor.dtype);
    expect(tensor.shape).toEqual([2, 2]);
    expect(tensor.values.map(hex)).toEqual(golden.strings.values.map((v) => hex(fromBase64(v))));
  });

  test.each(['tensor_content', 'value field'])('float32 as %s is a view, not a copy', (form) => {
    const { proto } = golden.numeric.find((g) => g.dtype === 'float32' && g.form === form) ?? {};
    const bytes = fromBase64(proto ?? '');
    const tensor = decodeTensorProto(bytes);
    expect(tensor.dtype === 'float32' && tensor.bytes.buffer).toBe(bytes.buffer);
  });

  test('unpacked values, which old writers make', () => {
    const shape = [0x12, 4, 0x12, 2, 0x08, 3];
    const floats = Buffer.alloc(15);
    [1.5, -2, 0.25].forEach((value, i) => {
      floats[5 * i] = (5 << 3) | 5;
      floats.writeFloatLE(value, 5 * i + 1);
    });
    const float32 = decodeTensorProto(Uint8Array.from([0x08, 1, ...shape, ...floats]));
    expect(Array.from(typedArray(numericTensorOf(float32)) as Float32Array)).toEqual([
      1.5, -2, 0.25,
    ]);
    const unpacked = [0x38, 7, 0x38, 0x80, 0x02, 0x38, ...Array(9).fill(0xff), 0x01];
    const int32 = decodeTensorProto(Uint8Array.from([0x08, 3, ...shape, ...unpacked]));
    expect(Array.from(typedArray(numericTensorOf(int32)) as Int32Array)).toEqual([7, 256, -1]);
  });

  test('values before the dtype, and packed values in several runs', () => {
    const runs = [0x52, 1, 5, 0x52, 2, 0x80, 0x01, 0x12, 4, 0x12, 2, 0x08, 3, 0x08, 9];
    const tensor = numericTensorOf(decodeTensorProto(Uint8Array.from(runs)));
    expect(Array.from(typedArray(tensor) as BigInt64Array)).toEqual([5n, 128n, 128n]);
  });

  // The answers of TensorFlow Serving 2.20.0 to such tensors: local-model-server/test/odd-answers.json.
  test.each([
    ['float_val', { dtype: 1, floatVal: [1, 2, 3] }, [1, 2]],
    ['double_val', { dtype: 2, doubleVal: [1, 2, 3] }, [1, 2]],
    ['int_val', { dtype: 3, intVal: [1, -2, 300] }, [1, -2]],
    ['int_val of bytes', { dtype: 4, intVal: [1, 2, 300] }, [1, 2]],
    ['int64_val', { dtype: 9, int64Val: [1n, -2n, 3n] }, [1n, -2n]],
    ['bool_val', { dtype: 10, boolVal: [true, false, true] }, [true, false]],
    [
      'string_val',
      { dtype: 7, stringVal: [...'abc'].map((text) => Buffer.from(text)) },
      ['a', 'b'],
    ],
  ])('more values of %s than the shape holds: the first of them', (_name, fields, expected) => {
    const read = (shape: MessageInitShape<typeof TensorShapeProtoSchema>) => {
      const proto = create(TensorProtoSchema, { ...fields, tensorShape: shape });
      const nested = toNested(decodeTensorProto(toBinary(TensorProtoSchema, proto)));
      return JSON.parse(JSON.stringify(nested, plain)) as unknown;
    };
    const wanted = JSON.parse(JSON.stringify(expected, plain)) as unknown[];
    expect(read({ dim: [{ size: 2n }] })).toEqual(wanted);
    expect(read({ dim: [{ size: 0n }] })).toEqual([]);
    expect(read({ unknownRank: true })).toEqual(wanted[0]);
  });
});

/** Big integers as text, and strings of bytes as text. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  const { type, data } = (value ?? {}) as { type?: string; data?: number[] };
  return type === 'Buffer' && data ? Buffer.from(data).toString() : value;
}

describe('encodeTensorProto', () => {
  const numeric = golden.numeric.filter(({ form }) => form === 'tensor_content');

  test.each(numeric)('$dtype: the generated reader finds the same', ({ dtype, shape, bytes }) => {
    const chunks = encodeTensorProto({ dtype, shape, bytes: fromBase64(bytes) });
    const proto = fromBinary(TensorProtoSchema, Buffer.concat(chunks));
    expect(proto.dtype).toBe(DTYPES[dtype].enumValue);
    expect(proto.tensorShape?.dim.map((dim) => Number(dim.size))).toEqual(shape);
    expect(hex(proto.tensorContent)).toBe(hex(fromBase64(bytes)));
  });

  test('strings: the generated reader finds the same', () => {
    const values = golden.strings.values.map(fromBase64);
    const chunks = encodeTensorProto(stringTensor([4], values));
    const proto = fromBinary(TensorProtoSchema, Buffer.concat(chunks));
    expect(proto.stringVal.map(hex)).toEqual(values.map(hex));
  });

  test('large tensors and long strings are passed on without a copy', () => {
    const pixels = new Uint8Array(640 * 640 * 3);
    const [header, content, ...rest] = encodeTensorProto(
      numericTensor('uint8', [640, 640, 3], pixels),
    );
    expect(header?.byteLength).toBeLessThan(64);
    expect(content?.buffer).toBe(pixels.buffer);
    expect(rest).toEqual([]);
    const text = new Uint8Array(100_000);
    const chunks = encodeTensorProto(stringTensor([2], ['a', text]));
    expect(chunks.some((chunk) => chunk.buffer === text.buffer)).toBe(true);
  });

  test.each([[[]], [[0, 3]], [[1, 0]], [[1, 2, 3, 1, 1]]])('shape %j comes back', (shape) => {
    const count = shape.reduce((a: number, b: number) => a * b, 1);
    const tensor = numericTensor('int16', shape, new Int16Array(count).fill(-7));
    const back = numericTensorOf(decodeTensorProto(Buffer.concat(encodeTensorProto(tensor))));
    expect([back.shape, hex(back.bytes)]).toEqual([shape, hex(tensor.bytes)]);
  });

  test('many short strings come back', () => {
    const values = Array.from({ length: 20_000 }, (_, i) => `value ${i}`);
    const chunks = encodeTensorProto(stringTensor([values.length], values));
    expect(chunks.length).toBeLessThan(50);
    const back = decodeTensorProto(Buffer.concat(chunks));
    if (back.dtype !== 'string') throw new Error(back.dtype);
    expect(back.values.map((value) => Buffer.from(value).toString())).toEqual(values);
  });
});

describe('decodeTensorProto refuses', () => {
  test.each(Object.entries(golden.unsupported))('%s, naming the type', (name, proto) => {
    const error = errorOf(fromBase64(proto));
    expect(error.code).toBe('UNSUPPORTED_DTYPE');
    expect(error.message).toContain(`DT_${name.toUpperCase()}`);
  });

  test.each([
    [DataType.DT_QINT8, 'DT_QINT8'],
    [DataType.DT_RESOURCE, 'DT_RESOURCE'],
    [DataType.DT_VARIANT, 'DT_VARIANT'],
    [DataType.DT_INVALID, 'DT_INVALID'],
    [DataType.DT_RESOURCE_REF, 'DT_RESOURCE_REF'],
    [99, 'DataType 99'],
  ])('dtype %d, naming %s', (dtype, name) => {
    const bytes = toBinary(TensorProtoSchema, create(TensorProtoSchema, { dtype }));
    expect(errorOf(bytes)).toMatchObject({
      code: 'UNSUPPORTED_DTYPE',
      message: expect.stringContaining(name),
    });
  });

  test('an unknown size', () => {
    const dim = create(TensorProtoSchema, { dtype: 1, tensorShape: { dim: [{ size: -1n }] } });
    expect(errorOf(toBinary(TensorProtoSchema, dim))).toMatchObject({ code: 'MALFORMED' });
  });

  test('content that does not fill the shape', () => {
    for (const length of [7, 9]) {
      const tensorContent = new Uint8Array(length);
      const proto = { dtype: 1, tensorShape: { dim: [{ size: 2n }] }, tensorContent };
      const bytes = toBinary(TensorProtoSchema, create(TensorProtoSchema, proto));
      expect(errorOf(bytes).code).toBe('SHAPE_MISMATCH');
    }
  });

  test('a value that is cut among those that nobody takes', () => {
    const proto = create(TensorProtoSchema, { dtype: 3, tensorShape: { dim: [{ size: 1n }] } });
    // int_val = 7, packed: 1, and the first byte of a second value.
    const bytes = Buffer.concat([
      toBinary(TensorProtoSchema, proto),
      Buffer.from([0x3a, 2, 1, 0x80]),
    ]);
    expect(errorOf(bytes).code).toBe('MALFORMED');
  });

  test('every truncation of every golden, without any other kind of error', () => {
    const protos = [
      ...golden.numeric.map(({ proto }) => proto),
      golden.strings.string_val,
      golden.strings.tensor_content,
    ].map(fromBase64);
    for (const proto of protos) {
      for (let length = 0; length < proto.byteLength; length++) {
        try {
          decodeTensorProto(proto.subarray(0, length));
        } catch (error) {
          expect(error).toHaveProperty('name', 'TensorError');
        }
      }
    }
    const [first] = protos as [Uint8Array];
    expect(errorOf(first.subarray(0, first.byteLength - 1)).code).toBe('MALFORMED');
  });

  test('a few bytes that claim terabytes', () => {
    for (const dtype of [1, 3, 4, 7, 9, 10]) {
      const proto = create(TensorProtoSchema, {
        dtype,
        tensorShape: { dim: [{ size: 2n ** 42n }] },
      });
      expect(errorOf(toBinary(TensorProtoSchema, proto)).code).toBe('MALFORMED');
    }
  });
});

function numericTensorOf(tensor: Tensor) {
  if (tensor.dtype === 'string') throw new Error('a string tensor');
  return tensor;
}

describe('very many integers are read in steps', () => {
  const COUNT = 200_000;
  /** As large as the dtype has them, and so varints of every length, cut anywhere by a step. */
  const ofKind = (dtype: 'int32' | 'int64' | 'uint8' | 'uint16' | 'bool') =>
    Array.from({ length: COUNT }, (_, i) => {
      const large = (BigInt(i) * 0x9e37_79b9_7f4a_7c15n) >> BigInt(i % 60);
      if (dtype === 'int64') return BigInt.asIntN(64, large);
      if (dtype === 'int32') return Number(BigInt.asIntN(32, large));
      return Number(large & { uint8: 0xffn, uint16: 0xffffn, bool: 1n }[dtype]);
    });

  test.each(['int32', 'int64', 'uint8', 'uint16', 'bool'] as const)('%s', (dtype) => {
    const values = ofKind(dtype);
    const proto = {
      dtype: DTYPES[dtype].enumValue,
      tensorShape: { dim: [{ size: BigInt(COUNT) }] },
    };
    const field = { int64: 'int64Val', bool: 'boolVal' }[dtype as string] ?? 'intVal';
    const init = { ...proto, [field]: dtype === 'bool' ? values.map(Boolean) : values };
    const bytes = toBinary(TensorProtoSchema, create(TensorProtoSchema, init));
    const steps = tensorProtoSteps(bytes);
    let pauses = 0;
    let step = steps.next();
    for (; !step.done; step = steps.next()) pauses += 1;
    expect(pauses).toBeGreaterThan(1);
    expect(Array.from(typedArray(step.value as NumericTensor), Number)).toEqual(values.map(Number));
  });
});

test('the last of fewer floats is repeated, whatever their number', () => {
  const proto = {
    dtype: DataType.DT_DOUBLE,
    tensorShape: { dim: [{ size: 5n }] },
    doubleVal: [1, 2],
  };
  const tensor = decodeTensorProto(toBinary(TensorProtoSchema, create(TensorProtoSchema, proto)));
  expect([...typedArray(tensor as NumericTensor)]).toEqual([1, 2, 2, 2, 2]);
});
