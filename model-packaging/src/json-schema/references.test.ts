import { relocated } from './references.ts';

const AT = '#/components/schemas/a';

test.each<[string, object, object]>([
  [
    'pointers, anchors and the own name',
    {
      $id: 'https://e.com/r',
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      items: { $ref: '#' },
      prefixItems: [{ $ref: '#/$defs/x%20y' }, { $ref: '#foo' }, { $ref: 'https://e.com/r#foo' }],
      $defs: { 'x y': { $anchor: 'foo', type: 'number' } },
    },
    {
      items: { $ref: AT },
      prefixItems: [
        { $ref: `${AT}/$defs/x%20y` },
        { $ref: `${AT}/$defs/x%20y` },
        { $ref: `${AT}/$defs/x%20y` },
      ],
      $defs: { 'x y': { type: 'number' } },
    },
  ],
  [
    'no data, and no property that has the name of a keyword',
    {
      const: { $ref: '#/x' },
      default: { $id: 'a' },
      enum: [{ $ref: '#' }],
      examples: [{ $ref: '#/b' }],
      'x-own': { $ref: '#' },
      properties: { $ref: { type: 'string' }, $id: { $ref: '#' } },
    },
    {
      const: { $ref: '#/x' },
      default: { $id: 'a' },
      enum: [{ $ref: '#' }],
      examples: [{ $ref: '#/b' }],
      'x-own': { $ref: '#' },
      properties: { $ref: { type: 'string' }, $id: { $ref: AT } },
    },
  ],
])('moved are %s', (_, schema, expected) => {
  expect(relocated(schema as Record<string, unknown>, AT)).toEqual(expected);
});
