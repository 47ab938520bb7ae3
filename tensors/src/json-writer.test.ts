import { split } from './batch.ts';
import type { NumericDType } from './dtype.ts';
import { widenHalves } from './half.ts';
import { writeRowsJson, writeTensorJson } from './json-writer.ts';
import { numericTensor, stringTensor, type Tensor } from './tensor.ts';
import { tensorFromValues } from './values.ts';

function json(tensor: Tensor, name?: string): string {
  const chunks = [...writeTensorJson(tensor, name === undefined ? {} : { name })];
  return Buffer.concat(chunks).toString('utf8');
}

/** The texts of elements, one each. */
function texts(dtype: NumericDType, elements: ArrayBufferView & { length: number }): string[] {
  return json(numericTensor(dtype, [elements.length], elements))
    .slice(1, -1)
    .split(',');
}

/** JavaScript's notation, which is the specification of ours but for these two changes. */
function notation(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const text = String(value).replace('e+', 'e');
  return /[.e]|NaN|Infinity/.test(text) ? text : `${text}.0`;
}

function significantDigits(text: string): string {
  return text.replace(/e.*$/, '').replace(/[-.]/g, '').replace(/^0+/, '').replace(/0+$/, '');
}

/** Random bit patterns, the same each time. */
function randomBits(count: number): Uint32Array {
  let state = 0x2545f491;
  return Uint32Array.from({ length: count }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state;
  });
}

describe('float32', () => {
  const float32 = (bits: Uint32Array) => new Float32Array(bits.buffer);
  const boundaries = float32(
    Uint32Array.from(
      Array.from({ length: 255 }, (_, exponent) =>
        [0, 1, 2, 0x3fffff, 0x400000, 0x7ffffe, 0x7fffff].map((f) => exponent * 2 ** 23 + f),
      ).flat(),
    ),
  );

  test('every exponent, its first and last numbers, read back as the same float32', () => {
    const written = texts('float32', boundaries);
    expect(Float32Array.from(written, Number)).toEqual(boundaries);
  });

  test('two million random bit patterns read back as the same float32', () => {
    const values = float32(randomBits(2_000_000));
    const written = texts('float32', values);
    let different = 0;
    for (const [i, text] of written.entries()) {
      if (!Object.is(Math.fround(Number(text)), values[i])) different++;
    }
    expect(different).toBe(0);
  });

  test('no fewer digits would do, and of as many none is closer', () => {
    const values = [...boundaries, ...float32(randomBits(200_000))].filter(Number.isFinite);
    const written = texts('float32', Float32Array.from(values));
    for (const [i, text] of written.entries()) {
      const value = Math.abs(values[i] as number);
      if (value === 0) continue;
      const { length } = significantDigits(text);
      const nearest = Number(value.toPrecision(length));
      // Ties may go either way; distances carry the rounding of doubles.
      const distance = Math.abs(Math.abs(Number(text)) - value);
      const isNearest =
        distance <= Math.abs(nearest - value) * (1 + 1e-6) || Math.fround(nearest) !== value;
      const shorter = length > 1 && Math.fround(Number(value.toPrecision(length - 1))) === value;
      if (!isNearest || shorter) throw new Error(`${values[i]} was written as ${text}`);
    }
  });

  test('JavaScript’s notation, ".0" after whole numbers, no "+"', () => {
    const values = [...boundaries, ...float32(randomBits(100_000))];
    for (const text of texts('float32', Float32Array.from(values))) {
      if (text !== notation(Number(text))) throw new Error(text);
    }
  });

  test('known values', () => {
    const values = [0, -0, 1, 0.1, -1.5, 1e-7, 1e-6, 16777216, 1e20, 1e21, 3.4028235e38, 1e-45];
    expect(texts('float32', Float32Array.from(values))).toEqual([
      ...['0.0', '-0.0', '1.0', '0.1', '-1.5', '1e-7', '0.000001', '16777216.0'],
      ...['100000000000000000000.0', '1e21', '3.4028235e38', '1e-45'],
    ]);
    expect(texts('float32', Float32Array.of(Number.NaN, 1 / 0, -1 / 0))).toEqual([
      'NaN',
      'Infinity',
      '-Infinity',
    ]);
  });
});

