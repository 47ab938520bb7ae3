import { parsePackedDocuments } from './json-packed.ts';
import {
  parseJson,
  parseJsonDocuments,
  parsePackedJson,
  parsePackedJsonDocuments,
  tensorFromJson,
} from './json-reader.ts';
import { writeTensorJson } from './json-writer.ts';
import { PackedNumbers } from './packed-numbers.ts';
import type { NumericTensor } from './tensor.ts';
import { tensorFromValues } from './values.ts';

/** Documents shorter than this are left to the other parser. */
const PADDING = ' '.repeat(256);

function packed(text: string): unknown[] | undefined {
  return parsePackedDocuments(Buffer.from(text + PADDING));
}

/** With arrays in place of packed numbers. */
function plain(value: unknown): unknown {
  if (value instanceof PackedNumbers) return value.toArrays();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, plain(member)]));
}

/** Random numbers below 2^32, the same each time. */
function randomBits(seed = 0x2545f491): () => number {
  let state = seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** The numbers of one flat list. */
function listOf(text: string): number[] {
  const [list] = packed(text) ?? [];
  if (!(list instanceof PackedNumbers)) throw new Error(`not packed: ${text.slice(0, 100)}`);
  return list.toArrays() as number[];
}

function expectAsNumber(texts: readonly string[]): void {
  const read = listOf(`[${texts.join(',')}]`);
  expect(read.length).toBe(texts.length);
  for (const [i, text] of texts.entries()) {
    if (!Object.is(read[i], Number(text))) throw new Error(`${text} was read as ${read[i]}`);
  }
}

describe('numbers', () => {
  test('as JavaScript reads them: any float64, in all its digits or fewer or more', () => {
    const next = randomBits();
    const values = [...new Float64Array(Uint32Array.from({ length: 100_000 }, next).buffer)];
    const finite = values.filter(Number.isFinite);
    expectAsNumber(finite.map((value) => (value % 1 === 0 ? value.toExponential() : `${value}`)));
    for (const digits of [1, 5, 9, 15, 16, 18, 19, 20, 25]) {
      expectAsNumber(finite.slice(0, 4000).map((value) => value.toExponential(digits - 1)));
    }
  });

  test('fractions as Python and this project write them', () => {
    const next = randomBits(7);
    const values = Float32Array.from({ length: 50_000 }, () => (next() / 2 ** 32 - 0.5) * 100);
    expectAsNumber(Array.from(values, String));
    const text = Buffer.concat([...writeTensorJson(tensorFromValues('float32', [50_000], values))]);
    expect(Float32Array.from(listOf(text.toString()))).toEqual(values);
  });

  test('halfway between two numbers, and at the ends of the range', () => {
    const halfway = Array.from({ length: 2000 }, (_, i) => `${2n ** 53n + BigInt(2 * i + 1)}e0`);
    expectAsNumber(halfway);
    expectAsNumber(halfway.map((text) => text.replace('e0', '.00000e0')));
    expectAsNumber([
      ...['0', '-0', '0.0', '-0.0e5', '0e999', '5e-324', '2.5e-324', '2.4e-324', '1e-400'],
      ...['1.7976931348623157e308', '1.7976931348623158e308', '2.2250738585072011e-308'],
      ...['2.2250738585072014e-308', '1e22', '1e23', '9007199254740991', '-9007199254740991'],
      ...['9007199254740993.0', '0.000000000000000000000000000000123456789012345678', '1E+5'],
      ...[
        '179769313486231580793728971405303415079934132710037826936173778980444968e237',
        '1e-00007',
      ],
      ...[`0.${'1'.repeat(50)}`, `1${'0'.repeat(30)}.5`, '1e-99999999999999999999'],
    ]);
  });

  test('every exponent', () => {
    const texts = Array.from({ length: 800 }, (_, i) => i - 400).flatMap((exponent) =>
      ['1', '9.999999999999999', '123456789012345678', '7.2057594037927933'].map(
        (digits) => `${digits}e${exponent}`,
      ),
    );
    expectAsNumber(texts.filter((text) => Number.isFinite(Number(text))));
  });

  test('beyond the range of float64 there is no number, as TensorFlow Serving has it', () => {
    for (const text of ['1e309', '-1e999', '9'.repeat(400), `${'9'.repeat(400)}.5`]) {
      for (const list of [`[${text}]`, `{"x": [1, ${text} ]}`, text]) {
        expect(() => parseJson(list)).toThrow('is beyond the range of float64');
        expect(() => parsePackedJsonDocuments(Buffer.from(list + PADDING))).toThrow('float64');
      }
    }
  });

  test('more than a thousand that need JavaScript’s own reader', () => {
    expectAsNumber(Array.from({ length: 5000 }, (_, i) => `0.${i + 1}${'123456789'.repeat(3)}`));
  });

  test('NaN and infinities, as TensorFlow Serving has them', () => {
    expect(listOf('[NaN,Infinity, -Infinity ,1]')).toEqual([Number.NaN, 1 / 0, -1 / 0, 1]);
  });
});

describe('documents', () => {
  test.each([
    '{"instances": [[1, 2], [3, 4.5]]}',
    '{"signature_name": "serving_default", "inputs": {"a": [[[1]], [[2]]], "b": [-1e-7], "c": 1.5}}',
    '{"instances": [{"a": [1, 2], "b": "x"}, {"a": [3, 4], "b": "\\u00e9\\"\\\\"}], "n": null}',
    '[[1,2],[3,4]]',
    '{"a":1}\n{"a":[2]}\n[3]',
    ' \r\n\t{"a" : [ 1 ,\n2 ] , "__proto__" : [ ] , "é" : [ [ ] , [ "x" ] ] , "t" : [true, false]} ',
  ])('%s', (text) => {
    expect(packed(text)?.map(plain)).toEqual(parseJsonDocuments(text));
  });

  test('lists of numbers alone are packed, whatever lies between the numbers', () => {
    const numbers = Array.from({ length: 300_000 }, (_, i) => i / 8);
    const text = numbers.map(
      (value, i) => (i % 60_000 === 7 ? `\n${PADDING.repeat(1000)}` : '') + value,
    );
    const rows = Array.from(
      { length: 3 },
      (_, i) => `[${text.slice(i * 1e5, (i + 1) * 1e5).join(', ')}]`,
    );
    const [document] = packed(`{"instances": [${rows.join(' , ')}]}`) as [{ instances: unknown }];
    const { instances } = document;
    expect(instances).toBeInstanceOf(PackedNumbers);
    expect((instances as PackedNumbers).shape).toEqual([3, 100_000]);
    expect(tensorFromJson('float64', instances)).toEqual(
      tensorFromValues('float64', [3, 100_000], numbers),
    );
  });

  test.each([
    '[1, 2',
    '[1, 2]]',
    '[1,, 2]',
    '[1 2]',
    '[01]',
    '[1.]',
    '[.5]',
    '[+1]',
    '[1e]',
    '[-]',
    '[--1]',
    '[nan]',
    '[NaNs]',
    '[1, "a"]',
    '[1, [2]]',
    '[[1], 2]',
    '[[1], [2, 3]]',
    '[1, null]',
    '[9007199254740993]',
    '[-9007199254740992]',
    '{"a": 9007199254740993}',
    '{"a": NaN}',
    '{"a": [1],}',
    "{'a': [1]}",
    '{"a": [1]} x',
    '1 2',
    '"text"',
    '{"a": "\u0001"}',
  ])('%s is left to the other parser', (text) => {
    expect(packed(text)).toBeUndefined();
  });

  test('bytes that are not UTF-8, nesting without end', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a": "'),
      Buffer.of(0xff),
      Buffer.from(`"}${PADDING}`),
    ]);
    expect(parsePackedDocuments(bytes)).toBeUndefined();
    expect(packed('['.repeat(300_000))).toBeUndefined();
    expect(packed(`${'['.repeat(300)}1${']'.repeat(300)}`)).toBeUndefined();
  });

  test('many small values are left to JSON.parse', () => {
    const rows = Array.from({ length: 1000 }, (_, i) => ({ name: `n${i}`, value: i }));
    expect(packed(JSON.stringify({ instances: rows }))).toBeUndefined();
  });

  test('what a few wrong bytes do, they do to both parsers', () => {
    const next = randomBits(99);
    const text = `{"instances": [{"a": [[1.5, -2e3], [NaN, 0.1]], "b": "x\\"y"}, {"a": [3], "b": null}]}`;
    const alphabet = '[]{},:" \\0123456789.eE+-NaIx\n';
    let read = 0;
    for (let round = 0; round < 10_000; round++) {
      const characters = [...text];
      for (let change = 0; change < 1 + (next() % 3); change++) {
        const at = next() % characters.length;
        characters[at] = next() % 3 === 0 ? '' : (alphabet[next() % alphabet.length] as string);
      }
      const changed = characters.join('');
      const documents = packed(changed);
      if (!documents) continue;
      read += 1;
      expect(documents.map(plain)).toEqual(parseJsonDocuments(changed));
    }
    expect(read).toBeGreaterThan(500);
  });
});

