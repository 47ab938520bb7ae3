import { goldenBytes } from '../fixtures/read.ts';
import { crc32c } from './crc32c.ts';
import { encodeTfRecord, readTfRecords, streamTfRecords } from './tfrecord.ts';

const file = goldenBytes('records.tfrecord');
const records = ['', 'abc', 'x'.repeat(1000)];

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<string[]> {
  const texts: string[] = [];
  for await (const record of stream) texts.push(Buffer.from(record).toString());
  return texts;
}

test('CRC-32C of the known check value, at every length', () => {
  expect(crc32c(Buffer.from('123456789'))).toBe(0xe3069283);
  expect(crc32c(Buffer.from(''))).toBe(0);
  expect(crc32c(Buffer.from('a'))).toBe(0xc1d04330);
});

test('reads what TensorFlow writes, as views', () => {
  const read = [...readTfRecords(file)];
  expect(read.map((record) => Buffer.from(record).toString())).toEqual(records);
  expect(read[1]?.buffer).toBe(file.buffer);
});

test('writes the same bytes as TensorFlow', () => {
  const written = records.flatMap((record) => encodeTfRecord(Buffer.from(record)));
  expect(Buffer.concat(written).equals(file)).toBe(true);
});

test.each([1, 5, 100, 10_000])('a stream in chunks of %d bytes', async (size) => {
  expect(await collect(streamTfRecords(inChunks(file, size), { maxRecordBytes: 2000 }))).toEqual(
    records,
  );
});

test('a stream gives a record before the next has arrived', async () => {
  let sent = 0;
  async function* source() {
    for (const record of records) {
      sent++;
      yield Buffer.concat(encodeTfRecord(Buffer.from(record)));
    }
  }
  const stream = streamTfRecords(source(), { maxRecordBytes: 2000 });
  await stream.next();
  expect(sent).toBe(1);
});

describe('refused, naming the record and its byte', () => {
  test.each([
    [16 + 12, 'TFRecord record 1 at byte 16: its data does not fit its checksum'],
    [
      16,
      'TFRecord record 1 at byte 16: its length does not fit its checksum (not a TFRecord file, or a compressed one?)',
    ],
  ])('a flipped byte at %d', (at, message) => {
    const broken = Uint8Array.from(file);
    broken[at] = 0x55;
    expect(() => [...readTfRecords(broken)]).toThrow(
      expect.objectContaining({ code: 'MALFORMED', message }),
    );
  });

  test('a truncated file, whole and as a stream', async () => {
    const message = 'TFRecord record 2 at byte 35: the data ends within it';
    expect(() => [...readTfRecords(file.subarray(0, 500))]).toThrow(message);
    const stream = streamTfRecords(inChunks(file.subarray(0, 500), 7), { maxRecordBytes: 2000 });
    await expect(collect(stream)).rejects.toThrow(message);
  });

  test('a record beyond the limit, before its data is gathered', async () => {
    let sent = 0;
    async function* source() {
      for await (const chunk of inChunks(file, 50)) {
        sent += chunk.byteLength;
        yield chunk;
      }
    }
    await expect(collect(streamTfRecords(source(), { maxRecordBytes: 999 }))).rejects.toThrow(
      expect.objectContaining({
        code: 'TOO_LARGE',
        message: 'TFRecord record 2 at byte 35: it has 1016 bytes, the limit is 999',
      }),
    );
    expect(sent).toBe(50);
  });
});
