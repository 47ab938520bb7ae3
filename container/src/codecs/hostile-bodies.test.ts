/**
 * Small bodies that made for long stalls and much memory: what they declare is checked first, and the work is linear
 * in their bytes. Each took from 10 s to minutes, or a crash; the time limit of a test tells.
 */
import { deflateRawSync } from 'node:zlib';
import {
  crc32c,
  encodeLengthPrefixed,
  encodeRecordIo,
  encodeTfRecord,
  type Signature,
} from '@sagemaker-tfs/tensors';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { decodeRequest } from './registry.ts';
import { decodeContext, signatureOf } from './test-signatures.ts';

const floats = signatureOf({ x: ['float32', [-1]] });
const rows = signatureOf({ x: ['float32', [-1, 2]] });
const strings = signatureOf({ s: ['string', [-1]] });
const MEGABYTES = 1_000_000;

/** The status of the refusal, or 200. */
async function statusOf(
  body: Uint8Array | string,
  type: string,
  signature: Signature,
): Promise<number> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  try {
    await decodeRequest(bytes, {
      ...decodeContext(signature, type),
      limits: { ...DEFAULT_DECODE_LIMITS, maxDecodedBytes: 2 ** 31, maxImagePixels: 1e8 },
    });
    return 200;
  } catch (error) {
    if (!(error instanceof ServingError)) throw error;
    expect(error.message.length).toBeLessThan(2_000);
    return error.status;
  }
}

function npy(descr: string, shape: string, data: Uint8Array, order = 'False'): Buffer {
  const text = `{'descr': '${descr}', 'fortran_order': ${order}, 'shape': (${shape}), }\n`;
  const head = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 2, 0, 0, 0, 0, 0]);
  head.writeUInt32LE(text.length, 8);
  return Buffer.concat([head, Buffer.from(text), data]);
}

interface ZipEntry {
  readonly name: string;
  readonly raw: Uint8Array;
  readonly size: number;
  readonly crc: number;
  /** Where the directory says that it is; its own place where undefined. */
  readonly offset?: number;
}

/** An archive whose directory may say anything. */
function zip(files: readonly ZipEntry[], entries: readonly ZipEntry[] = files): Buffer {
  const parts: Buffer[] = [];
  const offsets = new Map<ZipEntry, number>();
  let at = 0;
  for (const file of files) {
    const header = Buffer.alloc(30 + file.name.length);
    header.writeUInt32LE(0x04034b50, 0);
    header.writeUInt16LE(file.name.length, 26);
    header.write(file.name, 30);
    offsets.set(file, at);
    parts.push(header, Buffer.from(file.raw));
    at += header.length + file.raw.length;
  }
  const start = at;
  for (const entry of entries) {
    const record = Buffer.alloc(46 + entry.name.length);
    record.writeUInt32LE(0x02014b50, 0);
    record.writeUInt16LE(8, 10);
    record.writeUInt32LE(entry.crc, 16);
    record.writeUInt32LE(entry.raw.length, 20);
    record.writeUInt32LE(entry.size, 24);
    record.writeUInt16LE(entry.name.length, 28);
    record.writeUInt32LE(entry.offset ?? offsets.get(entry) ?? 0, 42);
    record.write(entry.name, 46);
    parts.push(record);
    at += record.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(at - start, 12);
  end.writeUInt32LE(start, 16);
  return Buffer.concat([...parts, end]);
}

const repeated = (bytes: readonly number[], count: number): Buffer =>
  Buffer.alloc(bytes.length * count, Buffer.from(bytes));

/** A protobuf field of bytes. */
function field(number: number, content: Uint8Array): Buffer {
  const head: number[] = [number * 8 + 2];
  let rest = content.length;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) head.push((rest % 0x80) | 0x80);
  return Buffer.concat([Buffer.from([...head, rest]), content]);
}

const example = (name: string, kind: number, list: Uint8Array): Buffer =>
  field(1, field(1, Buffer.concat([field(1, Buffer.from(name)), field(2, field(kind, list))])));
