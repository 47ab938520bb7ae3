import { rowsOf } from './rows.ts';

test.each([
  ['{"predictions": [1, 2.50, 12345678901234567890]}', ['1', '2.50', '12345678901234567890']],
  ['{"predictions": []}', []],
  [
    '{"predictions": [ {"a, ]": "x\\"], \\\\"} , [[1],[2, 3]] ]}',
    ['{"a, ]": "x\\"], \\\\"}', '[[1],[2, 3]]'],
  ],
  ['{"a": {"predictions": [7]}, "predictions": [8, "9"]}', ['8', '"9"']],
  ['{"predictions": [1], "other": [2, 3], "predictions": [4, 5]}', ['4', '5']],
  ['{"pred\\u0069ctions": [1, null]}', ['1', 'null']],
  ['{"a": "predictions", "b": [1, 2]}', ['{"a": "predictions", "b": [1, 2]}']],
  ['{"predictions": {"a": [1, 2]}}', ['{"predictions": {"a": [1, 2]}}']],
  ['[1, 2]', ['[1, 2]']],
  ['3.10', ['3.10']],
  [JSON.stringify('1,2\n3,4\n'), ['"1,2"', '"3,4"']],
  [JSON.stringify('1\n"{""error"":""no number""}"\n'), ['"1"', '{"error":"no number"}']],
])('%s', (json, rows) => {
  expect(rowsOf({ json })).toEqual(rows);
});

test('elements are those that JSON.parse finds', () => {
  const values = ['a"b\\', '\\', '],[', { predictions: [1, { x: '}' }] }, [], {}, -1.5e-7, false];
  for (const space of [undefined, 1]) {
    const json = JSON.stringify({ z: values, predictions: values, y: 'predictions' }, null, space);
    expect(rowsOf({ json }).map((row) => JSON.parse(row))).toEqual(values);
  }
});
