/** Fields of the schema of a configuration, and those that configurations set. */
import * as z from 'zod';
import { configSchema } from '../../lib/config.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly type?: string;
}

/** A field as `models.*.endpoint.variants[].name`, and for each value of an enumeration `... = "gzip"`. */
export function schemaFields(): Set<string> {
  const found = new Set<string>();
  const visit = (schema: Schema, path: string): void => {
    if (path !== '') found.add(path);
    for (const value of schema.enum ?? (schema.const === undefined ? [] : [schema.const])) {
      found.add(`${path} = ${JSON.stringify(value)}`);
    }
    for (const [name, field] of Object.entries(schema.properties ?? {})) {
      visit(field, path === '' ? name : `${path}.${name}`);
    }
    if (typeof schema.additionalProperties === 'object') {
      visit(schema.additionalProperties, `${path}.*`);
    }
    if (schema.items) visit(schema.items, `${path}[]`);
    for (const one of [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]) visit(one, path);
  };
  visit(z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' }) as Schema, '');
  return found;
}

/** The same of a configuration. @param known which names are fields; others are the user's */
export function configFields(config: unknown, known: ReadonlySet<string>): string[] {
  const visit = (value: unknown, path: string): string[] => {
    const own = path === '' ? [] : [path];
    if (Array.isArray(value)) return [...own, ...value.flatMap((one) => visit(one, `${path}[]`))];
    if (typeof value !== 'object' || value === null) {
      return [...own, `${path} = ${JSON.stringify(value)}`];
    }
    return [
      ...own,
      ...Object.entries(value).flatMap(([name, item]) => {
        const field = path === '' ? name : `${path}.${name}`;
        return visit(item, known.has(field) ? field : `${path}.*`);
      }),
    ];
  };
  return visit(config, '');
}