const record = (name: string, kind: number, vector: Uint8Array): Buffer =>
  field(1, Buffer.concat([field(1, Buffer.from(name)), field(2, field(kind, vector))]));
const framed = (chunks: Uint8Array[]): Buffer => Buffer.concat(chunks);

const JSON_TYPE = 'application/json';
const NPY = 'application/x-npy';
const NPZ = 'application/x-npz';

describe('npy', () => {
  test('100,000 dimensions', async () => {
    const shape = '1,'.repeat(100_000);
    expect(await statusOf(npy('<f4', shape, Buffer.alloc(4), 'True'), NPY, floats)).toBe(400);
    expect(await statusOf(npy('<f4', '1,'.repeat(65), Buffer.alloc(4)), NPY, floats)).toBe(400);
  });

  test('Fortran order with all the dimensions there may be', async () => {
    const shape = `${4 * MEGABYTES},${'1,'.repeat(63)}`;
    const any = signatureOf({ x: ['uint8', undefined] });
    const body = npy('|u1', shape, Buffer.alloc(4 * MEGABYTES), 'True');
    expect(await statusOf(body, NPY, any)).toBe(200);
  });

  test.each([
    ['a picture', '|u1', [1, 4600, 4600, 3]],
    ['2 of each', '<f4', Array(24).fill(2)],
    ['wide and flat', '<f8', [2, 4 * MEGABYTES]],
    ['long and narrow', '<f2', [16 * MEGABYTES, 2]],
    ['big-endian', '>i4', [2000, 1, 4001]],
  ] as const)('Fortran order of many elements: %s', async (_, descr, shape) => {
    const size = Number(descr[2]);
    const dtypes = {
      '|u1': 'uint8',
      '<f4': 'float32',
      '<f8': 'float64',
      '<f2': 'float16',
      '>i4': 'int32',
    } as const;
    const count = (shape as readonly number[]).reduce((all, one) => all * one, 1);
    const body = npy(descr, shape.join(', '), Buffer.alloc(count * size), 'True');
    expect(await statusOf(body, NPY, signatureOf({ x: [dtypes[descr], undefined] }))).toBe(200);
  });

  test('strings for numbers, and more strings than there may be', async () => {
    const data = Buffer.alloc(25 * MEGABYTES, 'x');
    const body = npy('|S1', `${data.length},`, data);
    expect(await statusOf(body, NPY, floats)).toBe(400);
    expect(await statusOf(body, NPY, strings)).toBe(413);
    const wide = npy('<U99999999999', '1,', Buffer.alloc(4));
    expect(await statusOf(wide, NPY, strings)).toBe(400);
  });

  test('sizes that overflow, or are none', async () => {
    for (const shape of ['9007199254740993,', '99999999999, 99999999999, 0', '-1,', '1e9,', 'x']) {
      expect(await statusOf(npy('<f4', shape, Buffer.alloc(0)), NPY, floats)).toBe(400);
    }
  });
});

describe('npz', () => {
  const zeros = Buffer.alloc(MEGABYTES);
  const raw = deflateRawSync(zeros);
  const file: ZipEntry = { name: 'x.npy', raw, size: zeros.length, crc: 0 };

  test('many entries on one stream', async () => {
    const entries = Array.from({ length: 50 }, (_, i) => ({
      ...file,
      name: `x${i}.npy`,
      offset: 0,
    }));
    expect(await statusOf(zip([file], entries), NPZ, floats)).toBe(400);
  });

  test('names that are no inputs are refused before anything is decompressed', async () => {
    const names = Array.from({ length: 50 }, (_, i) => ({ ...file, name: `nope${i}.npy` }));
    expect(await statusOf(zip(names), NPZ, floats)).toBe(400);
  });

  test('much from little', async () => {
    const bomb = Buffer.alloc(70 * MEGABYTES);
    const big = { name: 'x.npy', raw: deflateRawSync(bomb), size: bomb.length, crc: 0 };
    expect(await statusOf(zip([big]), NPZ, floats)).toBe(413);
    const liar = { ...big, size: 2 ** 32 - 2 };
    expect(await statusOf(zip([liar]), NPZ, floats)).toBe(413);
    const modest = { ...big, size: 1000 };
    expect(await statusOf(zip([modest]), NPZ, floats)).toBe(400);
  });
});

