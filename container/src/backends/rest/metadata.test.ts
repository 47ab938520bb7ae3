import { parseMetadata, parseStatus } from './metadata.ts';

const ended = (state: string) =>
  JSON.stringify({ model_version_status: [{ version: '1', state, status: {} }] });

test('what TensorFlow Serving says of a version', () => {
  expect(parseStatus(ended('AVAILABLE'))).toEqual([
    { version: '1', state: 'AVAILABLE', errorMessage: '' },
  ]);
});

test.each([
  [parseStatus, ended('GONE'), /: model_version_status\[0\]\.state: 'GONE' is not 'UNKNOWN', /],
  [parseStatus, '{}', /: model_version_status: missing\. Give a list\. Check what listens/],
  [parseMetadata, '<html>', /: the answer: '<html>' is not an object\. Check/],
  [parseMetadata, '{"model_spec": {}, "metadata": 7}', /: metadata: 7 is not an object\. Check/],
])('another answer is refused in words: %p %s', (parse, answer, words) => {
  expect(() => parse(answer)).toThrow(words);
  expect(() => parse(answer)).toThrow(expect.objectContaining({ code: 'INTERNAL' }));
});
