import { appended } from './appended.ts';

const all = Uint8Array.from({ length: 300_000 }, (_, at) => at % 251);

/** The array that all came into, a chunk at a time. */
function gather(size: number, expected: number): Uint8Array {
  let array: Uint8Array = new Uint8Array();
  for (let at = 0; at < all.length; at += size) {
    array = appended(array, at, all.slice(at, at + size), expected);
  }
  return array;
}

test.each([1, 1_000, 70_000, 300_000])('chunks of %d bytes are held once', (size) => {
  for (const expected of [0, 7, all.length, 2 * all.length]) {
    const array = gather(size, expected);
    expect(Buffer.compare(array.subarray(0, all.length), all)).toBe(0);
    expect(array.buffer.byteLength).toBeLessThanOrEqual(2 * all.length);
  }
});

test('of a known length, one array takes all of them', () => {
  const first = appended(all.slice(0, 1), 1, all.slice(1, 2), all.length);
  expect(first).toHaveLength(all.length);
  expect(appended(first, 2, all.slice(2), all.length)).toBe(first);
});