describe('JSON', () => {
  test('150 KB of padding, whitespace and what is neither', async () => {
    for (const b64 of [
      '='.repeat(150_000),
      `${'='.repeat(150_000)}a`,
      `a${' '.repeat(150_000)}=`,
    ]) {
      const body = JSON.stringify({ instances: [{ b64 }] });
      expect([200, 400]).toContain(await statusOf(body, JSON_TYPE, strings));
    }
  });

  test('20 MB of digits', async () => {
    const digits = '1'.repeat(20 * MEGABYTES);
    for (const number of [digits, `0.${digits}`, `1e${digits}`, `-${digits}`, `1.${digits}e-5`]) {
      const status = await statusOf(`{"instances":[${number}]}`, JSON_TYPE, floats);
      expect([200, 400]).toContain(status);
    }
  });

  test('megabytes of spaces, line ends, commas, quotes, backslashes', async () => {
    for (const text of [' ', '\n', ',', '"', '\\', '\\"', '[1],', '{}', '1\n', '\t,']) {
      const filling = text.repeat((3 * MEGABYTES) / text.length);
      const status = await statusOf(`{"instances":[${filling}]}`, JSON_TYPE, floats);
      expect(status).toBe(400);
    }
  }, 60_000);

  test('deep lists, at all depths', async () => {
    for (const depth of [65, 254, 255, 512, 513, 500_000]) {
      for (const inner of ['1', '"x"', '']) {
        const body = `{"instances":${'['.repeat(depth)}${inner}${']'.repeat(depth)}}`;
        const status = await statusOf(body, JSON_TYPE, inner === '"x"' ? strings : floats);
        expect(depth > 254 ? [400] : [200, 400]).toContain(status);
      }
    }
    const objects = `${'{"a":'.repeat(500_000)}1${'}'.repeat(500_000)}`;
    expect(await statusOf(objects, JSON_TYPE, floats)).toBe(400);
    expect(await statusOf(`{"examples":[${objects}]}`, JSON_TYPE, floats)).toBe(400);
  });

  test('whitespace inside many brackets', async () => {
    const body = `{"instances":${'['.repeat(60)}${' '.repeat(5 * MEGABYTES)}"x"${']'.repeat(60)}}`;
    expect([200, 400]).toContain(await statusOf(body, JSON_TYPE, strings));
  });

  test('examples with megabytes of text, and of numbers', async () => {
    const text = `{"examples":[{"s":"${'x'.repeat(9 * MEGABYTES)}"}]}`;
    expect(await statusOf(text, JSON_TYPE, strings)).toBe(200);
    const quotes = `{"examples":[{"s":"${'\\"'.repeat(5 * MEGABYTES)}"}]}`;
    expect(await statusOf(quotes, JSON_TYPE, strings)).toBe(200);
    const digits = `{"examples":[{"s":${'1'.repeat(5 * MEGABYTES)}}]}`;
    expect(await statusOf(digits, JSON_TYPE, strings)).toBe(400);
  });

  test('more strings than there may be', async () => {
    const body = `{"instances":[${'"",'.repeat(1_100_000)}""]}`;
    expect(await statusOf(body, JSON_TYPE, strings)).toBe(413);
  });

  test('names of megabytes are not repeated', async () => {
    const name = 'x'.repeat(5 * MEGABYTES);
    for (const body of [`{"inputs":{"${name}":1}}`, `{"instances":[{"${name}":1}]}`]) {
      expect(await statusOf(body, JSON_TYPE, floats)).toBe(400);
    }
    expect(await statusOf(`{"examples":[{"${name}":1}]}`, JSON_TYPE, rows)).toBe(400);
  });
});

