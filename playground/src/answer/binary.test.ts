/** What is text, and what other bytes are called. */
import { binaryOf, elementText } from './binary.ts';

const bytes = (text: string) => Buffer.from(text, 'latin1');

test.each([
  ['\x89PNG\r\n\x1a\nrest', 'PNG', 'image/png'],
  ['\xff\xd8\xff\xe0', 'JPEG', 'image/jpeg'],
  ['GIF89a', 'GIF', 'image/gif'],
  ['RIFF\n\0\0\0WEBPVP8 ', 'WebP', 'image/webp'],
  ['\xc3(', 'binary', 'application/octet-stream'],
  ['a\0b', 'binary', 'application/octet-stream'],
])('%j is %s', (text, kind, mediaType) => {
  expect(binaryOf(bytes(text))).toEqual({ kind, mediaType });
});

test('text of any language is text, also where the part that is looked at ends within a character', () => {
  for (const text of ['', 'a\tb\r\n', 'Grüße', '\x1b[1m', `a${'é'.repeat(5000)}`]) {
    expect(binaryOf(Buffer.from(text))).toBeUndefined();
  }
  // The text itself ends within one.
  expect(binaryOf(Buffer.from('é').subarray(0, 1))?.kind).toBe('binary');
});

test('an element of a string is its text, or kind and size', () => {
  const quoted = (text: string) => `"${text}"`;
  expect(elementText(Buffer.from('é'), quoted)).toBe('"é"');
  expect(elementText(Buffer.concat([bytes('\x89PNG\r\n\x1a\n'), Buffer.alloc(427)]), quoted)).toBe(
    'PNG, 435 B',
  );
});
