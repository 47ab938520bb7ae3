import { handlerJson } from './handler-json.ts';

test('integers beyond 2^53 keep their digits, in typed arrays too', () => {
  const value = { one: 2n ** 63n, many: BigInt64Array.of(-1n, 2n ** 62n) };
  expect(handlerJson(value)).toBe('{"one":9223372036854775808,"many":[-1,4611686018427387904]}');
});

test.each(['\u0001int:5', 'x"\u0001int:5', 'x"5', '\u0001int:5"y'])(
  'text stays text beside an integer: %j',
  (echoed) => {
    const json = handlerJson({ count: 5n, echoed, [echoed]: [echoed] });
    expect(JSON.parse(json)).toEqual({ count: 5, echoed, [echoed]: [echoed] });
  },
);

test('numbers are those that tensors give', () => {
  const value = { list: Float32Array.of(Number.NaN, 0.5, -Infinity), number: Infinity, not: 'NaN' };
  expect(handlerJson(value)).toBe('{"list":[NaN,0.5,-Infinity],"number":Infinity,"not":"NaN"}');
});

test.each([
  ['Map', new Map([['a', 1]])],
  ['Set', new Set([1])],
  ['Promise', Promise.resolve(1)],
  ['ArrayBuffer', new ArrayBuffer(4)],
  ['DataView', new DataView(new ArrayBuffer(4))],
])('a %s is refused by its name', (name, value) => {
  expect(() => handlerJson({ scores: [value] })).toThrow(`JSON has no form for the ${name}`);
});

test('a date is its text, and a class its members', () => {
  const value = {
    at: new Date(0),
    point: new (class Point {
      x = 1;
    })(),
    none: {},
  };
  expect(handlerJson(value)).toBe('{"at":"1970-01-01T00:00:00.000Z","point":{"x":1},"none":{}}');
});
