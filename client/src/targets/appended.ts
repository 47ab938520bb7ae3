/** Bytes that come in chunks, held once: joining them at the end would hold them twice. */

/**
 * An array that begins with the first `length` bytes of `array` and a chunk. It is the same array while there is room, and then
 * one with as much room again, which is no memory before it is written to.
 * @param expected bytes of all chunks, as far as known; more may come
 */
export function appended(
  array: Uint8Array,
  length: number,
  chunk: Uint8Array,
  expected: number,
): Uint8Array {
  if (length === 0) return chunk;
  const needed = length + chunk.length;
  let whole = array;
  if (needed > array.length) {
    whole = new Uint8Array(Math.max(expected, 2 * needed));
    whole.set(array);
  }
  whole.set(chunk, length);
  return whole;
}
