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
