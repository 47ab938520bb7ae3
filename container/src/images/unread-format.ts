/** Formats that people take for pictures and that the runtime does not read, by their first bytes. */

/** What `ftyp` of an ISO base media file may name; the rest are films. */
const BRANDS = new Map([
  ...['heic', 'heix', 'heim', 'heis', 'hevc', 'hevx', 'mif1', 'msf1'].map(
    (brand) => [brand, 'HEIC'] as const,
  ),
  ['avif', 'AVIF'],
  ['avis', 'AVIF'],
]);

/** As latin1. */
const STARTS: readonly (readonly [string, string])[] = [
  ['PDF', '%PDF-'],
  ['JPEG XL', '\xff\n'],
  ['JPEG XL', '\0\0\0\x0cJXL \r\n\x87\n'],
  ['ICO', '\0\0\x01\0'],
  ['PSD', '8BPS'],
  ['BigTIFF', 'II+\0'],
  ['BigTIFF', 'MM\0+'],
];

const SVG = /^(\xef\xbb\xbf)?\s*<([?!].*<)?svg[\s>]/is;

/** Where an SVG has its first element, behind comments and the like. */
const BEGINNING = 4096;

/** The name of the format; undefined if it is none of them. */
export function unreadFormat(bytes: Uint8Array): string | undefined {
  const text = Buffer.from(bytes.subarray(0, BEGINNING)).toString('latin1');
  if (text.slice(4, 8) === 'ftyp') return BRANDS.get(text.slice(8, 12));
  // Behind the size of a BMP are zeros, where text that begins with BM has letters.
  if (text.startsWith('BM') && text.slice(6, 10) === '\0\0\0\0') return 'BMP';
  if (SVG.test(text)) return 'SVG';
  return STARTS.find(([, start]) => text.startsWith(start))?.[0];
}