describe('other floats', () => {
  test('float64 as JavaScript prints it', () => {
    const values = new Float64Array(randomBits(400_000).buffer);
    const edges = [
      5e-324,
      2 ** -1022,
      Number.MAX_VALUE,
      2 ** 53,
      1e23,
      0.1 + 0.2,
      1 / 3,
      9.5e-7,
      1e21,
    ];
    for (const list of [values, Float64Array.from(edges)]) {
      const written = texts('float64', list);
      for (const [i, text] of written.entries()) {
        if (text !== notation(list[i] as number))
          throw new Error(`${list[i]} was written as ${text}`);
      }
    }
  });

  test.each<[string, (next: number) => number]>([
    ['fractions', (next) => next / 2 ** 32],
    ['few digits', (next) => (next % 100_000) / 10 ** (next % 12)],
    ['whole numbers', (next) => -(next % 1000) * 10 ** (next % 22)],
    ['powers of two', (next) => 2 ** ((next % 2098) - 1074)],
    ['powers of ten', (next) => Number(`${next % 100}e${(next % 620) - 315}`)],
    ['the least', (next) => (next % 5000) * 5e-324],
    ['halfway between two digits', (next) => (2 ** 52 + next) * 2 ** ((next % 12) - 4)],
  ])('float64 as JavaScript prints it: %s', (_, make) => {
    const values = Float64Array.from(randomBits(50_000), make);
    const written = texts('float64', values);
    for (const [i, text] of written.entries()) {
      const value = values[i] as number;
      if (text !== notation(value)) throw new Error(`${value} was written as ${text}`);
    }
  });

  test.each(['float16', 'bfloat16'] as const)(
    'every %s has the fewest digits of its own type',
    (format) => {
      const bits = Uint16Array.from({ length: 65536 }, (_, i) => i);
      const values = widenHalves(format, bits);
      const written = texts(format, bits);
      for (const [i, text] of written.entries()) {
        const value = values[i] as number;
        const sameAsText = (decimal: string) => {
          const tensor = tensorFromValues(format, [1], [Number(decimal)]);
          return (
            tensor.dtype !== 'string' && tensor.bytes[0] === (i & 255) && tensor.bytes[1] === i >> 8
          );
        };
        if (!Number.isFinite(value) || value === 0) {
          expect(text).toBe(notation(value));
          continue;
        }
        const { length } = significantDigits(text);
        if (!sameAsText(text) || text !== notation(Number(text)))
          throw new Error(`${value}: ${text}`);
        if (length > 1) {
          const shorter = value.toPrecision(length - 1);
          // Above the largest float16 lies what rounds to infinity.
          const max = format === 'float16' ? 65504 : 3.3895313892515355e38;
          if (Math.abs(Number(shorter)) <= max && sameAsText(shorter))
            throw new Error(`${value}: ${text}`);
        }
      }
    },
  );
});

test('integers are exact', () => {
  expect(json(tensorFromValues('int64', [3], [0, -(2n ** 63n), 2n ** 63n - 1n]))).toBe(
    '[0,-9223372036854775808,9223372036854775807]',
  );
  expect(json(tensorFromValues('uint64', [2], [2n ** 64n - 1n, 10n ** 19n]))).toBe(
    '[18446744073709551615,10000000000000000000]',
  );
  expect(json(tensorFromValues('int8', [3], [-128, 0, 127]))).toBe('[-128,0,127]');
  expect(json(tensorFromValues('uint8', [3], [0, 99, 255]))).toBe('[0,99,255]');
  expect(json(tensorFromValues('int32', [2], [-(2 ** 31), 2 ** 31 - 1]))).toBe(
    '[-2147483648,2147483647]',
  );
  expect(json(tensorFromValues('uint32', [2], [2 ** 32 - 1, 1e9]))).toBe('[4294967295,1000000000]');
  const powers = Array.from({ length: 20 }, (_, i) => [
    10n ** BigInt(i) - 1n,
    10n ** BigInt(i),
  ]).flat();
  expect(json(tensorFromValues('uint64', [40], powers))).toBe(`[${powers.join(',')}]`);
});

test('booleans', () => {
  expect(json(tensorFromValues('bool', [2], [true, false]))).toBe('[true,false]');
});

