/** Which of many keys have an object: by listing where they lie close together, one by one where they do not. */

import type { S3Client } from '@aws-sdk/client-s3';
import { compareKeys } from '../key-order.ts';
import type { S3Location } from '../s3-uri.ts';
import { listPage, type S3Object } from './listing.ts';
import { findObject } from './objects.ts';

/** Keys that a listing of one page (1,000 objects) must settle, to be worth more than looks at single keys. */
const WORTH_A_PAGE = 50;
/** Keys that are looked at singly before another page is tried, and how many at once. */
const SINGLY = 1_000;
const AT_ONCE = 64;

/**
 * The objects of these keys. Takes at most one listing for each key, however many objects lie between them, and at
 * most one for each 1,000 objects between them and each 1,000 keys.
 * @param below prefix of all keys, which the result's keys lack
 */
export async function findObjects(
  s3: S3Client,
  below: S3Location,
  keys: readonly string[],
): Promise<Map<string, S3Object>> {
  const sorted = [...keys].sort(compareKeys);
  const found = new Map<string, S3Object>();
  const add = (object: S3Object) => found.set(object.key.slice(below.key.length), object);
  const wanted = new Set(sorted);
  for (let at = 0; at < sorted.length; ) {
    const first = sorted[at] as string;
    const { objects, token } = await listPage(s3, below, { startAfter: before(below.key + first) });
    for (const object of objects) {
      if (wanted.has(object.key.slice(below.key.length))) add(object);
    }
    const last = objects.at(-1)?.key.slice(below.key.length);
    const from = at;
    // Without a token the listing has reached the end: what it did not tell is not there.
    if (token === undefined || last === undefined) break;
    while (at < sorted.length && compareKeys(sorted[at] as string, last) <= 0) at++;
    if (at - from >= WORTH_A_PAGE || at === sorted.length) continue;
    for (const end = Math.min(at + SINGLY, sorted.length); at < end; ) {
      const some = sorted.slice(at, Math.min(at + AT_ONCE, end));
      at += some.length;
      await Promise.all(
        some.map(async (key) => {
          const object = await findObject(s3, { ...below, key: below.key + key });
          if (object) add(object);
        }),
      );
    }
  }
  return found;
}

/** A text that sorts before a key, and of all those that sort between them, few are keys. */
function before(key: string): string {
  const last = Array.from(key.slice(-2)).at(-1) ?? '';
  return key.slice(0, key.length - last.length);
}
