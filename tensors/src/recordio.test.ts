import { encodeRecordIo, readRecordIo, streamRecordIo } from './recordio.ts';

const MAGIC = '0a23d7ce';

function hex(...parts: string[]): Buffer {
  return Buffer.from(parts.join(''), 'hex');
}

/** As dmlc-core writes "ab", and "abcd" + magic + "efgh" + magic + "i". */
const plain = hex(MAGIC, '02000000', '61620000');
const inParts = hex(
  ...[MAGIC, '04000020', '61626364'],
  ...[MAGIC, '04000040', '65666768'],
  ...[MAGIC, '01000060', '69000000'],
);
const data = [
  Buffer.from('ab'),
  Buffer.concat([
    Buffer.from('abcd'),
    hex(MAGIC),
    Buffer.from('efgh'),
    hex(MAGIC),
    Buffer.from('i'),
  ]),
];
const file = Buffer.concat([plain, inParts]);

test('reads records of one part and of several', () => {
  expect([...readRecordIo(file)].map((record) => Buffer.from(record))).toEqual(data);
});

test('writes the same bytes', () => {
  expect(Buffer.concat(data.flatMap(encodeRecordIo))).toEqual(file);
});

test.each([
  Buffer.alloc(0),
  hex(MAGIC),
  hex(MAGIC, MAGIC),
  hex('00', MAGIC),
  hex('00000000', MAGIC),
  Buffer.alloc(100_001, 1),
])('record %# comes back', (record) => {
  const written = Buffer.concat(encodeRecordIo(record));
  expect(written.byteLength % 4).toBe(0);
  expect([...readRecordIo(written)].map((found) => Buffer.from(found))).toEqual([record]);
});

test.each([1, 3, 16, 1000])('a stream in chunks of %d bytes', async (size) => {
  async function* chunks() {
    for (let at = 0; at < file.byteLength; at += size) yield file.subarray(at, at + size);
  }
  const read: Buffer[] = [];
  for await (const record of streamRecordIo(chunks(), { maxRecordBytes: 100 })) {
    read.push(Buffer.from(record));
  }
  expect(read).toEqual(data);
});

test.each<[string, Buffer, string]>([
  [
    'no magic',
    hex('00000000', '00000000'),
    'record 0 at byte 0: it starts with 0x0, not the magic',
  ],
  [
    'a middle part alone',
    hex(MAGIC, '00000040'),
    'record 0 at byte 0: flag 2 at the start of a record',
  ],
  [
    'a whole record within one',
    Buffer.concat([plain, inParts.subarray(0, 12), plain]),
    'record 1 at byte 12: flag 0 within a record',
  ],
  ['the last part missing', file.subarray(0, 36), 'record 1 at byte 12: the data ends within it'],
  ['an unknown flag', hex(MAGIC, '00000080'), 'flag 4'],
])('%s', (_, bytes, message) => {
  expect(() => [...readRecordIo(bytes)]).toThrow(
    expect.objectContaining({ code: 'MALFORMED', message: expect.stringContaining(message) }),
  );
});

describe('a record of many tiny parts', () => {
  const PARTS = 2000;
  const record = Buffer.concat(Array.from({ length: PARTS - 1 }, () => hex(MAGIC)));
  const written = Buffer.concat(encodeRecordIo(record));

  async function readInChunks(size: number): Promise<Uint8Array[]> {
    async function* chunks() {
      for (let at = 0; at < written.byteLength; at += size) yield written.subarray(at, at + size);
    }
    const read: Uint8Array[] = [];
    for await (const found of streamRecordIo(chunks(), { maxRecordBytes: 1e6 })) read.push(found);
    return read;
  }

  afterEach(() => jest.restoreAllMocks());

  test.each([1, 8, 13, 4096])(
    'costs a stream in chunks of %d bytes work in proportion',
    async (size) => {
      let copied = 0;
      const bytes = Object.getPrototypeOf(Uint8Array.prototype) as Uint8Array;
      const { set } = bytes;
      jest.spyOn(bytes, 'set').mockImplementation(function (this: Uint8Array, from, at) {
        copied += from.length;
        set.call(this, from, at);
      });
      const headers = jest.spyOn(DataView.prototype, 'getUint32');
      const read = await readInChunks(size);
      expect(copied).toBeLessThan(6 * written.byteLength);
      expect(headers.mock.calls.length).toBeLessThan(6 * PARTS);
      jest.restoreAllMocks();
      expect(read.map((found) => Buffer.from(found))).toEqual([record]);
    },
  );

  test('has the parts that are allowed, and no more', () => {
    expect([...readRecordIo(written, { maxParts: PARTS })]).toHaveLength(1);
    expect(() => [...readRecordIo(written, { maxParts: PARTS - 1 })]).toThrow(
      expect.objectContaining({
        code: 'TOO_LARGE',
        message: `RecordIO record 0 at byte 0: it has more than ${PARTS - 1} parts`,
      }),
    );
  });
});
