import { fromBase64, goldenJson } from '../fixtures/read.ts';
import type { NumericDType } from './dtype.ts';
import { decodeNpy, encodeNpy, encodeNpyInTurns } from './npy.ts';
import { numericTensor, stringTensor } from './tensor.ts';
import { toNested, toNumbers, typedArray } from './typed-array.ts';
import { tensorFromValues } from './values.ts';

type Single =
  | 'text'
  | 'bytes'
  | 'scalar'
  | 'empty'
  | 'vector'
  | 'version 2'
  | 'version 3'
  | 'big-endian text'
  | 'fortran'
  | 'fortran text'
  | 'object'
  | 'complex'
  | 'datetime'
  | 'structured';
type Golden = Record<Single, string> &
  Record<'plain' | 'big-endian', Partial<Record<NumericDType, string>>>;

const golden = goldenJson<Golden>('npy.json');
const plain = Object.entries(golden.plain) as [NumericDType, string][];

function utf8(tensor: ReturnType<typeof decodeNpy>): unknown {
  return JSON.parse(
    JSON.stringify(toNested(tensor), (_, value) =>
      value?.type === 'Buffer' ? Buffer.from(value.data).toString('utf8') : value,
    ),
  );
}

describe('numeric arrays', () => {
  test.each(plain)('%s: read from NumPy’s bytes, written as the same bytes', (dtype, file) => {
    const bytes = fromBase64(file);
    const tensor = decodeNpy(bytes);
    expect(tensor).toMatchObject({ dtype, shape: [2, 3] });
    expect(Buffer.concat(encodeNpy(tensor)).equals(bytes)).toBe(true);
    expect(tensor.dtype !== 'string' && tensor.bytes.buffer).toBe(bytes.buffer);
  });

  test.each(Object.entries(golden['big-endian']) as [NumericDType, string][])(
    '%s, big-endian',
    (dtype, file) => {
      const tensor = decodeNpy(fromBase64(file));
      const native = decodeNpy(fromBase64(golden.plain[dtype] ?? ''));
      if (tensor.dtype === 'string' || native.dtype === 'string') throw new Error('string');
      expect(tensor.dtype).toBe(dtype);
      expect(toNumbers(tensor)).toEqual(toNumbers(native));
    },
  );

  test.each(['scalar', 'empty', 'vector'] as const)('%s: the same bytes both ways', (name) => {
    const bytes = fromBase64(golden[name]);
    expect(Buffer.concat(encodeNpy(decodeNpy(bytes))).equals(bytes)).toBe(true);
  });

  test.each(['version 2', 'version 3'] as const)('format %s', (name) => {
    expect(decodeNpy(fromBase64(golden[name]))).toEqual(
      decodeNpy(fromBase64(golden.plain.float32 ?? '')),
    );
  });

  test('Fortran order is read in C order', () => {
    const tensor = decodeNpy(fromBase64(golden.fortran));
    expect(tensor.shape).toEqual([2, 3, 4]);
    if (tensor.dtype !== 'int32') throw new Error(tensor.dtype);
    expect(Array.from(typedArray({ ...tensor, dtype: 'int32' }))).toEqual(
      Array.from({ length: 24 }, (_, i) => i),
    );
  });

  test('the tensor’s own bytes go out, not a copy, aligned for every dtype', () => {
    const bytes = new Uint8Array(48);
    const [header, data] = encodeNpy(numericTensor('float32', [3, 4], bytes));
    expect(data?.buffer).toBe(bytes.buffer);
    expect((header?.byteLength ?? 1) % 64).toBe(0);
  });
});

describe('strings', () => {
  test('U is text', () => {
    const tensor = decodeNpy(fromBase64(golden.text));
    expect(utf8(tensor)).toEqual([
      ['a', 'café'],
      ['\u{1f600}', ''],
    ]);
    expect(Buffer.concat(encodeNpy(tensor)).equals(fromBase64(golden.text))).toBe(true);
  });

  test('S is bytes', () => {
    const tensor = decodeNpy(fromBase64(golden.bytes));
    expect(toNested(tensor)).toEqual([
      [Buffer.from('a'), Buffer.from([255, 0, 254])],
      [Buffer.from(''), Buffer.from('abc')],
    ]);
    expect(Buffer.concat(encodeNpy(tensor)).equals(fromBase64(golden.bytes))).toBe(true);
  });

  test('big-endian and Fortran-order text', () => {
    expect(utf8(decodeNpy(fromBase64(golden['big-endian text'])))).toEqual(['café', 'b']);
    expect(utf8(decodeNpy(fromBase64(golden['fortran text'])))).toEqual([
      ['a', 'bc', 'd'],
      ['e', 'f', 'gh'],
    ]);
  });

  test('a value that NumPy would cut, and one that would blow up its neighbors', () => {
    expect(() => encodeNpy(stringTensor([2], ['a', 'b\0']))).toThrow(
      expect.objectContaining({
        code: 'VALUE_OUT_OF_RANGE',
        message: expect.stringMatching(/^value 1 /),
      }),
    );
    const values = [new Uint8Array(2_000_000).fill(255), ...Array(1000).fill('a')];
    expect(() => encodeNpy(stringTensor([1001], values))).toThrow(
      expect.objectContaining({ code: 'TOO_LARGE' }),
    );
  });
});