describe('tensors of packed numbers', () => {
  const document = (text: string) =>
    (parsePackedJson(Buffer.from(text + PADDING)) as { a: unknown }).a;

  test.each([
    ['float32', '[[1, 2.5], [-3, NaN]]'],
    ['float64', '[0.1]'],
    ['float16', '[[[1.5]]]'],
    ['uint8', '[0, 255]'],
    ['int64', '[[9007199254740991], [-5]]'],
  ] as const)('%s %s', (dtype, text) => {
    expect(document(`{"a": ${text}}`)).toBeInstanceOf(PackedNumbers);
    expect(tensorFromJson(dtype, document(`{"a": ${text}}`))).toEqual(
      tensorFromJson(dtype, (parseJsonDocuments(`{"a": ${text}}`) as [{ a: unknown }])[0].a),
    );
  });

  test('the ends of float32', () => {
    const values = [3.4028235677973362e38, -3.4028235677973362e38, 1 / 0, -1 / 0];
    const { bytes } = tensorFromJson('float32', document(`{"a": [${values}]}`)) as NumericTensor;
    expect(bytes).toEqual(new Uint8Array(Float32Array.from(values).buffer));
    expect(() => tensorFromJson('float32', document('{"a": [3.4028235677973366e38]}'))).toThrow(
      'beyond the range of float32',
    );
  });

  test.each([
    ['float32', '[[1, 2], [3, 1e39]]', 'a[1][1]: 1e+39 is beyond the range of float32'],
    ['float16', '[70000]', 'a[0]: 70000 is beyond the range of float16'],
    ['uint8', '[[[1, 256]]]', 'a[0][0][1]: 256 is beyond the range of uint8, 0 to 255'],
    ['int32', '[1, 2.5]', 'a[1]: 2.5 is not a whole number for int32'],
    ['int64', '[NaN]', 'a[0]: NaN is not a whole number for int64'],
    ['bool', '[1]', 'a[0]: 1 is not a boolean'],
    ['string', '[1]', 'a[0]: 1 is not a string'],
  ] as const)('%s %s is refused with its place', (dtype, text, message) => {
    expect(() => tensorFromJson(dtype, document(`{"a": ${text}}`), 'a')).toThrow(message);
  });

  test('in rows, of one shape or not', () => {
    const rows = (text: string) =>
      (document(`{"a": ${text}}`) as { x: unknown }[]).map(({ x }) => x);
    expect(tensorFromJson('float32', rows('[{"x": [1, 2]}, {"x": [3, 4]}]'))).toEqual(
      tensorFromValues('float32', [2, 2], [1, 2, 3, 4]),
    );
    expect(() => tensorFromJson('float32', rows('[{"x": [1, 2]}, {"x": [3]}]'), 'a')).toThrow(
      'a[1] has 1 elements where the first of its level has 2',
    );
    expect(() => tensorFromJson('float32', rows('[{"x": [1, 2]}, {"x": [3, 1e40]}]'), 'a')).toThrow(
      'a[1][1]: 1e+40 is beyond the range of float32',
    );
  });
});
