/** What people write into a form's field, and the JSON that is sent. */
import { jsonOf } from './values.ts';

test.each<[text: string, dtype: string, shape: number[] | null, json: string]>([
  ['good movie', 'string', [-1, 1], '[["good movie"]]'],
  [' zeros ', 'string', [-1], '["zeros"]'],
  ['"a \\"b\\""', 'string', [-1], '["a \\"b\\""]'],
  ['5', 'string', [], '"5"'],
  ['[["a"], ["b"]]', 'string', [-1, 1], '[["a"], ["b"]]'],
  ['word', 'string', null, '["word"]'],
  ['zeros', 'float32', [-1, 2], '[[0,0]]'],
  ['[NaN, -Infinity, 1]', 'float32', [-1], '[NaN, -Infinity, 1]'],
  ['61', 'float32', [-1, 1], '[[61]]'],
  ['-Infinity', 'float32', [-1], '[-Infinity]'],
  ['9007199254740993', 'int64', [1], '[9007199254740993]'],
  ['true', 'bool', [-1], '[true]'],
  ['5', 'int64', [], '5'],
  ['5', 'int64', null, '5'],
  ['5', 'int64', [-1, 2], '5'],
  ['[9007199254740993]', 'int64', [-1], '[9007199254740993]'],
])('%s as %s %j is sent as %s', (text, dtype, shape, json) => {
  expect(jsonOf(text, { dtype, shape })).toBe(json);
});

test.each<[text: string, dtype: string, shape: number[], message: RegExp]>([
  [
    'a word',
    'string',
    [-1, 3],
    /^strings need a JSON array, for example \[\["text","text","text"\]\]$/,
  ],
  ['"open', 'string', [-1], /^not JSON: /],
  ['[1, nonsense]', 'float32', [-1], /^not JSON: /],
  ['[NaN]', 'int32', [-1], /^not JSON: /],
])('%s as %s %j is refused', (text, dtype, shape, message) => {
  expect(() => jsonOf(text, { dtype, shape })).toThrow(message);
});
