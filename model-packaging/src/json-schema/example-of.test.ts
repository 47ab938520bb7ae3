/** Each example that is made of a schema fits it, as a validator says. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import * as z from 'zod';
import { exampleOf } from './example-of.ts';
import type { JsonSchema } from './subschemas.ts';

const fits = (schema: JsonSchema, value: unknown) =>
  new Ajv2020({ strict: false, validateFormats: false }).validate(schema, value);

test('an example of the schema itself is declared', () => {
  const schema = { type: 'array', items: { type: 'number' }, examples: [[1, 2], [3]] };
  expect(exampleOf(schema)).toEqual({ value: [1, 2], isDeclared: true });
});

test.each<[string, JsonSchema]>([
  ['examples of parts', { type: 'object', properties: { a: { examples: [5] }, b: {} } }],
  ['what is required', { required: ['a', 'b'], properties: { a: { type: 'string' } } }],
  [
    'a constant and a choice',
    { required: ['a', 'b'], properties: { a: { const: 1 }, b: { enum: ['x'] } } },
  ],
  [
    'numbers in a range',
    {
      type: 'array',
      prefixItems: [
        { type: 'number', minimum: 3 },
        { type: 'integer', exclusiveMinimum: 3 },
        { type: 'number', maximum: -1 },
        { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 1 },
        { type: 'integer', minimum: 4, multipleOf: 3 },
        { type: 'integer', minimum: 0.5 },
      ],
      minItems: 6,
    },
  ],
  [
    'lists of a size',
    {
      type: 'array',
      items: { type: 'array', items: { type: 'number' }, minItems: 4, maxItems: 4 },
      minItems: 2,
    },
  ],
  ['an empty list', { type: 'array', items: { type: 'number' }, maxItems: 0 }],
  ['a text of a length', { type: 'string', minLength: 7 }],
  ['an alternative', { anyOf: [false, { type: 'boolean' }] }],
  [
    'both parts',
    {
      allOf: [
        { required: ['a'], properties: { a: { type: 'number' } } },
        { required: ['b'], properties: { b: { type: 'null' } } },
      ],
    },
  ],
  ['types in a list', { type: ['integer', 'null'] }],
  [
    'references',
    {
      $ref: '#/$defs/a~1b',
      $defs: {
        'a/b': { type: 'object', required: ['c'], properties: { c: { $ref: '#n' } } },
        n: { $anchor: 'n', type: 'integer' },
      },
    },
  ],
  [
    'a list of itself',
    {
      type: 'object',
      required: ['next'],
      properties: { next: { type: 'array', items: { $ref: '#' } } },
    },
  ],
  [
    'a schema of zod',
    z.toJSONSchema(
      z.object({
        x: z.array(z.number()).min(1),
        mode: z.enum(['a', 'b']),
        more: z.string().optional(),
        of: z.union([z.object({ kind: z.literal('q') }), z.null()]),
      }),
    ) as JsonSchema,
  ],
])('made of %s', (_what, schema) => {
  const made = exampleOf(schema);
  expect(made?.isDeclared).toBe(false);
  expect({ made, fits: fits(schema, made?.value) }).toEqual({ made, fits: true });
});

test.each<[string, JsonSchema]>([
  ['false', false],
  ['a required part without a value', { required: ['a'], properties: { a: false } }],
  ['a reference to itself', { $ref: '#' }],
  ['an object within itself without end', { required: ['a'], properties: { a: { $ref: '#' } } }],
])('none of %s', (_what, schema) => {
  expect(exampleOf(schema)).toBeUndefined();
});
