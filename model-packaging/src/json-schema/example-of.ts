/** A value that a JSON Schema describes: what it declares as an example, or one made of it. */
import { targetOf } from './references.ts';
import { isObject, type JsonSchema } from './subschemas.ts';

/** A value, and whether the schema itself has it as an example. */
export interface SchemaExample {
  readonly value: unknown;
  readonly isDeclared: boolean;
}

/** Schemas within schemas that are followed: recursive ones have no end. */
const DEEPEST = 16;
/** Elements of a list or characters of a text that is made. */
const LONGEST = 1024;

/**
 * The first of `examples`, else a value made of the schema: the examples, defaults and constants of its parts, what it
 * requires, and zeros. Undefined if nothing fits, as for `false`. A pattern is not looked at.
 */
export function exampleOf(schema: JsonSchema): SchemaExample | undefined {
  if (isObject(schema) && Array.isArray(schema.examples) && schema.examples.length > 0) {
    return { value: schema.examples[0], isDeclared: true };
  }
  const made = make(schema, { root: schema, depth: 0 });
  return made && { value: made.value, isDeclared: false };
}

interface Context {
  readonly root: JsonSchema;
  readonly depth: number;
}

type Made = { readonly value: unknown } | undefined;

function make(schema: unknown, { root, depth }: Context): Made {
  if (schema === false || depth > DEEPEST) return undefined;
  if (!isObject(schema)) return { value: {} };
  const inner = { root, depth: depth + 1 };
  const stated = statedValue(schema);
  if (stated) return stated;
  if (typeof schema.$ref === 'string') return make(targetOf(schema.$ref, root), inner);
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const choices = anyOf ?? oneOf;
  if (Array.isArray(choices))
    return firstOf(
      choices.map((one) => merged(rest, one)),
      inner,
    );
  if (Array.isArray(allOf)) return make(allOf.reduce(merged, rest), inner);
  return ofType(typeOf(schema), schema, inner);
}

function statedValue(schema: Readonly<Record<string, unknown>>): Made {
  if (Array.isArray(schema.examples) && schema.examples.length > 0)
    return { value: schema.examples[0] };
  for (const keyword of ['const', 'default'])
    if (keyword in schema) return { value: schema[keyword] };
  return Array.isArray(schema.enum) && schema.enum.length > 0
    ? { value: schema.enum[0] }
    : undefined;
}

function firstOf(schemas: readonly unknown[], context: Context): Made {
  for (const one of schemas) {
    const made = make(one, context);
    if (made) return made;
  }
  return undefined;
}

/** Both schemas at once, as far as properties and what is required go; of other keywords those of the second. */
function merged(one: unknown, other: unknown): unknown {
  if (!isObject(one) || !isObject(other)) return other === true ? one : other;
  const properties = { ...propertiesOf(one), ...propertiesOf(other) };
  const required = [...listIn(one, 'required'), ...listIn(other, 'required')];
  return { ...one, ...other, properties, required };
}

function propertiesOf({ properties }: Readonly<Record<string, unknown>>) {
  return isObject(properties) ? properties : {};
}

function listIn(schema: Readonly<Record<string, unknown>>, keyword: string): unknown[] {
  const value = schema[keyword];
  return Array.isArray(value) ? value : [];
}

function typeOf(schema: Readonly<Record<string, unknown>>): unknown {
  const { type } = schema;
  if (type !== undefined) return Array.isArray(type) ? type[0] : type;
  return 'items' in schema || 'prefixItems' in schema ? 'array' : 'object';
}

function ofType(type: unknown, schema: Readonly<Record<string, unknown>>, inner: Context): Made {
  if (type === 'object') return object(schema, inner);
  if (type === 'array') return list(schema, inner);
  if (type === 'string') return { value: 'a'.repeat(sizeIn(schema, 'minLength', 1)) };
  if (type === 'integer' || type === 'number') return { value: numberIn(schema, type) };
  return { value: type === 'boolean' ? false : null };
}

/** What is required, and what has an example of its own. */
function object(schema: Readonly<Record<string, unknown>>, inner: Context): Made {
  const required = listIn(schema, 'required');
  const properties = propertiesOf(schema);
  const entries: [string, unknown][] = [];
  for (const name of new Set([...required.map(String), ...Object.keys(properties)])) {
    const own = properties[name];
    const isNeeded = required.includes(name);
    if (!isNeeded && !(isObject(own) && 'examples' in own)) continue;
    const made = make(own ?? true, inner);
    if (!made && isNeeded) return undefined;
    if (made) entries.push([name, made.value]);
  }
  return { value: Object.fromEntries(entries) };
}

/** As many elements as it needs, one if there may be one. */
function list(schema: Readonly<Record<string, unknown>>, inner: Context): Made {
  const first = listIn(schema, 'prefixItems').map((one) => make(one, inner));
  const most = typeof schema.maxItems === 'number' ? schema.maxItems : LONGEST;
  const count = Math.min(sizeIn(schema, 'minItems', Math.max(first.length, 1)), most);
  const rest = 'items' in schema ? make(schema.items, inner) : undefined;
  const all = Array.from({ length: count }, (_, at) => (at < first.length ? first[at] : rest));
  const least = typeof schema.minItems === 'number' ? schema.minItems : 0;
  const end = all.indexOf(undefined);
  const made = end < 0 ? all : all.slice(0, end);
  return made.length < least ? undefined : { value: made.map((one) => one?.value) };
}

function sizeIn(schema: Readonly<Record<string, unknown>>, keyword: string, otherwise: number) {
  const size = schema[keyword];
  return Math.min(Math.max(typeof size === 'number' ? size : 0, otherwise), LONGEST);
}

/** The number next to 0 that is in range. */
function numberIn(schema: Readonly<Record<string, unknown>>, type: 'integer' | 'number'): number {
  const bound = (keyword: string) => {
    const value = schema[keyword];
    return typeof value === 'number' ? value : undefined;
  };
  const above = bound('exclusiveMinimum');
  const below = bound('exclusiveMaximum');
  const step = type === 'integer' ? 1 : halfWay(above, below);
  const low = Math.max(
    bound('minimum') ?? -Infinity,
    above === undefined ? -Infinity : above + step,
  );
  const high = Math.min(
    bound('maximum') ?? Infinity,
    below === undefined ? Infinity : below - step,
  );
  const next = Math.min(Math.max(0, low), high);
  const multiple = bound('multipleOf');
  if (multiple !== undefined && multiple > 0) return Math.ceil(next / multiple) * multiple;
  return type === 'integer' ? Math.ceil(next) : next;
}

function halfWay(above: number | undefined, below: number | undefined): number {
  return above === undefined || below === undefined ? 1 : (below - above) / 2;
}
