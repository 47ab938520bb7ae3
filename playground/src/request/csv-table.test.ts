/** Which tables are sent as having a header. */
import { csvTypeOf } from './csv-table.ts';

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
