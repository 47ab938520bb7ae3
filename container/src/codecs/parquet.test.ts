/** Parquet: files of pyarrow's as requests, answers as another reader sees them, and files made to harm. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import {
  type DType,
  type Nested,
  numericTensor,
  type Signature,
  stringTensor,
  type Tensor,
  tensorFromNested,
  toNested,
} from '@sagemaker-tfs/tensors';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { failureOf } from '../testing/serving-failure.ts';
import { crafted, dictionaryPage, floatPage, packedPage, runPage } from './parquet/crafted.ts';
import { parquetResponse } from './parquet-response.ts';
import {
  decodeRequest,
  encodeResponse,
  requestMediaTypes,
  responseMediaTypes,
} from './registry.ts';
import { bodyOf, decodeContext, encodeContext, nestedOf, signatureOf } from './test-signatures.ts';

const TYPE = 'application/x-parquet';
const ROWS = 300;
const fixture = (name: string) =>
  readFileSync(join(__dirname, 'parquet/fixtures', `${name}.parquet`));

async function decode(body: Uint8Array, signature: Signature): Promise<Record<string, Nested>> {
  const { inputs } = await decodeRequest(body, decodeContext(signature, TYPE));
  return nestedOf(inputs);
}

const failure = failureOf(decode);

/** What `fixtures/make.py` writes into each column, by row. */
const COLUMNS: Readonly<
  Record<string, readonly [DType, readonly number[], (i: number) => unknown]>
> = {
  f32: ['float32', [-1], (i) => i / 4],
  f64: ['float64', [-1], (i) => i / 3],
  i8: ['int8', [-1], (i) => (i % 200) - 100],
  u16: ['uint16', [-1], (i) => i * 65],
  i32: ['int32', [-1], (i) => (i === 0 ? 0 : i * -7)],
  u32: ['uint32', [-1], (i) => i + 2 ** 32 - ROWS],
  i64: ['int64', [-1], (i) => BigInt(i - 2 ** 40)],
  u64: ['uint64', [-1], (i) => BigInt(i) + 2n ** 64n - BigInt(ROWS)],
  flag: ['bool', [-1], (i) => i % 3 === 0],
  text: ['string', [-1], (i) => Buffer.from(`text ${i % 7}`)],
  bytes: ['string', [-1], (i) => Buffer.from([i % 256, 255])],
  list: ['float32', [-1, 3], (i) => [i, i + 0.5, i === 0 ? 0 : -i]],
  fixed: ['int64', [-1, 2], (i) => [BigInt(i), BigInt(i + 1)]],
};
const all = signatureOf(
  Object.fromEntries(
    Object.entries(COLUMNS).map(([name, [dtype, shape]]) => [name, [dtype, shape]]),
  ),
);
const rowsOf = (of: (i: number) => unknown) => Array.from({ length: ROWS }, (_, i) => of(i));