describe('records', () => {
  test.each(['application/octet-stream', 'application/x-tfrecord', 'application/x-recordio'])(
    'a million empty records and more as %s',
    async (type) => {
      const empty = {
        'application/octet-stream': encodeLengthPrefixed,
        'application/x-tfrecord': encodeTfRecord,
        'application/x-recordio': encodeRecordIo,
      }[type] as typeof encodeLengthPrefixed;
      const one = framed(empty(new Uint8Array(0)));
      const body = repeated([...one], 1_050_000);
      expect(await statusOf(body, type, strings)).toBe(413);
    },
  );

  test('an example of millions of values, a field each', async () => {
    const lists: [number, Buffer][] = [
      [2, repeated([0x0d, 0, 0, 0, 0], MEGABYTES / 4)],
      [3, repeated([0x08, 1], MEGABYTES / 4)],
    ];
    for (const [kind, list] of lists) {
      const body = framed(encodeTfRecord(example('x', kind, list)));
      const wide = signatureOf({ x: [kind === 2 ? 'float32' : 'int64', [-1, MEGABYTES / 4]] });
      expect(await statusOf(body, 'application/x-tfrecord', wide)).toBe(200);
    }
    const empty = framed(encodeTfRecord(example('s', 1, repeated([0x0a, 0], 1.1 * MEGABYTES))));
    expect(await statusOf(empty, 'application/x-tfrecord', strings)).toBe(413);
  });

  test('an example of very many features', async () => {
    const parts = Array.from({ length: 70_000 }, (_, i) => example(`f${i}`, 2, Buffer.alloc(0)));
    const body = framed(encodeTfRecord(Buffer.concat(parts)));
    expect(await statusOf(body, 'application/x-tfrecord', floats)).toBe(413);
  });

  test('a Record of strings, of sparse values that claim much, and of many sizes', async () => {
    const type = 'application/x-recordio-protobuf';
    const many = record('s', 9, repeated([0x0a, 0], 2 * MEGABYTES));
    expect(await statusOf(framed(encodeRecordIo(many)), type, strings)).toBe(413);
    const value = field(1, Buffer.from([0, 0, 128, 63]));
    const sparse = Buffer.concat([
      value,
      field(2, Buffer.from([5])),
      field(3, Buffer.from([0x80, 0x80, 0x80, 0x20])),
    ]);
    expect(await statusOf(framed(encodeRecordIo(record('x', 2, sparse))), type, floats)).toBe(413);
    const sizes = Buffer.concat([value, field(3, Buffer.alloc(300, 1))]);
    expect(await statusOf(framed(encodeRecordIo(record('x', 2, sizes))), type, floats)).toBe(400);
  });

  test('a TFRecord that claims more than there is', async () => {
    const body = framed(encodeTfRecord(Buffer.alloc(10)));
    body.writeBigUInt64LE(2n ** 60n, 0);
    const crc = crc32c(body.subarray(0, 8));
    body.writeUInt32LE((((crc >>> 15) | (crc << 17)) + 0xa282ead8) >>> 0, 8);
    expect(await statusOf(body, 'application/x-tfrecord', strings)).toBe(400);
  });
});

describe('CSV', () => {
  test('cells of megabytes, millions of cells, millions of lines', async () => {
    const long = 'x'.repeat(5 * MEGABYTES);
    for (const body of [long, `-${long}`, '1'.repeat(5 * MEGABYTES), `"${long}"`]) {
      expect(await statusOf(body, 'text/csv', floats)).toBe(400);
    }
    expect(await statusOf(','.repeat(2 * MEGABYTES), 'text/csv', strings)).toBe(413);
    expect(await statusOf('1,2\r'.repeat(MEGABYTES / 4), 'text/csv', floats)).toBe(400);
    expect(await statusOf('\n'.repeat(3 * MEGABYTES), 'text/csv', floats)).toBe(400);
  }, 60_000);

  test.each(['constructor', '-constructor', '__proto__', 'toString', '-valueOf'])(
    '%s is no number and no truth value',
    async (cell) => {
      expect(await statusOf(cell, 'text/csv', floats)).toBe(400);
      expect(await statusOf(cell, 'text/csv', signatureOf({ b: ['bool', [-1]] }))).toBe(400);
    },
  );
});