describe('shapes', () => {
  test.each<[number[], string]>([
    [[], '1'],
    [[1], '[1]'],
    [[2, 3], '[[1,2,3],[4,5,6]]'],
    [[2, 1, 2], '[[[1,2]],[[3,4]]]'],
    [[0], '[]'],
    [[2, 0, 3], '[[],[]]'],
    [[0, 2], '[]'],
    [[1, 1, 1, 1], '[[[[1]]]]'],
  ])('%j', (shape, expected) => {
    const count = shape.reduce((a, b) => a * b, 1);
    const values = Array.from({ length: count }, (_, i) => i + 1);
    expect(json(tensorFromValues('int16', shape, values))).toBe(expected);
    const strings = values.map(String);
    expect(json(stringTensor(shape, strings))).toBe(expected.replace(/\d/g, '"$&"'));
  });

  test('rank 254, one element a row', () => {
    const tensor = tensorFromValues('int8', [3, ...Array(253).fill(1)], [1, 2, 3]);
    const open = '['.repeat(253);
    const close = ']'.repeat(253);
    expect(json(tensor)).toBe(`[${open}1${close},${open}2${close},${open}3${close}]`);
  });

  test('many chunks, each made when asked for, tensors in turns', () => {
    const shape = [50, 7, 600];
    const values = Array.from({ length: 210_000 }, (_, i) => i);
    const a = writeTensorJson(tensorFromValues('int32', shape, values))[Symbol.iterator]();
    const b = writeTensorJson(tensorFromValues('int64', [210_000], values))[Symbol.iterator]();
    const parts: Uint8Array[] = [];
    for (let next = a.next(); !next.done; next = a.next()) {
      parts.push(next.value);
      b.next();
    }
    expect(parts.length).toBeGreaterThan(2);
    expect(Math.max(...parts.map((part) => part.byteLength))).toBeLessThanOrEqual(2 ** 20);
    const rows = JSON.parse(Buffer.concat(parts).toString()) as number[][][];
    expect([rows.length, rows[0]?.length, rows[0]?.[0]?.length]).toEqual(shape);
    expect(rows.flat(2)).toEqual(values);
  });

  test('bytes that are not aligned', () => {
    const bytes = Buffer.concat([Buffer.alloc(1), new Uint8Array(Float32Array.of(1.5, -2).buffer)]);
    expect(json(numericTensor('float32', [2], bytes.subarray(1)))).toBe('[1.5,-2.0]');
  });
});

describe('strings', () => {
  test('UTF-8 text, escaped', () => {
    const text = 'é"\\\n\u0000\u{1f600}\ufeff';
    expect(JSON.parse(json(stringTensor([2], [text, ''])))).toEqual([text, '']);
    expect(json(stringTensor([], ['cat']))).toBe('"cat"');
  });

  test('bytes that are not UTF-8, and all where the name ends in _bytes', () => {
    expect(json(stringTensor([2], [new Uint8Array([255, 0]), 'a']))).toBe('[{"b64":"/wA="},"a"]');
    expect(json(stringTensor([1], ['a']), 'image_bytes')).toBe('[{"b64":"YQ=="}]');
    expect(json(stringTensor([1], ['a']), 'image')).toBe('["a"]');
  });

  test('many', () => {
    const values = Array.from({ length: 30_000 }, (_, i) => `label ${i}`);
    const chunks = [...writeTensorJson(stringTensor([30_000], values))];
    expect(chunks.length).toBeGreaterThan(3);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toEqual(values);
  });
});

test.each([
  tensorFromValues('float32', [3], [1, 0.1, -2]),
  tensorFromValues('bool', [2, 1], [true, false]),
  tensorFromValues('int64', [2, 2, 2], [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n]),
  numericTensor(
    'int32',
    [9_000, 2],
    new Int32Array(18_000).map((_, index) => index),
  ),
  numericTensor('float64', [2, 300], new Float64Array(600).fill(0.5)),
  numericTensor('uint8', [2, 0], new Uint8Array(0)),
  numericTensor('uint8', [0, 2], new Uint8Array(0)),
  stringTensor([3], ['a', new Uint8Array([255]), 'x'.repeat(60_000)]),
  stringTensor([2, 2], ['a', '"', '', 'd']),
])('rows are written as each alone: %j', (tensor) => {
  const rows = [...writeRowsJson(tensor)].map((pieces) =>
    Buffer.concat(Array.from(pieces, (piece) => Buffer.from(piece as string))).toString(),
  );
  const alone = split(tensor, Array(tensor.shape[0]).fill(1));
  expect(rows).toEqual(alone.map((row) => json({ ...row, shape: row.shape.slice(1) })));
});