describe('requests', () => {
  const ways = ['plain', 'snappy', 'gzip', 'brotli', 'v2', 'v2-plain'];
  test.each('zstdDecompressSync' in zlib ? [...ways, 'zstd'] : ways)(
    'columns by name, as pyarrow writes them: %s',
    async (way) => {
      const inputs = await decode(fixture(way), all);
      for (const [name, [, , of]] of Object.entries(COLUMNS)) {
        expect({ name, values: plain(inputs[name]) }).toEqual({ name, values: plain(rowsOf(of)) });
      }
    },
  );

  test('missing floats are NaN, as pandas writes them', async () => {
    for (const name of ['holes', 'holes-dictionary']) {
      const { x } = await decode(fixture(name), signatureOf({ x: ['float32', [-1, 1]] }));
      expect(x).toEqual(rowsOf((i) => [i % 5 === 0 ? Number.NaN : i / 2]));
    }
  });

  test.each(['holes-lists', 'holes-fixed'])('within lists too: %s', async (name) => {
    const { x } = await decode(fixture(name), signatureOf({ x: ['float32', [-1, 2]] }));
    expect(x).toEqual(rowsOf((i) => [i % 5 === 0 ? Number.NaN : i / 2, i]));
  });

  test.each(['index', 'indices', 'index-dates', 'index-range'])(
    "pandas' index is no column, whatever its name and type: %s",
    async (name) => {
      const rows = [
        [1, 3],
        [2, 4],
      ];
      expect(await decode(fixture(name), signatureOf({ x: ['float32', [-1, 2]] }))).toEqual({
        x: rows,
      });
      const named = signatureOf({ q: ['float32', [-1]], r: ['int64', [-1]] });
      expect(plain(await decode(fixture(name), named))).toEqual(plain({ q: [1, 2], r: [3n, 4n] }));
    },
  );

  test('columns without the name of the only input fill its instances, converted to its dtype', async () => {
    const body = await written({
      a: tensorOf([1, 2], 'int64'),
      b: tensorOf(
        [
          [0.5, 1.5],
          [2.5, 3.5],
        ],
        'float64',
      ),
      c: tensorOf([7, 8], 'uint8'),
    });
    expect(await decode(body, signatureOf({ x: ['float32', [-1, 4]] }))).toEqual({
      x: [
        [1, 0.5, 1.5, 7],
        [2, 2.5, 3.5, 8],
      ],
    });
    expect(await decode(body, signatureOf({ x: ['float32', [-1, 2, 2]] }))).toEqual({
      x: [
        [
          [1, 0.5],
          [1.5, 7],
        ],
        [
          [2, 2.5],
          [3.5, 8],
        ],
      ],
    });
    const words = await written({ s: texts('a', 'é'), t: texts('b', '') });
    expect(plain((await decode(words, signatureOf({ x: ['string', [-1, 2]] }))).x)).toEqual(
      plain([
        [Buffer.from('a'), Buffer.from('b')],
        [Buffer.from('é'), Buffer.from('')],
      ]),
    );
  });

  test.each([
    ['refused-delta', 'i64', /column 'i64' in an encoding/],
    ['refused-lz4', 'f32', /compressed in a way/],
    ['refused-null-text', 'text', /column 'text' has no value in row 1/],
    ['refused-null-list', 'list', /column 'list' has no value in row 1/],
    ['refused-empty-list', 'list', /column 'list' has no value in row 1/],
    ['refused-null-integer', 'list', /column 'list' has no value in row 1/],
    ['refused-ragged', 'list', /column 'list'/],
    ['refused-struct', 'point', /column 'point', which is neither of scalars/],
    ['refused-dates', 'date', /column 'date' of a type that no tensor has/],
    ['refused-durations', 'took', /column 'took' of a type that no tensor has/],
    ['refused-empty', 'f32', /no rows/],
  ])('%s', async (name, input, message) => {
    const { status, message: said } = await failure(
      fixture(name),
      signatureOf({ [input]: ['string', undefined] }),
    );
    expect([status, said]).toEqual([400, expect.stringMatching(message)]);
  });

  test.each<[string, Signature, RegExp]>([
    [
      'a column that is no input beside those that are',
      signatureOf({ f32: ['float32', [-1]], y: ['int8', [-1]] }),
      /has no input 'f64'/,
    ],
    [
      'another dtype',
      signatureOf({ ...specs(all), f64: ['string', [-1]] }),
      /column 'f64': input 'f64' takes string/,
    ],
    [
      'another width',
      signatureOf({ ...specs(all), list: ['float32', [-1, 2]] }),
      /input 'list' takes instances of \[2\], got 300 rows of 3 values/,
    ],
  ])('%s', async (_, signature, message) => {
    expect(await failure(fixture('plain'), signature)).toMatchObject({
      status: 400,
      message: expect.stringMatching(message) as string,
    });
  });
});

