/** What in a JSON Schema (2020-12) is a schema, and no data such as a default. */

/** A schema, unchecked. */
export type JsonSchema = boolean | Readonly<Record<string, unknown>>;

/** Keywords that hold a schema. */
const ONE = new Set([
  ...['additionalProperties', 'contains', 'contentSchema', 'else', 'if', 'items', 'not'],
  ...['propertyNames', 'then', 'unevaluatedItems', 'unevaluatedProperties'],
]);
/** Keywords that hold a list of schemas. */
const LIST = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
/** Keywords that hold schemas by name. */
const NAMED = new Set([
  '$defs',
  'definitions',
  'dependentSchemas',
  'patternProperties',
  'properties',
]);

/** A schema within another, or that other itself. */
export interface Place {
  readonly schema: unknown;
  /** Keys that lead to it. */
  readonly path: readonly string[];
}

/** The schema, and all within it. */
export function* placesOf(schema: unknown, path: readonly string[] = []): Generator<Place> {
  yield { schema, path };
  if (!isObject(schema)) return;
  for (const [keyword, value] of Object.entries(schema)) {
    for (const [key, inner] of inKeyword(keyword, value)) {
      yield* placesOf(inner, key === '' ? [...path, keyword] : [...path, keyword, key]);
    }
  }
}

/** Schemas of a keyword; the key of an only one is empty. */
function inKeyword(keyword: string, value: unknown): readonly (readonly [string, unknown])[] {
  if (ONE.has(keyword)) return [['', value]];
  if (LIST.has(keyword) && Array.isArray(value)) return Object.entries(value);
  return NAMED.has(keyword) && isObject(value) ? Object.entries(value) : [];
}

/** The schema with those directly within it changed. */
export function withSubschemas(
  schema: Readonly<Record<string, unknown>>,
  change: (inner: unknown) => unknown,
): Record<string, unknown> {
  const changed = Object.entries(schema).map(([keyword, value]) => {
    if (ONE.has(keyword)) return [keyword, change(value)];
    if (LIST.has(keyword) && Array.isArray(value)) return [keyword, value.map(change)];
    if (!NAMED.has(keyword) || !isObject(value)) return [keyword, value];
    const named = Object.entries(value).map(([name, inner]) => [name, change(inner)]);
    return [keyword, Object.fromEntries(named)];
  });
  return Object.fromEntries(changed);
}

/** Whether a keyword holds schemas, and in which form. */
export function holds(keyword: string): 'one' | 'list' | 'named' | undefined {
  if (ONE.has(keyword)) return 'one';
  if (LIST.has(keyword)) return 'list';
  return NAMED.has(keyword) ? 'named' : undefined;
}

/** Whether a value is an object of JSON. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
