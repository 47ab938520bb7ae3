import { answersOf } from './answers.ts';
import { jsonDocuments } from './json-documents.ts';

test.each<[text: string, documents: string[] | undefined]>([
  ['{"a":1}{"a":2}', ['{"a":1}', '{"a":2}']],
  ['[1,[2]][3]', ['[1,[2]]', '[3]']],
  ['{"a":"}{\\"["}{"b":[NaN]}', ['{"a":"}{\\"["}', '{"b":[NaN]}']],
  ['{"a":{}}\n {"a":{}}\n', ['{"a":{}}', '{"a":{}}']],
  ['{"a":1}', ['{"a":1}']],
  ['{"a":1}x', undefined],
  ['{"a":1}{"a":', undefined],
  ['{"a":"', undefined],
  ['{"a"}{}', undefined],
  ['1 2', undefined],
  ['', undefined],
])('%j', (text, documents) => {
  expect(jsonDocuments(text)).toEqual(documents);
});

test('long texts take time by their length', () => {
  const one = `{"predictions":[${'[0.125,0.25],'.repeat(50_000)}[1]],"text":"${'x'.repeat(200_000)}"}`;
  expect(jsonDocuments(one + one)).toHaveLength(2);
});

test('an output of documents with nothing between is as many answers', () => {
  const answers = answersOf(
    'a.jsonl',
    Buffer.from('{"predictions":[[1.50]]}{"predictions":[[2]]}'),
  );
  expect(answers).toEqual([
    { key: 'a.jsonl', record: 0, json: '{"predictions":[[1.50]]}' },
    { key: 'a.jsonl', record: 1, json: '{"predictions":[[2]]}' },
  ]);
});
