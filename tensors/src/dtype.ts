/**
 * The element types of TensorFlow tensors, with the facts every format needs about each: its number in
 * TensorFlow's `DataType` enum, its size, and its spelling in `.npy` headers.
 */

/** Element types that this project carries. Names are TensorFlow's, as `tf.float32.name` prints them. */
export type DType =
  | 'float16'
  | 'float32'
  | 'float64'
  | 'bfloat16'
  | 'int8'
  | 'int16'
  | 'int32'
  | 'int64'
  | 'uint8'
  | 'uint16'
  | 'uint32'
  | 'uint64'
  | 'bool'
  | 'string';

/** Every dtype but `string`: elements of one fixed size, stored little-endian. */
export type NumericDType = Exclude<DType, 'string'>;

/** What is known about one dtype. */
export interface DTypeInfo {
  /** Value in TensorFlow's `DataType` enum (tensorflow/core/framework/types.proto). */
  readonly enumValue: number;
  /** Name in TensorFlow's `DataType` enum, for example `DT_FLOAT`. */
  readonly enumName: string;
  /** Bytes of one element; 0 for `string`, whose elements vary in size. */
  readonly size: number;
}

/** Facts about every dtype, by name. */
export const DTYPES: Readonly<Record<DType, DTypeInfo>> = {
  float32: { enumValue: 1, enumName: 'DT_FLOAT', size: 4 },
  float64: { enumValue: 2, enumName: 'DT_DOUBLE', size: 8 },
  int32: { enumValue: 3, enumName: 'DT_INT32', size: 4 },
  uint8: { enumValue: 4, enumName: 'DT_UINT8', size: 1 },
  int16: { enumValue: 5, enumName: 'DT_INT16', size: 2 },
  int8: { enumValue: 6, enumName: 'DT_INT8', size: 1 },
  string: { enumValue: 7, enumName: 'DT_STRING', size: 0 },
  int64: { enumValue: 9, enumName: 'DT_INT64', size: 8 },
  bool: { enumValue: 10, enumName: 'DT_BOOL', size: 1 },
  bfloat16: { enumValue: 14, enumName: 'DT_BFLOAT16', size: 2 },
  uint16: { enumValue: 17, enumName: 'DT_UINT16', size: 2 },
  float16: { enumValue: 19, enumName: 'DT_HALF', size: 2 },
  uint32: { enumValue: 22, enumName: 'DT_UINT32', size: 4 },
  uint64: { enumValue: 23, enumName: 'DT_UINT64', size: 8 },
};

const UNSUPPORTED_NAMES: Readonly<Record<number, string>> = {
  0: 'DT_INVALID',
  8: 'DT_COMPLEX64',
  11: 'DT_QINT8',
  12: 'DT_QUINT8',
  13: 'DT_QINT32',
  15: 'DT_QINT16',
  16: 'DT_QUINT16',
  18: 'DT_COMPLEX128',
  20: 'DT_RESOURCE',
  21: 'DT_VARIANT',
  24: 'DT_FLOAT8_E5M2',
  25: 'DT_FLOAT8_E4M3FN',
  26: 'DT_FLOAT8_E4M3FNUZ',
  27: 'DT_FLOAT8_E4M3B11FNUZ',
  28: 'DT_FLOAT8_E5M2FNUZ',
  29: 'DT_INT4',
  30: 'DT_UINT4',
  31: 'DT_INT2',
  32: 'DT_UINT2',
  33: 'DT_FLOAT4_E2M1FN',
};

const BY_ENUM_VALUE = new Map<number, DType>(
  (Object.keys(DTYPES) as DType[]).map((name) => [DTYPES[name].enumValue, name]),
);

const ENUM_BY_NAME = new Map([
  ...Object.values(DTYPES).map(({ enumName, enumValue }) => [enumName, enumValue] as const),
  ...Object.entries(UNSUPPORTED_NAMES).map(([value, name]) => [name, Number(value)] as const),
]);

/** From here on `DataType` has the reference types of TensorFlow 1, each 100 above the type that it refers to. */
const REFERENCE = 100;

/**
 * The dtype with this `DataType` enum value, or undefined if it is not one of {@link DTYPES}. A reference
 * type (`DT_FLOAT_REF`) is what it refers to: values are fed and fetched as that.
 */
export function dtypeOfEnum(value: number): DType | undefined {
  return BY_ENUM_VALUE.get(value > REFERENCE ? value - REFERENCE : value);
}

/** The `DataType` enum value with this name (`DT_COMPLEX64`, `DT_FLOAT_REF`), or 0 if nothing here has it. */
export function enumOfName(name: string): number {
  const plain = name.replace(/_REF$/, '');
  const value = ENUM_BY_NAME.get(plain) ?? 0;
  return value !== 0 && plain !== name ? value + REFERENCE : value;
}

/** What messages call a dtype: `float32`, or TensorFlow's own name where it is none of {@link DTYPES}. */
export function dtypeText(spec: {
  readonly dtype: DType | undefined;
  readonly dtypeEnum: number;
}): string {
  return spec.dtype ?? (spec.dtypeEnum === 0 ? 'an unknown dtype' : enumName(spec.dtypeEnum));
}

/** TensorFlow's name for any `DataType` enum value, supported here or not, for messages. */
export function enumName(value: number): string {
  // One step: a number that a message claims may be any.
  const referred = value - REFERENCE;
  const isReference = referred > 0 && referred < REFERENCE;
  if (isReference) return `${enumName(referred)}_REF`;
  const dtype = dtypeOfEnum(value);
  if (dtype) return DTYPES[dtype].enumName;
  return UNSUPPORTED_NAMES[value] ?? `DataType ${value}`;
}
