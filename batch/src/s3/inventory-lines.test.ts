/** Data files that are cut, or unpack to far more than S3 writes in a line. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip, gzipSync } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { type S3StandIn, startS3 } from '../../../test/stacks/s3-stand-in.ts';
import { inventoryRows } from './inventory.ts';

/** Megabytes of a line. */
const LINE = 200;

let stand: S3StandIn;
let s3: S3Client;
beforeAll(async () => {
  stand = await startS3(1_000);
  s3 = new S3Client({
    endpoint: stand.url,
    region: 'eu-central-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
});
afterAll(async () => {
  s3.destroy();
  await stand.close();
});

const INVENTORY = { text: '', bucket: 'data', files: [], columns: ['Bucket', 'Key'] };

test.each([
  ['NUL', '\0'],
  ['commas', ','],
  ['quotation marks', '"'],
])('a line of %s without an end is refused before it is unpacked', async (_, character) => {
  const chunk = Buffer.alloc(1024 ** 2, character);
  const lines = Readable.from(Array.from({ length: LINE }, () => chunk));
  stand.objects.set('data/list/0.csv.gz', await buffer(lines.pipe(createGzip())));
  const rows = inventoryRows(s3, INVENTORY, { key: 'list/0.csv.gz' });
  const started = performance.now();
  await expect(readAll(rows)).rejects.toMatchObject({
    code: 'INVENTORY_INVALID',
    message: expect.stringContaining('has a line of more than 1048576 characters'),
  });
  expect(performance.now() - started).toBeLessThan(10_000);
});

const ROWS = Array.from({ length: 5_000 }, (_, at) => `"b","in/${at * 7919}.jpg"\n`).join('');
const WHOLE = gzipSync(ROWS);

test.each([
  ['in its head', 5, {}],
  ['in its middle', WHOLE.length >> 1, {}],
  ['before its checksum', WHOLE.length - 8, {}],
  ['and the manifest knows its size', WHOLE.length - 100, { size: WHOLE.length }],
])('a gzip file that is cut %s is refused behind its last row', async (_, bytes, file) => {
  stand.objects.set('data/list/1.csv.gz', WHOLE.subarray(0, bytes));
  const rows = inventoryRows(s3, INVENTORY, { key: 'list/1.csv.gz', ...file });
  await expect(readAll(rows)).rejects.toMatchObject({
    code: 'INVENTORY_INVALID',
    message: expect.stringMatching(
      /s3:\/\/data\/list\/1\.csv\.gz .*\. Name an inventory as S3 has written it\.$/,
    ),
  });
});

async function readAll(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows);
}
