/** Which tables are sent as having a header, and what a header is. */
import { cellsOf, csvTypeOf, headerOf } from './csv-table.ts';

test.each<[text: string, inputs: string[], type: string]>([
  ['zone,km\nA,1\n', ['km', 'zone'], 'text/csv; header=present'],
  ['\ufeff"zone" , km\r\nA,1\r\n', ['km', 'zone'], 'text/csv; header=present'],
  ['zone\n', ['km', 'zone'], 'text/csv'],
  ['zone,km,more\n', ['km', 'zone'], 'text/csv'],
  ['1,2\n', ['km', 'zone'], 'text/csv'],
  ['zone,km', ['km', 'zone'], 'text/csv'],
  ['', [], 'text/csv'],
])('%j for %j is %s', (text, inputs, type) => {
  expect(csvTypeOf(new TextEncoder().encode(text), inputs)).toBe(type);
});

test.each<[shapes: (number[] | null)[], header: string | undefined]>([
  [[[-1], [-1, 1]], 'a,b'],
  [
    [
      [-1, 3],
      [-1, 2, 2],
    ],
    'a,a,a,b,b,b,b',
  ],
  [
    [
      [-1, 3],
      [-1, -1],
    ],
    undefined,
  ],
  [[[-1, 3], null], undefined],
  [
    [
      [-1, 3],
      [-1, 150],
    ],
    undefined,
  ],
])('inputs of the shapes %j have the header %s', (shapes, header) => {
  const inputs = shapes.map((shape, at) => ['ab'[at], { dtype: 'float32', shape }]);
  expect(headerOf(Object.fromEntries(inputs))).toBe(header);
});

test('a byte-order mark is no part of the first cell', () => {
  expect(cellsOf('\ufeffage,rooms\n1,\ufeff2')).toEqual([
    ['age', 'rooms'],
    ['1', '\ufeff2'],
  ]);
});
