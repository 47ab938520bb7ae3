/** The fields and the tests that the table of SageMaker's features names exist. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { configSchema } from '../lib/config.ts';

const page = readFileSync(join(__dirname, 'sagemaker-features.md'), 'utf8');
const rows = page
  .split('\n')
  .filter((line) => line.startsWith('| ') && !/^\| (---|feature)/.test(line))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '')));

type Schema = z.core.JSONSchema.JSONSchema;
const root = z.toJSONSchema(configSchema, { io: 'input', unrepresentable: 'any' });

/** The schema at a path; undefined if there is none. */
function at(schema: Schema, path: readonly string[]): Schema | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return schema;
  const found = name === '*' ? schema.additionalProperties : schema.properties?.[name];
  return typeof found === 'object' ? at(found, rest) : undefined;
}

const PARTS: Readonly<Record<string, readonly string[]>> = {
  '': ['models', '*', 'endpoint'],
  batch: ['models', '*', 'batch'],
  batchWorker: ['models', '*', 'batchWorker'],
  model: ['models', '*'],
  top: [],
};

test.each(rows)('%s', (_, here = '', cost = '', shown = '') => {
  const fields = [...here.matchAll(/(the construct's )?`(?:(\w+):)?([\w.]+)`/g)].filter(
    ([, ofConstruct, , name]) => !ofConstruct && name !== 'rolling',
  );
  for (const [text, , part = '', name = ''] of fields) {
    const path = [...(PARTS[part] ?? ['no such part']), ...name.split('.')];
    expect({ text, found: at(root, path) !== undefined }).toEqual({ text, found: true });
  }
  expect(cost).not.toBe('');
  const [, file = '', name = ''] = /^`([\w.-]+)`: (.*)$/.exec(shown) ?? [];
  expect(readFileSync(join(__dirname, '../test/stacks', file), 'utf8')).toContain(`test('${name}'`);
});

test('the table has rows', () => {
  expect(rows.length).toBeGreaterThan(20);
});
