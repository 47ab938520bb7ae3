/** JSON Schema (2020-12, as OpenAPI 3.1 has it) of tensors as JSON carries them. */
import type { TensorReport } from '../inspect/report.ts';

/** A JSON Schema. */
export type Schema = Readonly<Record<string, unknown>>;

/** What a schema needs of an input or output. */
export type TensorShape = Pick<TensorReport, 'dtype' | 'shape'>;

/** Text, or bytes that are not UTF-8. */
export const STRING: Schema = {
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

/** False for dtypes that the runtime refuses. */
export function isCarried({ dtype }: Pick<TensorShape, 'dtype'>): boolean {
  return ELEMENTS.has(dtype);
}

/** What a schema of a tensor leaves open. */
interface TensorOptions {
  /** Elements of the first dimension at least, where its size is open. Default: 0 */
  readonly least?: number;
  /** Ranks that it may have. Default: {@link ranksOf} */
  readonly ranks?: readonly number[];
}

/**
 * A whole tensor: lists in lists, of the length that a dimension has if it is fixed. An element or any list where
 * the rank is unknown.
 */
export function tensorSchema(
  { dtype, shape }: TensorShape,
  { least = 0, ranks }: TensorOptions = {},
): Schema {
  const element = elementSchema(dtype);
  if (shape === null) return anyOf([element, { type: 'array', ...lengths(-1, least) }]);
  const forms = (ranks ?? ranksOf(shape)).map((rank) =>
    nested(shape.slice(0, rank), element, least),
  );
  return anyOf(forms);
}

/** Ranks that a tensor of the shape may have: sizes of 1 at its end may be left out, as the runtime reads and writes them. */
export function ranksOf(shape: readonly number[]): number[] {
  const first = Math.min(shape.length, Math.max(1, shape.findLastIndex((size) => size !== 1) + 1));
  return Array.from({ length: shape.length - first + 1 }, (_, at) => shape.length - at);
}

/**
 * One row of a batch: the tensor without its first dimension; undefined if it has none.
 * @param ranks that the row may have, of those of {@link ranksOf}. Default: all
 */
export function rowSchema(
  { dtype, shape }: TensorShape,
  ranks: (rank: number) => boolean = () => true,
): Schema | undefined {
  if (shape === null) return tensorSchema({ dtype, shape });
  if (shape.length === 0) return undefined;
  const rows = ranksOf(shape).map((rank) => rank - 1);
  return tensorSchema({ dtype, shape: shape.slice(1) }, { ranks: rows.filter(ranks) });
}

/** An object with exactly these properties. */
export function objectSchema(
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = Object.keys(properties),
): Schema {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** A list of these, of `size` if that is fixed, else with one at least. */
export function listOf(items: Schema, size = -1): Schema {
  return { type: 'array', items, ...lengths(size, 1) };
}

/** What one of the schemas takes; of equal ones the first. Of no schemas: nothing, as JSON Schema forbids an empty `anyOf`. */
export function anyOf(schemas: readonly Schema[]): Schema {
  const [only, ...others] = new Map(schemas.map((one) => [JSON.stringify(one), one])).values();
  if (!only) return { not: {} };
  return others.length === 0 ? only : { anyOf: [only, ...others] };
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
