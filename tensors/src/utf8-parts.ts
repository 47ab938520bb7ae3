/** UTF-8 in parts that are UTF-8 too. */

/**
 * The bytes in parts of at most `size`, cut between the code points of UTF-8: the whole is UTF-8 where every part is.
 * @param size at least 4
 */
export function* utf8Parts(bytes: Uint8Array, size: number): Generator<Uint8Array, void> {
  for (let at = 0; at < bytes.byteLength; ) {
    let end = Math.min(at + size, bytes.byteLength);
    for (let back = 0; back < 3 && end < bytes.byteLength && isInside(bytes[end]); back++) end--;
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** Whether the byte continues a code point. */
function isInside(byte: number | undefined): boolean {
  return ((byte as number) & 0xc0) === 0x80;
}