describe('off, as by default', () => {
  const IS_OFF =
    'Parquet is off here. Set SAGEMAKER_TFS_PARQUET=true in the environment of the model, or with --env of sagemaker-tfs serve.';
  const others = (types: readonly string[]) =>
    types.filter((type) => !type.includes('parquet')).join(', ');
  const off = (signature: Signature, contentType: string) => {
    const context = decodeContext(signature, contentType);
    return { ...context, limits: { ...context.limits, parquet: false } };
  };
  const x = signatureOf({ x: ['float32', [-1]] });
  const outputs = { y: tensorOf([1, 2], 'float32') };
  const { parquet: _, ...context } = encodeContext(['y']);

  test('is what nobody asked for', () => expect(DEFAULT_DECODE_LIMITS.parquet).toBe(false));

  test.each([TYPE, 'application/vnd.apache.parquet'])('%s is 415, not read', async (type) => {
    const answer = decodeRequest(Buffer.from('no Parquet'), off(x, type));
    await expect(answer).rejects.toMatchObject({
      status: 415,
      message: `${IS_OFF} Or send one of ${others(requestMediaTypes())}.`,
    });
  });

  test('Accept: 406 with the setting; others are taken where they are named too', async () => {
    await expect(encodeResponse(outputs, TYPE, context)).rejects.toMatchObject({
      status: 406,
      message: `${IS_OFF} Or accept one of ${others(responseMediaTypes())}.`,
    });
    const { contentType } = await encodeResponse(outputs, `${TYPE}, text/csv;q=0.1`, context);
    expect(contentType).toBe('text/csv');
  });

  test('refusals of unknown types do not offer it', async () => {
    const asked = decodeRequest(Buffer.from(''), off(x, 'text/unknown'));
    await expect(asked).rejects.toThrow(/Use one of (?!.*parquet)/);
    await expect(encodeResponse(outputs, 'text/unknown', context)).rejects.toThrow(
      /Use one of (?!.*parquet)/,
    );
  });
});

