import { printableJson } from './printable.ts';

test('what JSON has no number for is a text, and no character moves the cursor', () => {
  const value = { big: 2n ** 63n, scores: [1.5, Number.NaN, -Infinity], text: '\u009b1\u202e' };
  const json = printableJson(value);
  expect(JSON.parse(json)).toEqual({
    big: '9223372036854775808',
    scores: [1.5, 'NaN', '-Infinity'],
    text: value.text,
  });
  expect(json).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
});
