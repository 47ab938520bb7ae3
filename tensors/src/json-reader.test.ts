import {
  FloatLiteral,
  isBase64Object,
  parseJson,
  parseJsonDocuments,
  parseJsonLiteralDocuments,
  parsePackedJsonDocuments,
  tensorFromJson,
} from './json-reader.ts';
import { writeTensorJson } from './json-writer.ts';
import { toNested } from './typed-array.ts';
import { tensorFromValues } from './values.ts';

describe('parseJson', () => {
  test.each([
    '{"instances": [{"image": [[0.5, -1e-7], [3, 4]], "key": "a\\"b\\u00e9"}], "n": null, "t": true}',
    '[]',
    ' {"a" : {} } ',
    '"text"',
    '-0',
    '[1.7976931348623157e308, 5e-324, 9007199254740991]',
  ])('%s as JSON.parse has it', (text) => {
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(parseJson(Buffer.from(text))).toEqual(JSON.parse(text));
    // With a long integer beside it, the other parser does the same.
    expect(parseJson(`[9007199254740993, ${text}]`)).toEqual([9007199254740993n, JSON.parse(text)]);
  });

  test('literals: only numbers written with a fraction or an exponent', () => {
    const float = (value: number) => new FloatLiteral(value);
    const parse = parseJsonLiteralDocuments;
    expect(parse('[1.0, 1, -2e3, -0.5E-1, 9007199254740993, NaN, "1.0"]')).toEqual([
      [float(1), 1, float(-2000), float(-0.05), 9007199254740993n, Number.NaN, '1.0'],
    ]);
    expect(parse(Buffer.from('{"value": 1.5}\n1 2.0'))).toEqual([
      { value: float(1.5) },
      1,
      float(2),
    ]);
    for (const json of ['{"value": 1}', '{"\\u0000float": 1}', '{"__proto__": {"value": 1}}']) {
      expect(parse(json)[0]).not.toBeInstanceOf(FloatLiteral);
    }
    expect(() => parse('[1.5, 1e400]')).toThrow('1e400 is beyond the range of float64');
  });

  test('integers beyond 2^53 are exact', () => {
    const text = '[9007199254740991, 9007199254740993, -9223372036854775808, 18446744073709551615]';
    expect(parseJson(text)).toEqual([
      9007199254740991,
      9007199254740993n,
      -(2n ** 63n),
      2n ** 64n - 1n,
    ]);
    expect(parseJson('9007199254740993')).toBe(9007199254740993n);
    expect(parseJson('{"id":9007199254740993}')).toEqual({ id: 9007199254740993n });
  });

  test('long digits in strings and fractions are left alone', () => {
    const text = '["9007199254740993", 0.30000000000000004, 1234567890123456789e0]';
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(parseJson(`[1${'0'.repeat(40)}]`)).toEqual([1e40]);
  });

  test('NaN and infinities, as TensorFlow Serving has them', () => {
    expect(parseJson('{"a":[NaN, Infinity, -Infinity], "NaN":"NaN"}')).toEqual({
      a: [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
      NaN: 'NaN',
    });
  });

  test.each(['Inf', '-Inf', '-NaN', '+NaN', 'nan', 'inf'])('%s is no number', (text) => {
    expect(() => parseJson(`[1.5, ${text}]`)).toThrow('line 1');
  });

  test('-0 keeps its sign', () => {
    for (const dtype of ['float32', 'float64'] as const) {
      const tensor = tensorFromJson(dtype, parseJson('[-0, -0.0, 0]'));
      expect(toNested(tensor)).toEqual([-0, -0, 0]);
    }
  });

  test('of two keys b64 the last counts', () => {
    expect(parseJson('{"b64": "YQ==", "b64": "Yg=="}')).toEqual({ b64: 'Yg==' });
  });

  test('a byte order mark', () => {
    expect(parseJson(Buffer.from('\ufeff{"a":1}'))).toEqual({ a: 1 });
  });

  test.each([
    ['', 'line 1, character 1: it ends too early'],
    ['{"a":1', 'line 1, character 7: it ends too early'],
    ['[1,\n 2,, 3]', 'line 2, character 4: unexpected ","'],
    ['[1] 2', 'line 1, character 5: unexpected "2"'],
    ["{'a':1}", `line 1, character 2: unexpected "'"`],
    ['["abc', 'line 1, character 2: a string without an end'],
    ['["\\x"]', 'line 1, character 2: a string with a bad escape or a control character'],
    ['[01]', 'line 1, character 3: unexpected "1"'],
    ['[nul]', 'line 1, character 2: unexpected "n"'],
    ['[.5]', 'line 1, character 2: unexpected "."'],
    ['[9007199254740993, +1]', 'line 1, character 20: unexpected "+"'],
  ])('%j is refused with its place', (text, message) => {
    expect(() => parseJson(text)).toThrow(
      expect.objectContaining({ code: 'MALFORMED', message: `not valid JSON at ${message}` }),
    );
  });

  test('nesting without end, bytes that are no text', () => {
    const deep = 200_000;
    const bracketed = `${'['.repeat(deep)}${']'.repeat(deep)}`;
    const quoted = `${'["]\\"",'.repeat(deep)}1${']'.repeat(deep)}`;
    const braced = `${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`;
    for (const text of [`${'['.repeat(deep)}NaN`, bracketed, quoted, braced]) {
      expect(() => parseJson(text)).toThrow(/nested more than 512 deep/);
      expect(() => parsePackedJsonDocuments(Buffer.from(text))).toThrow(/nested more than 512/);
    }
    const text = JSON.stringify(['['.repeat(deep), `"\\${'{"['.repeat(deep)}`]);
    expect(parseJson(text)).toEqual(JSON.parse(text));
    expect(() => parseJson(new Uint8Array([0x22, 0xff, 0x22]))).toThrow(/not UTF-8/);
  });

  test('__proto__ is a name like any other', () => {
    const parsed = parseJson('{"__proto__": 9007199254740993}') as object;
    expect(Object.keys(parsed)).toEqual(['__proto__']);
  });
});

describe('parseJsonDocuments', () => {
  test.each([
    ['{"a":1}', [{ a: 1 }]],
    ['{"a":1}\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
    ['{"a":1}{"a":2} [3]', [{ a: 1 }, { a: 2 }, [3]]],
    ['1 2\r\n\r\n3', [1, 2, 3]],
    ['', []],
  ])('%j', (text, documents) => {
    expect(parseJsonDocuments(text)).toEqual(documents);
  });

  test('an error names the line', () => {
    expect(() => parseJsonDocuments('{"a":1}\n{"a":}\n')).toThrow(/line 2, character 6/);
  });
});

describe('tensorFromJson', () => {
  test('numbers, booleans, text', () => {
    expect(tensorFromJson('float32', [[1, 2.5]])).toEqual(
      tensorFromValues('float32', [1, 2], [1, 2.5]),
    );
    expect(tensorFromJson('bool', [true])).toEqual(tensorFromValues('bool', [1], [true]));
    expect(toNested(tensorFromJson('string', 'é'))).toEqual(Buffer.from('é'));
    expect(toNested(tensorFromJson('int64', parseJson('[9007199254740993]')))).toEqual([
      9007199254740993n,
    ]);
  });

  test('base64 strings, in arrays and alone', () => {
    const value = [
      [{ b64: '/wA=' }, 'a'],
      [{ b64: 'YWI' }, { b64: 'Y WI\n=' }],
    ];
    expect(toNested(tensorFromJson('string', value))).toEqual([
      [Buffer.from([255, 0]), Buffer.from('a')],
      [Buffer.from('ab'), Buffer.from('ab')],
    ]);
    expect(toNested(tensorFromJson('string', { b64: '' }))).toEqual(Buffer.alloc(0));
    expect(
      [{ b64: 'YQ==' }, { b64: 1 }, { b64: 'a', x: 1 }, null, 'b64'].map(isBase64Object),
    ).toEqual([true, false, false, false, false]);
  });

  test.each<[Parameters<typeof tensorFromJson>, string]>([
    [
      ['float32', [[1], ['abc']], 'instances'],
      'instances[1][0]: "abc" is not a number for float32',
    ],
    [['string', ['a', { b64: 'a*b=' }], 'inputs'], 'inputs[1]: "b64" is not base64'],
    [['string', ['a', { b64: 'YQ==YQ==' }], 'inputs'], 'inputs[1]: "b64" is not base64'],
    [['string', { b64: '*' }, 'inputs'], 'inputs: "b64" is not base64'],
    ...['_-8=', '_/8=', '+-8', 'AA=', 'AAA==', 'AAAA=', 'AAAA====', 'AA===', '=', 'A', 'AA=A'].map(
      (b64): [Parameters<typeof tensorFromJson>, string] => [
        ['string', ['a', { b64 }], 'inputs'],
        'inputs[1]: "b64" is not base64',
      ],
    ),
    [['string', ['a', '\ud83d'], 'inputs'], 'inputs[1]: half a surrogate pair is no text'],
    [['string', 'x\udc00y', 'inputs'], 'inputs: half a surrogate pair is no text'],
    [['string', [['\udc00\ud83d']], 'inputs'], 'inputs[0][0]: half a surrogate pair'],
    [['string', [{ image: 1 }], 'inputs'], 'inputs[0]: an object with image is not a string'],
    [['float32', [null], 'inputs'], 'inputs[0]: null is not a number for float32'],
    [
      ['float32', [{ b64: 'YQ==' }], 'inputs'],
      'inputs[0]: an object with b64 is not a number for float32',
    ],
    [['uint8', [[255, 256]], 'x'], 'x[0][1]: 256 is beyond the range of uint8, 0 to 255'],
  ])('%j', (args, message) => {
    expect(() => tensorFromJson(...args)).toThrow(message);
  });

  test('places of a value put together from rows', () => {
    const rows = [[[1, 2]], [[1, 'x']]];
    const place = ([row, ...rest]: readonly number[]) =>
      `instances[${row}].image${rest.map((i) => `[${i}]`).join('')}`;
    expect(() => tensorFromJson('float32', rows, place)).toThrow(
      'instances[1].image[0][1]: "x" is not a number for float32',
    );
  });

  test('what the writer wrote comes back', () => {
    const tensor = tensorFromValues('float32', [2, 2], [0.1, Number.NaN, -1 / 0, 16777216]);
    const text = Buffer.concat([...writeTensorJson(tensor)]);
    expect(tensorFromJson('float32', parseJson(text))).toEqual(tensor);
  });
});
