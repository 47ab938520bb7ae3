/** Data files that unpack to far more than S3 writes in a line. */
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { createGzip } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { type S3StandIn, startS3 } from '../../../test/stacks/s3-stand-in.ts';
import { inventoryRows } from './inventory.ts';

/** Megabytes of a line. */
const LINE = 200;

let stand: S3StandIn;
beforeAll(async () => {
  stand = await startS3(1_000);
});
afterAll(() => stand.close());

test.each([
  ['NUL', '\0'],
  ['commas', ','],
  ['quotation marks', '"'],
])('a line of %s without an end is refused before it is unpacked', async (_, character) => {
  const chunk = Buffer.alloc(1024 ** 2, character);
  const lines = Readable.from(Array.from({ length: LINE }, () => chunk));
  stand.objects.set('data/list/0.csv.gz', await buffer(lines.pipe(createGzip())));
  const s3 = new S3Client({
    endpoint: stand.url,
    region: 'eu-central-1',
    forcePathStyle: true,
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  const inventory = { text: '', bucket: 'data', files: [], columns: ['Bucket', 'Key'] };
  const rows = inventoryRows(s3, inventory, { key: 'list/0.csv.gz' });
  const started = performance.now();
  await expect(readAll(rows)).rejects.toMatchObject({
    code: 'INVENTORY_INVALID',
    message: expect.stringContaining('has a line of more than 1048576 characters'),
  });
  expect(performance.now() - started).toBeLessThan(10_000);
  s3.destroy();
});

async function readAll(rows: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of rows);
}