describe('answers', () => {
  const outputs = {
    score: tensorOf([0.25, -1, 3], 'float32'),
    half: tensorOf([0.5, 1, 2], 'float16'),
    class: tensorOf([1, 2, 3].map(BigInt), 'int64'),
    byte: tensorOf([255, 0, 1], 'uint8'),
    ok: tensorOf([true, false, true], 'bool'),
    label: texts('seven', 'é', ''),
    raw: stringTensor([3], [Buffer.from([255]), Buffer.from('a'), Buffer.from('b')]),
    box: tensorOf(
      [
        [1, 2],
        [3, 4],
        [5, 6],
      ],
      'float64',
    ),
    grid: tensorOf(
      [
        [[1], [2]],
        [[3], [4]],
        [[5], [6]],
      ],
      'int32',
    ),
  };

  test('a row an instance, a column an output, lists for instances of several values', async () => {
    const body = await written(outputs);
    const rows = await parquetReadObjects({ file: bufferOf(body), utf8: false });
    expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(outputs));
    expect(plain(rows[0])).toEqual(
      plain({
        ...{ score: 0.25, half: 0.5, class: 1n, byte: 255, ok: true, label: 'seven' },
        ...{ raw: Buffer.from([255]), box: [1, 2], grid: [[1], [2]] },
      }),
    );
    expect(rows).toHaveLength(3);
  });

  test('are requests of the same columns', async () => {
    const { grid: _, half, ...flat } = outputs;
    const signature = signatureOf(
      Object.fromEntries(
        Object.entries(flat).map(([name, { dtype, shape }]) => [
          name,
          [dtype, [-1, ...shape.slice(1)]],
        ]),
      ),
    );
    const inputs = await decode(await written(flat), signature);
    expect(plain(inputs)).toEqual(plain(nestedOf(flat)));
    expect(half.dtype).toBe('float16');
  });

  test('large ones have groups of rows', async () => {
    const wide = {
      x: tensorOf(
        Array.from({ length: 200_000 }, (_, i) => [i, -i]),
        'float32',
      ),
    };
    const body = await written(wide);
    const { row_groups } = parquetMetadata(bufferOf(body));
    expect(row_groups.length).toBeGreaterThan(1);
    const { x } = await decode(body, signatureOf({ x: ['float32', [-1, 2]] }));
    expect(x).toEqual(toNested(wide.x));
  });

  test('lists of many depths and sizes, without elements too, as another reader sees them', async () => {
    const shapes = [
      [3, 1],
      [3, 17],
      [3, 0],
      [3, 2, 0],
      [3, 0, 2],
      [3, 2, 0, 5],
      [3, 2, 3, 4],
      [3, 1, 1, 1, 2],
    ];
    const wide = Object.fromEntries(
      shapes.map((shape) => {
        const count = shape.reduce((product, size) => product * size, 1);
        return [
          `x${shape}`,
          numericTensor(
            'int32',
            shape,
            Int32Array.from({ length: count }, (_, i) => i),
          ),
        ];
      }),
    );
    const flags = Array.from({ length: 3 }, (_, i) =>
      Array.from({ length: 20_001 }, (_, j) => (i + j) % 3 === 0),
    );
    const outputs = { ...wide, flags: tensorOf(flags, 'bool') };
    const rows = await parquetReadObjects({ file: bufferOf(await written(outputs)) });
    for (const [name, tensor] of Object.entries(outputs)) {
      expect({ name, rows: rows.map((row) => row[name]) }).toEqual({
        name,
        rows: toNested(tensor),
      });
    }
  });

  test('a large row is made while it is sent, in small pieces', async () => {
    const values = Float32Array.from({ length: 300_000 }, (_, i) => i);
    const large = { x: numericTensor('float32', [1, 300_000], values) };
    const { body } = await parquetResponse.encode(large, encodeContext(['x']));
    expect(Array.isArray(body)).toBe(false);
    let turns = 0;
    let most = 0;
    const count = () => {
      turns++;
      other = setImmediate(count);
    };
    let other = setImmediate(count);
    for await (const piece of body) most = Math.max(most, piece.byteLength);
    clearImmediate(other);
    expect(turns).toBeGreaterThan(2);
    expect(most).toBeLessThan(2 ** 18);
    const file = bufferOf(await written(large));
    const [row] = await parquetReadObjects({ file });
    expect(row?.x).toEqual([...values]);
  });

  test('outputs without common rows are 406', async () => {
    const scalar = { s: tensorOf(1, 'float32') };
    const answer = parquetResponse.encode(scalar, encodeContext());
    await expect(answer).rejects.toMatchObject({ code: 'NOT_ACCEPTABLE' });
  });
});

/** Each in the one before, 14 deep, and 2 million bytes to take their elements from. */
const listsInLists = `19${'f980897a'.repeat(14)}${'00'.repeat(2e6)}`;

const dictionary = (count: number, size: number, values = 4) =>
  crafted({ rows: values, page: Buffer.concat([dictionaryPage(count, size), floatPage(4)]) });
const snappy = (packed: string) =>
  crafted({ codec: 1, page: packedPage(Buffer.from(packed, 'hex')) });
const bomb = (codec: number, pack: (bytes: Buffer) => Buffer) =>
  crafted({ codec, page: packedPage(pack(Buffer.alloc(2 ** 24))) });
const zstd = (bytes: Buffer) =>
  (zlib as unknown as { zstdCompressSync(bytes: Buffer): Buffer }).zstdCompressSync(bytes);

