import { answerValue, parseCustomAttributes, requestValue } from './custom-attributes.ts';

const TEXTS = ['', 'plain', 'a,b', '100 %', 'ä,ö', '漢字', '😀', 'tab\there', '\u007f', 'x=y'];

test.each(TEXTS)('an answer carries %j and its reader returns it', (text) => {
  const header = `a=1,name=${answerValue(text)},b=2`;
  expect(header).toMatch(/^[ -~]*$/);
  expect(parseCustomAttributes(header)).toEqual({ a: '1', name: text, b: '2' });
});

test.each(TEXTS)('a request carries %j as any reader of URIs returns it', (text) => {
  const value = requestValue(text);
  expect(value).toMatch(/^[ -+\--~]*$/);
  expect(decodeURIComponent(value)).toBe(text);
});

test('half a surrogate pair is the replacement character', () => {
  expect(requestValue('\ud800')).toBe('%EF%BF%BD');
  expect(answerValue('\ud800')).toBe('%EF%BF%BD');
});
