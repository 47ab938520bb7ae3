/** The Huffman code of HTTP/2 headers (RFC 7541, appendix B). */

/**
 * Bits of the code of every byte and of the end of the string, in base 36. The code is canonical: codes of the
 * same length are consecutive numbers in the order of the bytes, so the lengths are all there is to know.
 */
const LENGTHS =
  'dnsssssssoussussssssssusssssssss6aacd68baa8b8666555666666678f6cad677777777777777777777' +
  '77878djde6f56565666577666567655677777fbedskmkkmmmnmnnnnnonoomnonnnnlmnmnnomlkmmnnlnmmo' +
  'lmnnllmlnmnnkmmmnmmnqqkjmnmpqqqrrqopjlqrrqrollqqsrrrkoklmllnmmppooqnqrqqrrrrrsrrrrrqu';
const END = 256;
/** The longest padding, and more of it is an error. */
const MAX_PADDING_BITS = 7;

/** What codes of one length mean, from the first of them on. */
interface Row {
  readonly first: number;
  readonly symbols: readonly number[];
}

let rows: readonly Row[] | undefined;

function rowsByLength(): readonly Row[] {
  const table: Row[] = [];
  let first = 0;
  for (let length = 0; length <= 30; length++) {
    const symbols = [...LENGTHS].flatMap((digit, symbol) =>
      Number.parseInt(digit, 36) === length ? [symbol] : [],
    );
    table.push({ first, symbols });
    first = (first + symbols.length) * 2;
  }
  return table;
}

/** The bytes behind a Huffman-coded string. @throws RangeError if it is not one */
export function decodeHuffman(coded: Uint8Array): Buffer {
  rows ??= rowsByLength();
  const bytes: number[] = [];
  let code = 0;
  let length = 0;
  for (let bit = 0; bit < coded.length * 8; bit++) {
    code = code * 2 + (((coded[bit >> 3] as number) >> (7 - (bit & 7))) & 1);
    length += 1;
    const { first, symbols } = rows[length] ?? { first: 0, symbols: [] };
    const symbol = symbols[code - first];
    if (symbol === END || length > 30) throw new RangeError('not a Huffman code of HTTP/2');
    if (symbol === undefined) continue;
    bytes.push(symbol);
    code = 0;
    length = 0;
  }
  if (length > MAX_PADDING_BITS || code !== 2 ** length - 1) {
    throw new RangeError('a Huffman-coded header that ends amid a code');
  }
  return Buffer.from(bytes);
}
