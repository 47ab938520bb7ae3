/** An inventory whose keys alone are larger than the heap, in no order: each range in order, with few calls. */
import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { S3Client } from '@aws-sdk/client-s3';
import { type S3StandIn, startS3 } from '../../../test/stacks/s3-stand-in.ts';
import { openInputs } from './worker-inputs.ts';

const KEYS = 600_000;
const FILES = 5;
const RANGES = 20;
/** Megabytes; the keys take more than 80 as strings. */
const HEAP = 100;

let s3: S3StandIn;
beforeAll(async () => {
  s3 = await startS3(1_000);
});
afterAll(() => s3.close());

const FOLDER = `a rather long folder name/${'x'.repeat(80)}/`;
const keyOf = (number: number) => `input/${FOLDER}${String(number).padStart(9, '0')}.jpg`;
/** In no order: 7,919 and the number of keys have no common factor. */
const keyAt = (at: number) => keyOf((at * 7_919) % KEYS);
const rowOf = (key: string) =>
  `"data","${encodeURIComponent(key).replaceAll('%20', '+').replaceAll('%2F', '/')}","100"\n`;

async function putInventory(): Promise<void> {
  const files: { key: string }[] = [];
  for (let file = 0; file < FILES; file++) {
    const rows = function* () {
      for (let from = file; from < KEYS; from += FILES * 1_000) {
        let text = '';
        const end = Math.min(KEYS, from + FILES * 1_000);
        for (let at = from; at < end; at += FILES) text += rowOf(keyAt(at));
        yield text;
      }
      // The first key again in every file, and what is no input.
      yield [keyAt(0), 'input/other.txt', 'elsewhere/a.jpg', 'input/folder.jpg/']
        .map(rowOf)
        .join('');
    };
    const key = `list/${file}.csv.gz`;
    s3.objects.set(`data/${key}`, await buffer(Readable.from(rows()).pipe(createGzip())));
    files.push({ key });
  }
  const manifest = { sourceBucket: 'data', fileFormat: 'CSV', fileSchema: 'Bucket, Key, Size' };
  s3.objects.set('data/list/manifest.json', Buffer.from(JSON.stringify({ ...manifest, files })));
}

const PROGRAM = `
  const { S3Client, PutObjectCommand } = require('@aws-sdk/client-s3');
  const { openInputs } = require('./worker-inputs.ts');
  const s3 = new S3Client({ forcePathStyle: true });
  const [places, cuts] = JSON.parse(process.argv[1]);
  async function main() {
    const inputs = await openInputs(s3, places);
    const write = (key, Body) => s3.send(new PutObjectCommand({ Bucket: 'out', Key: 'o/' + key, Body }));
    const stopping = new AbortController().signal;
    await inputs.prepare(cuts, { write, begin: 0.5, stopping });
    let [count, last, wrong] = [0, '', 0];
    const ranges = [...cuts, undefined];
    for (const [at, upTo] of ranges.entries()) {
      for await (const { key, size } of inputs.objects(ranges[at - 1], upTo)) {
        if (upTo !== undefined && key > upTo) break;
        if (key <= last || size !== 100) wrong++;
        last = key;
        count++;
      }
    }
    console.log(JSON.stringify({ count, wrong }));
  }
  main();
`;

test(`${KEYS.toLocaleString('en-US')} keys in no order, in ${RANGES} ranges, with a heap of ${HEAP} MB`, async () => {
  await putInventory();
  const cuts = Array.from({ length: RANGES - 1 }, (_, at) => keyOf(((at + 1) * KEYS) / RANGES));
  const places = {
    inputUri: 's3://data/input/',
    outputUri: 's3://out/o/',
    inventoryUri: 's3://data/list/manifest.json',
    keySuffix: '.jpg',
  };
  const env = {
    ...process.env,
    AWS_ENDPOINT_URL_S3: s3.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
    NODE_OPTIONS: '',
  };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...[`--max-old-space-size=${HEAP}`, '--require', 'tsx/cjs'],
      ...['--eval', PROGRAM, JSON.stringify([places, cuts])],
    ],
    { cwd: __dirname, env },
  );
  expect(JSON.parse(stdout)).toEqual({ count: KEYS, wrong: 0 });
  const written = [...s3.objects.keys()].filter((path) => path.startsWith('out/'));
  const runs = written.filter((path) => path.endsWith('.gz'));
  // A run of each file when 16 M characters of keys are full: few objects for all keys.
  expect(runs.length).toBeLessThanOrEqual(FILES * 2);
  expect(written.length - runs.length).toBe(FILES);
  // A process that ends early leaves files; none of those before its end is read again.
  const client = new S3Client({
    ...{ endpoint: s3.url, forcePathStyle: true, region: 'us-east-1' },
    credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
  });
  s3.objects.delete(written.find((path) => path.endsWith('00003.json')) as string);
  const again: string[] = [];
  const inputs = await openInputs(client, { ...places, cuts });
  await expect(inputs.objects(undefined)[Symbol.asyncIterator]().next()).rejects.toThrow(
    /not read the inventory to its end/,
  );
  const write = async (key: string) => {
    again.push(key);
  };
  const stopping = new AbortController();
  await inputs.prepare?.(cuts, { write, begin: 0, stopping: stopping.signal });
  expect(again.every((key) => key.includes('/00003'))).toBe(true);
  expect(again.length).toBeGreaterThan(1);
  // Also within a file, which may be gigabytes.
  const before = again.length;
  s3.fail = (method, path) => {
    if (method === 'GET' && path.endsWith('3.csv.gz')) stopping.abort();
    return undefined;
  };
  expect(await inputs.prepare?.(cuts, { write, begin: 0, stopping: stopping.signal })).toBe(false);
  expect(again.length).toBe(before);
  client.destroy();
});
