/** Planning in constant memory: an inventory whose keys alone are larger than the heap. */
import { execFile } from 'node:child_process';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { createGzip, gunzipSync } from 'node:zlib';
import { type S3StandIn, startS3 } from '../../../test/stacks/s3-stand-in.ts';

const KEYS = 900_000;
const FILES = 5;
const PER_SHARD = 100_000;
/** Megabytes; the keys take more than 120 as strings. */
const HEAP = 100;

let s3: S3StandIn;
beforeAll(async () => {
  s3 = await startS3(1_000);
});
afterAll(() => s3.close());

/** Long names in no order: 7,919 and the number of keys have no common factor. */
const keyAt = (at: number) => {
  const number = String((at * 7_919) % KEYS).padStart(9, '0');
  return `a rather long folder name/${'x'.repeat(80)}/${number}.jpg`;
};

async function putInventory(): Promise<void> {
  const files: { key: string }[] = [];
  for (let file = 0; file < FILES; file++) {
    const rows = function* () {
      for (let from = file; from < KEYS; from += FILES * 1_000) {
        let text = '';
        const end = Math.min(KEYS, from + FILES * 1_000);
        for (let at = from; at < end; at += FILES) {
          text += `"data","input/${encodeURIComponent(keyAt(at)).replaceAll('%20', '+')}","100"\n`;
        }
        yield text;
      }
      // The first key again in every file.
      yield `"data","input/${encodeURIComponent(keyAt(0))}","100"\n`;
    };
    const key = `list/${file}.csv.gz`;
    s3.objects.set(`data/${key}`, await buffer(Readable.from(rows()).pipe(createGzip())));
    files.push({ key });
  }
  const manifest = {
    sourceBucket: 'data',
    fileFormat: 'CSV',
    fileSchema: 'Bucket, Key, Size',
    files,
  };
  s3.objects.set('data/list/manifest.json', Buffer.from(JSON.stringify(manifest)));
}

const PROGRAM = `
  const { S3Client } = require('@aws-sdk/client-s3');
  const { planShards } = require('./plan.ts');
  const s3 = new S3Client({ forcePathStyle: true });
  planShards(s3, JSON.parse(process.argv[1]), undefined, () => false).then((result) =>
    console.log(JSON.stringify(result)),
  );
`;

test(`${KEYS.toLocaleString('en-US')} keys in no order, planned with a heap of ${HEAP} MB`, async () => {
  await putInventory();
  const settings = {
    inputUri: 's3://data/input/',
    dataType: 'S3Prefix',
    inventoryUri: 's3://data/list/manifest.json',
    keySuffix: '.jpg',
    outputUri: 's3://data/output/',
    objectsPerShard: PER_SHARD,
    runId: 'run',
  };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      ...[`--max-old-space-size=${HEAP}`, '--require', 'tsx/cjs'],
      ...['--eval', PROGRAM, JSON.stringify(settings)],
    ],
    {
      cwd: __dirname,
      env: {
        ...process.env,
        AWS_ENDPOINT_URL_S3: s3.url,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
        NODE_OPTIONS: '',
      },
    },
  );
  expect(JSON.parse(stdout)).toMatchObject({ planned: true });
  const manifests = [...s3.objects.keys()].filter((path) => path.includes('/planned/')).sort();
  // The first shard is a small one of its own.
  expect(manifests).toHaveLength(KEYS / PER_SHARD + 1);
  let next = 0;
  for (const path of manifests) {
    const [head, ...keys] = JSON.parse(String(s3.objects.get(path))) as [object, ...string[]];
    expect(head).toEqual({ prefix: 's3://data/input/' });
    // Sorted and each once: the shards together are the names in the order of their numbers.
    const wrong = keys.find((key) => !key.endsWith(`/${String(next++).padStart(9, '0')}.jpg`));
    expect(wrong).toBeUndefined();
  }
  expect(next).toBe(KEYS);
  const runs = [...s3.objects].filter(([path]) => path.includes('/inventory/'));
  expect(runs.length).toBeGreaterThan(5);
  expect(String(gunzipSync(runs[0]?.[1] as Buffer))).toContain('a rather long folder name/');
});
