import { answersOf } from './answers.ts';
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
  [JSON.stringify('1,2\n3,4\n'), [JSON.stringify('1,2\n3,4\n')]],
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

describe('an output in CSV is an answer for each of its records', () => {
  const jsonOf = (text: string, mediaType?: string) =>
    answersOf('k', Buffer.from(text), mediaType).flatMap(rowsOf);

  test.each([
    [
      '1.0\n2.50\nNaN\n-Infinity\n12345678901234567890\ntrue\n',
      ['1.0', '2.50', 'NaN', '-Infinity', '12345678901234567890', 'true'],
    ],
    ['"1"\n"true"\n"{""a"": 1}"\n"[1]"\n', ['"1"', '"true"', '"{\\"a\\": 1}"', '"[1]"']],
    ['"C:\\new"\n"say ""so"""\n""\n', ['"C:\\\\new"', '"say \\"so\\""', '""']],
    ['"two\nlines"\n"three\r\nmore\nlines"\n', ['"two\\nlines"', '"three\\r\\nmore\\nlines"']],
    ['1,"b"\r\n-2e-7,"c,d"\r\n', ['[1,"b"]', '[-2e-7,"c,d"]']],
    ['0x10\n01\nabc\n1 2\n', ['"0x10"', '"01"', '"abc"', '"1 2"']],
    ['1\n"{""error"":""no number""}"\n', ['1', '{"error":"no number"}']],
    [
      '"{""error"":1}"\n1,"{""error"":""x""}"\n',
      ['"{\\"error\\":1}"', '[1,"{\\"error\\":\\"x\\"}"]'],
    ],
  ])('%j', (text, rows) => {
    expect(jsonOf(text, 'text/csv; charset=utf-8')).toEqual(rows);
  });

  test('of an unknown type, what is no JSON is read so too, and JSON stays JSON', () => {
    expect(jsonOf('1,2\n3,4\n')).toEqual(['[1,2]', '[3,4]']);
    expect(jsonOf('"a\\nb"')).toEqual(['"a\\nb"']);
    expect(jsonOf('no "CSV" at all\n')).toEqual(['"no \\"CSV\\" at all\\n"']);
  });

  test('several have their numbers, one alone has none', () => {
    expect(answersOf('k', Buffer.from('7\n'), 'text/csv')).toEqual([{ key: 'k', json: '7' }]);
    expect(answersOf('k', Buffer.from('7\n8\n'), 'text/csv')).toEqual([
      { key: 'k', record: 0, json: '7' },
      { key: 'k', record: 1, json: '8' },
    ]);
    expect(answersOf('k', Buffer.from(''), 'text/csv')).toHaveLength(1);
  });
});