describe('hostile files', () => {
  const x = signatureOf({ x: ['float32', [-1]] });

  /** The status of the answer; all else than a refusal is a defect. */
  async function statusOf(body: Uint8Array, signature = x): Promise<number> {
    try {
      await decode(body, signature);
      return 200;
    } catch (error) {
      if (!(error instanceof ServingError)) throw error;
      expect(error.message.length).toBeLessThan(500);
      return error.status;
    }
  }

  test.each(['holes', 'holes-dictionary'])(
    '%s, changed at every byte',
    async (name) => {
      const file = fixture(name);
      const statuses = new Set<number>();
      for (let at = 0; at < file.length; at++) {
        for (const value of [0, 0x7f, 0x80, 0xff, (file[at] as number) ^ 1]) {
          const changed = Buffer.from(file);
          changed[at] = value;
          statuses.add(await statusOf(changed));
        }
      }
      for (const status of statuses) expect([200, 400, 413]).toContain(status);
    },
    120_000,
  );

  test('cut off at every length', async () => {
    const file = fixture('v2');
    for (let length = 0; length < file.length; length += 41) {
      expect(await statusOf(file.subarray(0, length), all)).toBe(400);
    }
  });

  test('encrypted pages are named', async () => {
    const body = crafted({ footer: '8c1c000000' });
    expect(await failure(body, x)).toMatchObject({
      status: 400,
      message: expect.stringMatching(/is encrypted/) as string,
    });
  });

  test('the crafted file is one', async () => {
    expect(await decode(crafted({}), x)).toEqual({ x: [0, 1, 2, 3] });
  });

  test('a text of a dictionary counts each time that it is named, within what the file may unpack to', async () => {
    const strings = signatureOf({ x: ['string', [-1]] });
    const { x: read } = await decode(oneText(50), strings);
    const text = Buffer.alloc(100_000, 'a');
    expect((read as Uint8Array[]).map((one) => text.equals(one))).toEqual(Array(50).fill(true));
  });

  test.each<[string, Buffer, number]>([
    ['rows without end', crafted({ rows: 2 ** 45 }), 413],
    ['more rows than values', crafted({ rows: 1000, values: 4 }), 400],
    ['values and no rows in a group', crafted({ rowless: 4 }), 400],
    ['texts and no rows in a group', crafted({ physical: 6, rowless: 4 }), 400],
    ['a boolean that is 255', crafted({ physical: 0, page: booleanRun(255) }), 400],
    [
      'a page that unpacks to gigabytes',
      crafted({ page: floatPage(4, { size: 2 ** 31 - 1 }) }),
      400,
    ],
    ['values without end in a page', crafted({ page: floatPage(2 ** 31 - 1) }), 400],
    [
      'pages without values',
      crafted({ page: Buffer.concat(Array(1e5).fill(floatPage(0)) as Buffer[]) }),
      400,
    ],
    [
      'two dictionaries of a column',
      crafted({
        page: Buffer.concat([dictionaryPage(4, 16), dictionaryPage(4, 16), floatPage(4)]),
      }),
      400,
    ],
    [
      'far too many pages',
      crafted({ rows: 70_000, page: Buffer.concat(Array(70_000).fill(floatPage(1)) as Buffer[]) }),
      413,
    ],
    ['columns that lie in each other', crafted({ rows: 4000, chunks: 1000 }), 400],
    ['a run without end', crafted({ rows: 1e6, page: runPage(1e6, 2 ** 31 - 1) }), 400],
    ['a footer of lists in lists', crafted({ footer: '19'.repeat(50_000) }), 400],
    ['a footer of one endless list', crafted({ footer: '29fcffffffff0f' }), 400],
    ['lists in lists, each of as many elements as bytes', crafted({ footer: listsInLists }), 413],
    ['a struct of a million booleans', crafted({ footer: '11'.repeat(1e6) }), 413],
    ['a list of a million structs', crafted({ footer: `19fcc0843d${'00'.repeat(1e6)}` }), 413],
    ['a dictionary of more values than its column', dictionary(5, 20), 400],
    ['a dictionary of other bytes than its values', dictionary(4, 2 ** 30), 400],
    ['a dictionary of a gigabyte', dictionary(2 ** 28, 2 ** 30, 2 ** 28), 413],
    ['a page of more bytes than its values', crafted({ page: floatPage(4, { size: 4096 }) }), 400],
    ['snappy that goes backwards', snappy('fcfaffffff'), 400],
    ['snappy of a literal without end', snappy('10fcffffff7f00'), 400],
    ['snappy that copies from before its start', snappy('100000fe0100'), 400],
    ['snappy that copies beyond its end', snappy('100000fe0100fe0100'), 400],
    ['snappy that is too short', snappy('100c00000000'), 400],
    ['gzip of more than it says', bomb(2, zlib.gzipSync), 400],
    ['brotli of more than it says', bomb(4, zlib.brotliCompressSync), 400],
    ...('zstdCompressSync' in zlib
      ? ([['zstd of more than it says', bomb(6, zstd), 400]] as [string, Buffer, number][])
      : []),
    ['a text of 100 kB, named a thousand times', oneText(1_000), 413],
    ['a text of 100 kB, named a million times', oneText(1e6), 413],
    ['encrypted, its footer too', Buffer.from('PARE\0\0\0\0\0\0\0\0\x04\0\0\0PARE'), 400],
    ['a number of endless bytes', crafted({ footer: `15${'ff'.repeat(50_000)}` }), 400],
  ])('%s', async (_, body, status) => {
    expect(await statusOf(body)).toBe(status);
  });

  describe('rows that cost nothing', () => {
    const lists = { lists: true, values: 0, page: Buffer.alloc(0) };
    const open = (dtype: 'float32' | 'string') => ({ x: [dtype, [-1, -1]] }) as const;
    test.each<[string, Parameters<typeof crafted>[0], Parameters<typeof signatureOf>[0]]>([
      ['no column', { columns: 0 }, open('float32')],
      ['no column of texts', { columns: 0 }, open('string')],
      ['a column of empty lists', lists, open('float32')],
      ['two columns of empty lists', { ...lists, columns: 2 }, { other: ['float32', [-1, -1]] }],
      [
        'two columns of lists without texts',
        { ...lists, columns: 2, physical: 6 },
        { other: ['string', [-1, -1]] },
      ],
    ])('%s', async (_, file, inputs) => {
      for (const rows of [1, 2 ** 45]) {
        expect(await statusOf(crafted({ ...file, rows }), signatureOf(inputs))).toBe(400);
      }
    });
  });

  test('the crafted lists are lists', async () => {
    expect(await statusOf(crafted({ lists: true, columns: 2 }), x)).toBe(400);
    expect(await failure(crafted({ lists: true, rows: 3, values: 4 }), x)).toMatchObject({
      message: expect.stringMatching(/column 'x' has 4 values for 3 rows/) as string,
    });
  });
});

