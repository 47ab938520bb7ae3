/** JSON Schema (2020-12, as OpenAPI 3.1 has it) of tensors as JSON carries them. */
import type { TensorReport } from '../inspect/report.ts';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** What a schema needs of an input or output. */
export type TensorShape = Pick<TensorReport, 'dtype' | 'shape'>;

/** Text, or bytes that are not UTF-8. */
const STRING: Schema = {
  anyOf: [
    { type: 'string' },
    {
      type: 'object',
      properties: { b64: { type: 'string', contentEncoding: 'base64' } },
      required: ['b64'],
      additionalProperties: false,
    },
  ],
};

const integer = (minimum: number, maximum: number): Schema => ({
  type: 'integer',
  minimum,
  maximum,
});

const ELEMENTS: ReadonlyMap<string, Schema> = new Map([
  ['float16', { type: 'number' }],
  ['bfloat16', { type: 'number' }],
  ['float32', { type: 'number', format: 'float' }],
  ['float64', { type: 'number', format: 'double' }],
  ['int8', integer(-128, 127)],
  ['int16', integer(-32_768, 32_767)],
  ['int32', { type: 'integer', format: 'int32' }],
  ['int64', { type: 'integer', format: 'int64' }],
  ['uint8', integer(0, 255)],
  ['uint16', integer(0, 65_535)],
  ['uint32', integer(0, 4_294_967_295)],
  ['uint64', { type: 'integer', minimum: 0 }],
  ['bool', { type: 'boolean' }],
  ['string', STRING],
]);

/** An element of the dtype; any value for dtypes that JSON does not carry. */
export function elementSchema(dtype: string): Schema {
  return ELEMENTS.get(dtype) ?? {};
}

/**
 * A whole tensor: lists in lists, of the length that a dimension has if it is fixed. Sizes of 1 at the end may be left
 * out, as the runtime reads and writes them. An element or any list where the rank is unknown.
 * @param least elements of the first dimension, where its size is open. Default: 0
 */
export function tensorSchema({ dtype, shape }: TensorShape, least = 0): Schema {
  const element = elementSchema(dtype);
  if (shape === null) return { anyOf: [element, { type: 'array', ...lengths(-1, least) }] };
  const whole = nested(shape, element, least);
  const short = shape.slice(0, trailingOnes(shape));
  return short.length === shape.length ? whole : { anyOf: [whole, nested(short, element, least)] };
}

/** One row of a batch: the tensor without its first dimension; undefined if it has none. */
export function rowSchema({ dtype, shape }: TensorShape): Schema | undefined {
  if (shape === null || shape.length === 0) return undefined;
  return tensorSchema({ dtype, shape: shape.slice(1) });
}

/** An object with exactly these properties. */
export function objectSchema(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = Object.keys(properties),
): Schema {
  return { type: 'object', properties, required, additionalProperties: false };
}

function nested(shape: readonly number[], element: Schema, least: number): Schema {
  return shape.reduceRight<Schema>(
    (items, size, at) => ({ type: 'array', items, ...lengths(size, at === 0 ? least : 0) }),
    element,
  );
}

function lengths(size: number, least: number): Schema {
  if (size >= 0) return { minItems: size, maxItems: size };
  return least > 0 ? { minItems: least } : {};
}

/** Where the sizes of 1 at the end begin. */
function trailingOnes(shape: readonly number[]): number {
  return shape.findLastIndex((size) => size !== 1) + 1;
}
