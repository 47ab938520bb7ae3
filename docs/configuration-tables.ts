/** The tables of docs/configuration.md, made from the schema that checks a configuration. */
import * as z from 'zod';
import { configSchema } from '../lib/config.ts';
import { withMarked } from '../tools/marked.ts';
import { table } from '../tools/table.ts';

type Schema = z.core.JSONSchema.JSONSchema;

/** A row: a field with what it may be. */
interface Field {
  readonly name: string;
  readonly schema: Schema;
  readonly required: boolean;
}

/** Have tables of their own, or pages. */
const APART = [
  ...['models', 'endpoint', 'batch', 'batchWorker', 'variants', 'shadow', 'samples'],
  ...['preprocess', 'postprocess'],
];

const root = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });

/** The object at a path such as `models.endpoint.smokeTest.samples`; names of records are left out. */
function schemaAt(path: string): Schema {
  return path
    .split('.')
    .filter(Boolean)
    .reduce<Schema>((schema, name) => {
      const found = schema.properties?.[name];
      if (typeof found !== 'object') throw new Error(`no ${name} in the configuration's schema`);
      return elementOf(found);
    }, root);
}

function elementOf(schema: Schema): Schema {
  const { items, additionalProperties } = schema;
  if (typeof items === 'object' && !Array.isArray(items)) return items;
  if (typeof additionalProperties === 'object') return additionalProperties;
  return schema;
}

/** Fields of an object, of the objects in it as `outer.inner`, and of all variants of a union. */
function fieldsOf(schema: Schema, prefix = ''): Field[] {
  const variants = schema.anyOf ?? schema.oneOf ?? [schema];
  const fields = variants.flatMap((variant) =>
    Object.entries((variant as Schema).properties ?? {}).flatMap(([key, value]) => {
      const inner = value as Schema;
      const name = `${prefix}${key}`;
      const required = ((variant as Schema).required ?? []).includes(key);
      const own: Field = { name, schema: inner, required: required && variants.length === 1 };
      if (APART.includes(key)) return [own];
      return [own, ...fieldsOf(elementOf(inner), `${name}${inner.type === 'array' ? '[]' : ''}.`)];
    }),
  );
  const names = [...new Set(fields.map(({ name }) => name))];
  return names.flatMap((name) => merged(fields.filter((field) => field.name === name)));
}

/** One field for the same in several variants: `type: 'a'` and `type: 'b'` is `a` or `b`. */
function merged(same: readonly Field[]): Field[] {
  const [first] = same;
  if (!first) return [];
  const values = same.flatMap(({ schema }) => (schema.const === undefined ? [] : [schema.const]));
  return [values.length > 1 ? { ...first, schema: { ...first.schema, enum: values } } : first];
}

function typeOf(schema: Schema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(', ');
  if (schema.const !== undefined) return `\`${schema.const}\``;
  const variants = schema.anyOf ?? schema.oneOf;
  if (variants)
    return [...new Set(variants.map((variant) => typeOf(variant as Schema)))].join(', ');
  if (schema.type === 'array') return `list of ${typeOf(elementOf(schema))}`;
  if (schema.type === 'object') return schema.properties ? 'object' : 'by name';
  const { minimum, exclusiveMinimum, maximum } = schema;
  const open = maximum === undefined || maximum === Number.MAX_SAFE_INTEGER;
  const range =
    exclusiveMinimum !== undefined
      ? ` above ${exclusiveMinimum}`
      : minimum === undefined
        ? ''
        : open
          ? ` from ${minimum}`
          : ` ${minimum} to ${maximum}`;
  return `${schema.type ?? 'any'}${range}`;
}

function row({ name, schema, required }: Field): string[] {
  const { default: value, description = '' } = schema;
  if (!description) throw new Error(`${name} of the configuration has no description`);
  const plain = typeof value === 'string' || typeof value === 'boolean';
  const meaning = plain ? `${description} Default: \`${value}\`.` : description;
  return [`\`${name}\`${required ? ' (required)' : ''}`, typeOf(schema), meaning];
}

/** A page with the table behind every `<!-- fields: PATH -->` as the schema has it now. */
export function withTables(page: string): string {
  return withMarked(page, 'fields', (path) =>
    table(['field', 'type', 'meaning'], fieldsOf(schemaAt(path)).map(row)),
  );
}
