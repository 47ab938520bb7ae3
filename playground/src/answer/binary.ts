/** Bytes that are no text: what they are, for people. */

/** Bytes of a kind that has a name. */
export interface Binary {
  /** `PNG`, or `binary`. */
  readonly kind: string;
  readonly mediaType: string;
}

/** How files of pictures that browsers show begin, and how their first twelve bytes end. */
const PICTURES: readonly (readonly [kind: string, begins: string, ends?: string])[] = [
  ['PNG', '\x89PNG\r\n\x1a\n'],
  ['JPEG', '\xff\xd8\xff'],
  ['GIF', 'GIF8'],
  ['WebP', 'RIFF', 'WEBP'],
];
/** Bytes of a long text that are looked at. */
const LOOKED_AT = 4096;

/** Undefined for text in UTF-8. */
export function binaryOf(bytes: Uint8Array): Binary | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  const [kind] =
    PICTURES.find(([, begins, ends = '']) => start.startsWith(begins) && start.endsWith(ends)) ??
    [];
  if (kind) return { kind, mediaType: `image/${kind.toLowerCase()}` };
  return isText(bytes) ? undefined : { kind: 'binary', mediaType: 'application/octet-stream' };
}

function isText(bytes: Uint8Array): boolean {
  try {
    const decoder = new TextDecoder('utf-8', { fatal: true });
    // A character that is cut is none that is wrong.
    const stream = bytes.length > LOOKED_AT;
    return !decoder.decode(bytes.subarray(0, LOOKED_AT), { stream }).includes('\0');
  } catch {
    return false;
  }
}

/** `435 B`, `1.2 kB`. */
export function sizeText(count: number): string {
  if (count < 1000) return `${count} B`;
  return count < 1e6 ? `${(count / 1000).toFixed(1)} kB` : `${(count / 1e6).toFixed(1)} MB`;
}

/** A text as it is; of other bytes kind and size. @param quoted makes the text one that ends visibly */
export function elementText(bytes: Uint8Array, quoted: (text: string) => string): string {
  const binary = binaryOf(bytes);
  if (binary) return `${binary.kind}, ${sizeText(bytes.length)}`;
  return quoted(new TextDecoder().decode(bytes));
}
