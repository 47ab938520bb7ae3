import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import type { SchemaElement } from 'hyparquet';
import { parquetWriteFile } from 'hyparquet-writer';
import { readMetadata } from './metadata.ts';

const work = mkdtempSync(join(tmpdir(), 'parquet-rows-'));
afterAll(() => rmSync(work, { recursive: true }));

type Typed = Omit<SchemaElement, 'name' | 'repetition_type'>;

/** The first cell of a column with these values, and the column's type. */
async function joined(element: Typed, values: unknown[], codec: 'SNAPPY' | Codec = 'SNAPPY') {
  const filename = join(work, `${codec}.parquet`);
  const keys = values.map((_, index) => `k${index}`);
  parquetWriteFile({
    filename,
    codec,
    compressors: COMPRESSORS,
    schema: [
      { name: 'root', num_children: 2 },
      { name: 'key', type: 'BYTE_ARRAY', converted_type: 'UTF8', repetition_type: 'REQUIRED' },
      { ...element, name: 'value', repetition_type: 'OPTIONAL' },
    ],
    columnData: [
      { name: 'key', data: keys },
      { name: 'value', data: values },
    ],
  });
  const { of } = await readMetadata(filename, 'key');
  return keys.map((key) => of(key)?.value);
}

type Codec = 'GZIP' | 'BROTLI' | 'ZSTD' | 'LZO' | 'UNCOMPRESSED';

/** A frame with one block as it is. */
function zstdFrame(bytes: Uint8Array): Uint8Array {
  const head = Buffer.alloc(12);
  head.writeUInt32LE(0xfd2fb528, 0);
  head.writeUInt8(0b1010_0000, 4);
  head.writeUInt32LE(bytes.byteLength, 5);
  head.writeUIntLE((bytes.byteLength << 3) | 1, 9, 3);
  return Buffer.concat([head, bytes]);
}

const COMPRESSORS = {
  GZIP: (bytes: Uint8Array) => gzipSync(bytes),
  BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes),
  ZSTD: zstdFrame,
  LZO: (bytes: Uint8Array) => Uint8Array.from([...bytes, 0]),
};

const TEXT: Typed = { type: 'BYTE_ARRAY', converted_type: 'UTF8' };

test.each(['GZIP', 'BROTLI', 'ZSTD', 'UNCOMPRESSED'] as const)('%s is read', async (codec) => {
  const values = Array.from({ length: 2_000 }, (_, index) => `text ${index % 7}`);
  expect(await joined(TEXT, values, codec)).toEqual(values);
});

test('another codec is refused, with those that are read', async () => {
  await expect(joined(TEXT, Array(50).fill('same'), 'LZO')).rejects.toThrow(
    /is compressed with LZO, .* Write it with compression snappy, gzip, zstd or none\.$/,
  );
});

const timestamp = (unit: 'MILLIS' | 'MICROS' | 'NANOS'): Typed => ({
  type: 'INT64',
  logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit },
});
const time = (unit: 'MILLIS' | 'MICROS' | 'NANOS'): Typed => ({
  type: unit === 'MILLIS' ? 'INT32' : 'INT64',
  logical_type: { type: 'TIME', isAdjustedToUTC: true, unit },
});
const decimal = (type: 'INT32' | 'INT64' | 'FIXED_LEN_BYTE_ARRAY', scale: number): Typed => ({
  type,
  ...(type === 'FIXED_LEN_BYTE_ARRAY' && { type_length: 16 }),
  converted_type: 'DECIMAL',
  scale,
  precision: 30,
});

test.each<[string, Typed, unknown[], unknown[]]>([
  [
    'milliseconds',
    timestamp('MILLIS'),
    [123n, -1n],
    ['1970-01-01T00:00:00.123Z', '1969-12-31T23:59:59.999Z'],
  ],
  [
    'microseconds',
    timestamp('MICROS'),
    [123_456n, 123_000n, -1n],
    ['1970-01-01T00:00:00.123456Z', '1970-01-01T00:00:00.123Z', '1969-12-31T23:59:59.999999Z'],
  ],
  [
    'nanoseconds',
    timestamp('NANOS'),
    [1_700_000_000_123_456_789n, 5_000n],
    ['2023-11-14T22:13:20.123456789Z', '1970-01-01T00:00:00.000005Z'],
  ],
  ['the year 290000', timestamp('MILLIS'), [9_000_000_000_000_000n], ['9000000000000000']],
  ['time in milliseconds', time('MILLIS'), [3_723_000, 1], ['01:02:03', '00:00:00.001']],
  [
    'time in microseconds',
    time('MICROS'),
    [3_723_000_000n, 1n, null],
    ['01:02:03', '00:00:00.000001', null],
  ],
  ['time in nanoseconds', time('NANOS'), [86_399_999_999_999n], ['23:59:59.999999999']],
  [
    'a long decimal',
    decimal('FIXED_LEN_BYTE_ARRAY', 2),
    [-1234567890123456789012n, 30n, -1n],
    ['-12345678901234567890.12', 0.3, -0.01],
  ],
  [
    'a decimal of 64 bits',
    decimal('INT64', 0),
    [99_999_999_999_999_999n, 5n],
    ['99999999999999999', 5],
  ],
  ['a decimal of 32 bits', decimal('INT32', 1), [3n, -7n, null], [0.3, -0.7, null]],
  ['integers', { type: 'INT64' }, [2n ** 63n - 1n, 7n], ['9223372036854775807', 7]],
  [
    'JSON with a large number',
    { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    ['{"a":9007199254740993}'],
    ['{"a":9007199254740993}'],
  ],
  ['bytes that are text', { type: 'BYTE_ARRAY' }, [Buffer.from('Größe')], ['Größe']],
])('%s keep every digit', async (_, element, values, expected) => {
  expect(await joined(element, values)).toEqual(expected);
});

test.each([
  ['BYTE_ARRAY', {}],
  ['FIXED_LEN_BYTE_ARRAY', { type_length: 2 }],
] as const)('%s that is no text is refused, with its column', async (type, more) => {
  await expect(joined({ type, ...more }, [Buffer.from([0xff, 0])])).rejects.toThrow(
    'parquet holds bytes that are no text in UTF-8. Leave the column out, or write it as text such as base64.',
  );
});
