/** Counts what several listings hold. */
import { Readable } from 'node:stream';
import { LISTINGS } from './transform-places.ts';

/** What several listings have together, some of them at once. @param counts which items; default: all */
export async function count<T>(
  listings: readonly (() => AsyncIterable<T>)[],
  counts: (item: T) => boolean = () => true,
): Promise<number> {
  const countOne = async (listing: () => AsyncIterable<T>) => {
    let found = 0;
    for await (const item of listing()) if (counts(item)) found++;
    return found;
  };
  const found: number[] = await Readable.from(listings)
    .map(countOne, { concurrency: LISTINGS })
    .toArray();
  return found.reduce((sum, n) => sum + n, 0);
}