/** Four booleans in one run. */
function booleanRun(value: number): Buffer {
  return runPage(4, 4, value);
}

/** A column of texts, all of them the only one of its dictionary. */
function oneText(rows: number): Buffer {
  const text = Buffer.alloc(100_004, 'a');
  text.writeUInt32LE(100_000);
  const page = Buffer.concat([dictionaryPage(1, text.length, text), runPage(rows, rows, 0)]);
  return crafted({ rows, page, physical: 6 });
}

/** Numbers, texts and bytes alike, however they came. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (typeof value === 'string') return Buffer.from(value).toString('hex');
  if (typeof value === 'bigint') return String(value);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
}

function specs({ inputs }: Signature): Record<string, [DType, readonly number[] | undefined]> {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, { dtype, shape }]) => [name, [dtype as DType, shape]]),
  );
}

function tensorOf(values: unknown, dtype: DType): Tensor {
  return tensorFromNested(dtype, values);
}

function texts(...values: string[]): Tensor {
  return stringTensor(
    [values.length],
    values.map((value) => Buffer.from(value)),
  );
}

const bufferOf = (body: Buffer): ArrayBuffer => new Uint8Array(body).buffer;

async function written(outputs: Readonly<Record<string, Tensor>>): Promise<Buffer> {
  return bodyOf(await parquetResponse.encode(outputs, encodeContext(Object.keys(outputs))));
}
