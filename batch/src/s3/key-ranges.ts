/** Cuts the keys below a prefix into ranges that are listed at the same time. */
import type { S3Client } from '@aws-sdk/client-s3';
import type { S3Location } from '../s3-uri.ts';
import { listPage, type S3Object } from './listing.ts';

/** Keys that belong together with their outputs. */
export interface KeyRange {
  /** Keys that start so. */
  readonly prefix: string;
  /** The object before them whose output (`<key>.out`) starts so too. */
  readonly first?: S3Object;
}

/** Sorts after every key that begins like it. */
export const LAST = '\u{10FFFF}';
/** Looks at S3 that finding the ranges may take. */
const MAX_LOOKS = 300;

/**
 * Ranges that together hold every key below a prefix once, in no order. Names mostly have a long start in
 * common, so the keys themselves are asked for the characters at which they part.
 * @param wanted number of ranges after which no more are made
 */
export async function keyRanges(
  s3: S3Client,
  { bucket, key: prefix }: S3Location,
  wanted: number,
): Promise<KeyRange[]> {
  const { token } = await listPage(s3, { bucket, key: prefix });
  if (token === undefined) return [{ prefix }];
  let looks = 0;
  const firstAfter = async (below: string, startAfter?: string) => {
    looks++;
    const { objects } = await listPage(s3, { bucket, key: below }, { maxKeys: 1, startAfter });
    return objects[0];
  };
  const ranges: KeyRange[] = [];
  const open: string[] = [prefix];
  while (open.length > 0 && open.length + ranges.length < wanted && looks < MAX_LOOKS) {
    const below = open.shift() as string;
    let next = await firstAfter(below);
    const own = next?.key === below ? next : undefined;
    if (own !== undefined) {
      // This key and the range with its output stay together.
      ranges.push({ prefix: `${below}.`, first: own });
      next = await firstAfter(below, below);
    }
    while (next !== undefined) {
      const child = below + String.fromCodePoint(next.key.codePointAt(below.length) as number);
      if (own === undefined || child !== `${below}.`) open.push(child);
      next = await firstAfter(below, child + LAST);
    }
  }
  return [...ranges, ...open.map((below) => ({ prefix: below }))];
}
