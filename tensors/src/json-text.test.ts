import { parseJson } from './json-reader.ts';
import { jsonText, nameWithoutJson } from './json-text.ts';

test('what JSON.stringify loses is read back as it was', () => {
  const value = {
    numbers: [Number.NaN, Infinity, -Infinity, -0, 0, 1.5, 2n ** 64n - 1n, -(2n ** 63n)],
    texts: ['NaN', ':NaN', '"', ''],
    left_out: undefined,
  };
  const text = jsonText(value);
  expect(text).toBe(
    '{"numbers":[NaN,Infinity,-Infinity,-0,0,1.5,18446744073709551615,-9223372036854775808],' +
      '"texts":["NaN",":NaN","\\"",""]}',
  );
  expect(jsonText(parseJson(text))).toBe(text);
  expect(parseJson(jsonText(value, 2))).toEqual(parseJson(text));
});

test.each([
  ['Map', new Map([['a', 1]])],
  ['Set', new Set([1])],
  ['Date', new Date(0)],
  ['ArrayBuffer', new ArrayBuffer(1)],
  ['Promise', Promise.resolve(1)],
  ['RegExp', /a/],
  ['Error', new Error('a')],
  ['Blob', new Blob(['a'])],
  ['Response', new Response('a')],
  ['Headers', new Headers({ a: 'b' })],
  ['URLSearchParams', new URLSearchParams('a=b')],
  ['Map Iterator', new Map([['a', 1]]).values()],
  [undefined, new Uint8Array()],
  [undefined, { [Symbol.toStringTag]: 'Logger' }],
  [undefined, new String('')],
  [undefined, {}],
  [undefined, Object.create(null) as object],
  [undefined, []],
  [undefined, { a: 1 }],
  [
    undefined,
    new (class Point {
      x = 1;
    })(),
  ],
])('without a form in JSON: %s', (name, value) => {
  expect(nameWithoutJson(value)).toBe(name);
});
