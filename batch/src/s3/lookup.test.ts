/** Looking for keys among many more objects: requests are counted, on an S3 whose listing is generated. */
import type { ListObjectsV2CommandInput, S3Client } from '@aws-sdk/client-s3';
import { findObjects } from './lookup.ts';

const PAGE = 1_000;
const keyAt = (at: number) => `out/${String(at).padStart(9, '0')}.jpg.out`;

/** An S3 with the objects `keyAt(0)` to `keyAt(count - 1)`, those that `lacks` tells apart. */
function generated(count: number, lacks: (at: number) => boolean = () => false) {
  const calls = { list: 0 };
  const send = async ({ input }: { input: ListObjectsV2CommandInput }) => {
    calls.list++;
    const { Prefix = '', StartAfter = '', MaxKeys = PAGE } = input;
    // The first number whose key is not before both.
    let [low, high] = [0, count];
    while (low < high) {
      const middle = (low + high) >> 1;
      const key = keyAt(middle);
      if (key <= StartAfter || key < Prefix) low = middle + 1;
      else high = middle;
    }
    const Contents = [];
    let at = low;
    for (; at < count && Contents.length < MaxKeys && keyAt(at).startsWith(Prefix); at++) {
      if (!lacks(at)) Contents.push({ Key: keyAt(at), Size: at, LastModified: new Date(0) });
    }
    const more = at < count && keyAt(at).startsWith(Prefix);
    return { Contents, ...(more && { NextContinuationToken: 'more' }) };
  };
  return { s3: { send } as unknown as S3Client, calls };
}

const below = { bucket: 'b', key: 'out/' };
const names = (numbers: Iterable<number>) =>
  [...numbers].map((at) => keyAt(at).slice(below.key.length));

test.each<[string, number[], number]>([
  ['two that are far apart', [5, 9_999_990], 3],
  ['one that is not there', [10_000_001], 2],
  ['a thousand that are scattered', Array.from({ length: 1_000 }, (_, i) => i * 9_999), 1_003],
  ['ten thousand in a row', Array.from({ length: 10_000 }, (_, i) => 4_000_000 + i), 12],
  [
    'a row and a few far behind it',
    [...Array.from({ length: 5_000 }, (_, i) => i), 5_000_000, 9_000_000],
    10,
  ],
])('among 10 million objects: %s', async (_, numbers, mostLists) => {
  const { s3, calls } = generated(10_000_000);
  const found = await findObjects(s3, below, names(numbers));
  const there = numbers.filter((at) => at < 10_000_000);
  expect([...found.keys()].sort()).toEqual(names(there).sort());
  for (const at of there) expect(found.get(names([at])[0] as string)?.size).toBe(at);
  expect(calls.list).toBeLessThanOrEqual(mostLists);
});

test('keys that have no object are not found, wherever they lie', async () => {
  const { s3 } = generated(100_000, (at) => at % 3 === 0);
  const numbers = [
    ...Array(3_000).keys(),
    ...Array.from({ length: 300 }, (_, i) => 4_000 + i * 300),
  ];
  const found = await findObjects(s3, below, names(numbers));
  expect([...found.keys()].sort()).toEqual(names(numbers.filter((at) => at % 3 !== 0)).sort());
});
