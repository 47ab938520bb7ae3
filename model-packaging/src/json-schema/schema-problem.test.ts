import { Ajv2020 } from 'ajv/dist/2020.js';
import { schemaProblem } from './schema-problem.ts';

const ajv = new Ajv2020({ strict: false, validateFormats: false, logger: false });

test.each<[unknown, RegExp]>([
  [5, /^r: 5 is no schema$/],
  [{ type: 'nmber' }, /^r\.type: "nmber" is wrong\. Write one of array, .*, or a list of them$/],
  [{ type: [] }, /^r\.type: /],
  [{ properties: { x: { type: 'nmber' } } }, /^r\.properties\.x\.type: "nmber"/],
  [{ required: 'x' }, /^r\.required: "x" is wrong\. Write a list of different names$/],
  [{ required: ['x', 'x'] }, /^r\.required: /],
  [{ items: [{ type: 'string' }] }, /^r\.items: \[.*\] is no schema$/],
  [{ items: { not: { minLength: -1 } } }, /^r\.items\.not\.minLength: -1 .* a whole number from 0/],
  [{ maxItems: 1.5 }, /^r\.maxItems: /],
  [{ anyOf: [] }, /^r\.anyOf: \[\] is wrong\. Write a list of schemas$/],
  [{ anyOf: [true, 'x'] }, /^r\.anyOf\.1: "x" is no schema$/],
  [{ $defs: [] }, /^r\.\$defs: .* an object of schemas$/],
  [{ multipleOf: 0 }, /^r\.multipleOf: /],
  [{ minimum: '1' }, /^r\.minimum: .* a number$/],
  [{ uniqueItems: 1 }, /^r\.uniqueItems: .* true or false$/],
  [{ title: 1 }, /^r\.title: .* a text$/],
  [{ enum: 'a' }, /^r\.enum: .* a list$/],
  [{ $anchor: '1' }, /^r\.\$anchor: /],
  [{ dependentRequired: { a: 'b' } }, /^r\.dependentRequired: /],
  [{ dependencies: { a: 'b' } }, /^r\.dependencies: .* dependentSchemas/],
])('%j is no JSON Schema', (schema, message) => {
  expect(schemaProblem(schema, 'r')).toMatch(message);
  // As the meta-schema has it, too.
  expect(ajv.validateSchema(schema as object)).toBe(false);
});

test.each<[object, RegExp]>([
  [{ pattern: '(' }, /^r\.pattern: "\(" is wrong\. Write a regular expression$/],
  [{ patternProperties: { '(': true } }, /^r\.patternProperties: /],
  [
    { $ref: 'https://example.com/x.json' },
    /^r\.\$ref: "https.*" leads to no schema within this one/,
  ],
  [{ items: { $ref: '#/$defs/none' }, $defs: {} }, /^r\.items\.\$ref: /],
  [{ $ref: '#none' }, /^r\.\$ref: /],
  [{ $ref: '#/const', const: {} }, /^r\.\$ref: /],
  [{ $dynamicRef: '#a' }, /^r\.\$dynamicRef: write \$ref/],
  [{ items: { $id: 'a' } }, /^r\.items\.\$id: only the whole schema/],
])('%j is a schema that the document cannot hold', (schema, message) => {
  expect(schemaProblem(schema, 'r')).toMatch(message);
});

test.each<[object | boolean]>([
  [true],
  [{}],
  [{ type: ['string', 'null'], 'x-own': 5, nullable: 'yes' }],
  [{ $ref: '#' }],
  [{ $id: 'https://e.com/r', items: { $ref: 'https://e.com/r#/$defs/a' }, $defs: { a: true } }],
  [{ items: { $ref: '#/$defs/a~1b%20c' }, $defs: { 'a/b c': { type: 'string' } } }],
  [{ items: { $ref: '#foo' }, $defs: { a: { $anchor: 'foo' } } }],
  [{ const: { $ref: '#/x' }, default: { type: 'nmber' }, examples: [{ $ref: 5 }] }],
  [{ properties: { $ref: { type: 'string' }, type: { type: 'number' } }, required: [] }],
])('%j is a JSON Schema', (schema) => {
  expect(schemaProblem(schema, 'r')).toBeUndefined();
  expect(ajv.validateSchema(schema)).toBe(true);
});