describe('refused', () => {
  test.each([
    ['object', /Python objects \(pickle\)/],
    ['complex', /<c8/],
    ['datetime', /<M8/],
    ['structured', /structured/],
  ] as const)('%s', (name, message) => {
    expect(() => decodeNpy(fromBase64(golden[name]))).toThrow(message);
    expect(() => decodeNpy(fromBase64(golden[name]))).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED_DTYPE' }),
    );
  });

  test('every truncation', () => {
    const bytes = fromBase64(golden.plain.float64 ?? '');
    for (let length = 0; length < bytes.byteLength; length++) {
      expect(() => decodeNpy(bytes.subarray(0, length))).toThrow(
        expect.objectContaining({ name: 'TensorError' }),
      );
    }
    expect(() => decodeNpy(bytes.subarray(0, -1))).toThrow('needs 48 bytes of data, has 47');
  });

  test('other files, other versions, broken headers', () => {
    expect(() => decodeNpy(Buffer.from('PK\x03\x04 not numpy'))).toThrow(/not a .npy file/);
    const bytes = fromBase64(golden.vector);
    const version4 = Uint8Array.from(bytes);
    version4[6] = 4;
    expect(() => decodeNpy(version4)).toThrow(/version 4/);
    const noShape = Buffer.from(bytes);
    noShape.write('shapo', noShape.indexOf('shape'));
    expect(() => decodeNpy(noShape)).toThrow(/not understood/);
  });

  // What numpy.load of NumPy 2.4 says of each.
  const notTuples = ['(1)', '(3L)', '(1 2,)', '(1,,2)', '(,)', '(,1)', '(03,)', '(L,)', '(2LL,)'];
  test.each<[string, number[] | undefined]>([
    ['()', []],
    ['(1,)', [1]],
    ['(1,2)', [1, 2]],
    ['( 1 , 2 , )', [1, 2]],
    ['(1\n,2)', [1, 2]],
    ['(3L, 4L)', [3, 4]],
    ...notTuples.map((text): [string, undefined] => [text, undefined]),
  ])('a shape written as %j', (text, shape) => {
    const header = `{'descr': '|u1', 'fortran_order': False, 'shape': ${text}, }`.padEnd(118);
    const count = (shape ?? [64]).reduce((product, size) => product * size, 1);
    const start = Buffer.from('\x93NUMPY\x01\x00\x76\x00', 'latin1');
    const file = Buffer.concat([start, Buffer.from(header), Buffer.alloc(count)]);
    if (shape === undefined) expect(() => decodeNpy(file)).toThrow(/not understood/);
    else expect(decodeNpy(file).shape).toEqual(shape);
  });

  test('a small file that claims many empty strings', () => {
    const [header] = encodeNpy(tensorFromValues('int8', [0], []));
    const bytes = Buffer.from(header ?? []);
    bytes.write(
      "'|S0', 'fortran_order': False, 'shape': (999999999999,), }",
      bytes.indexOf("'|i1'"),
    );
    expect(() => decodeNpy(bytes)).toThrow(expect.objectContaining({ code: 'SHAPE_MISMATCH' }));
  });
});

test('bool bytes other than 0 and 1 are true', () => {
  const file = Buffer.concat(encodeNpy(numericTensor('bool', [4], Uint8Array.of(0, 1, 1, 0))));
  file.set([0, 2, 255, 1], file.length - 4);
  expect(decodeNpy(file)).toMatchObject({ bytes: Uint8Array.of(0, 1, 1, 1) });
});

describe('many strings', () => {
  const count = 40_000;
  const filled = (texts: readonly (string | Uint8Array)[]) =>
    stringTensor(
      [count],
      Array.from({ length: count }, (_, index) => texts[index % texts.length] as string),
    );

  test.each([
    ['ASCII', ['a', '', 'three words here'], '<U16'],
    ['text', ['Zürich', 'a', '日本語', '🙂🙂'], '<U6'],
    ['bytes', ['Zürich', Uint8Array.of(0, 255)], '|S7'],
  ])('%s are written in turns, and as at once', async (_, texts, descr) => {
    const tensor = filled(texts);
    let turns = 0;
    const inTurns = Buffer.concat(
      await encodeNpyInTurns(tensor, async () => {
        turns++;
      }),
    );
    expect(turns).toBeGreaterThan(5);
    expect(inTurns.equals(Buffer.concat(encodeNpy(tensor)))).toBe(true);
    expect(inTurns.subarray(0, 128).toString('latin1')).toContain(`'descr': '${descr}'`);
    const bytes = (one: string | Uint8Array) => Buffer.from(one as string).toString('hex');
    const { values } = decodeNpy(inTurns) as typeof tensor;
    expect(values.slice(0, 4).map(bytes)).toEqual(tensor.values.slice(0, 4).map(bytes));
    expect(bytes(values.at(-1) as Uint8Array)).toBe(bytes(tensor.values.at(-1) as Uint8Array));
  });
});
