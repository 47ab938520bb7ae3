/** Which parts of a bucket are listed; the listings are generated. */
import type { ListObjectsV2CommandInput, S3Client } from '@aws-sdk/client-s3';
import { listDated } from './dated-listing.ts';

const NOW = Date.UTC(2026, 10, 28, 10, 30);
const HOUR = 3_600_000;

/** An S3 with these keys, each written half an hour after the hour it names began. */
function holding(keys: readonly string[]) {
  const answered: string[] = [];
  const send = async ({ input }: { input: ListObjectsV2CommandInput }) => {
    const { Prefix = '', ContinuationToken, MaxKeys = 1000, Delimiter } = input;
    const StartAfter = ContinuationToken ?? input.StartAfter ?? '';
    const found = keys.filter((key) => key.startsWith(Prefix) && key > StartAfter).sort();
    const folderOf = (key: string) => /^[^/]*\//.exec(key.slice(Prefix.length))?.[0];
    const folders = Delimiter ? new Set(found.flatMap((key) => folderOf(key) ?? [])) : [];
    const objects = found.filter((key) => !Delimiter || folderOf(key) === undefined);
    const page = objects.slice(0, MaxKeys);
    answered.push(...page);
    return {
      CommonPrefixes: [...folders].map((one) => ({ Prefix: Prefix + one })),
      Contents: page.map((Key) => ({ Key, LastModified: modified(Key) })),
      ...(objects.length > MaxKeys && { NextContinuationToken: page.at(-1) }),
    };
  };
  return { s3: { send } as unknown as S3Client, answered };
}

function modified(key: string): Date {
  const [, year = 2026, month = 11, day = 28, hour = 10] =
    /(\d{4})\/(\d\d)\/(\d\d)\/(\d\d)\//.exec(key)?.map(Number) ?? [];
  return new Date(Date.UTC(year, month - 1, day, hour, 30));
}

const hours = (folder: string) =>
  Array.from({ length: 24 * 400 }, (_, i) => {
    const hour = new Date(NOW - i * HOUR).toISOString().slice(0, 13).replace(/[-T]/g, '/');
    return `${folder}${hour}/a.jsonl`;
  });
const all = [
  ...['c/e/now/', 'c/e/next/', 'c/e/2024/', 'c/other/v/'].flatMap(hours),
  'c/e/notes.jsonl',
];

test.each([
  'c/',
  'c/e/',
  'c/e/now/',
  'c/e/now',
  'c/e/now/2026/11/28/',
  'c/e/now/2026/10/',
  'nothing/',
])('below %s the last hours alone are listed', async (key) => {
  const { s3, answered } = holding(all);
  const since = NOW - 3 * HOUR;
  const found: string[] = [];
  for await (const object of listDated(s3, { bucket: 'b', key }, since)) found.push(object.key);
  const expected = all.filter((one) => one.startsWith(key) && +modified(one) >= since);
  expect(found.sort()).toEqual(expected.sort());
  // The hour before, too, and the first key of each folder on the way.
  expect(answered.length).toBeLessThan(30);
});

test('without a time everything is listed', async () => {
  const { s3 } = holding(all);
  let count = 0;
  for await (const _ of listDated(s3, { bucket: 'b', key: 'c/' })) count++;
  expect(count).toBe(all.length);
});
