/**
 * Reads what a decoder must know of a JPEG before it starts: size, components, orientation (ITU-T T.81
 * Annex B; EXIF 2.32 section 4.5). The decoder's own header call is not offered by its Node binding.
 */

/** What the header says. */
export interface JpegHeader {
  /** Pixels as stored, before `orientation` is applied. */
  readonly width: number;
  readonly height: number;
  /** 1 gray, 3 color, 4 CMYK. */
  readonly components: number;
  /** Bits of a sample: 8 for all but medical and scientific JPEGs. */
  readonly precision: number;
  /** Sent in several scans (progressive, or a scan for each component). Each scan costs a pass over all blocks. */
  readonly severalScans: boolean;
  /** EXIF orientation, 1 to 8; 1 if there is none. */
  readonly orientation: number;
  /** Has Adobe's marker (APP14): the inks of four components are stored inverted. */
  readonly isAdobe: boolean;
}

const SOI = 0xd8;
const SOS = 0xda;
const APP1 = 0xe1;
const APP14 = 0xee;
/** Start-of-frame markers; C4, C8 and CC are tables. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
const PROGRESSIVE_FRAMES = new Set([0xc2, 0xc6, 0xca, 0xce]);
/** Tables (DHT, DAC, DQT), restart interval, APP0-APP15 and comments: a length and as many bytes, to all readers. */
const isSkipped = (marker: number): boolean =>
  marker === 0xc4 ||
  marker === 0xcc ||
  marker === 0xdb ||
  marker === 0xdd ||
  (marker >= 0xe0 && marker <= 0xef) ||
  marker === 0xfe;

/**
 * The header of a JPEG that is written as all are: one frame header, then the first scan, before them nothing but
 * segments that have a length. All readers agree on such a file, so what is said here is what the decoder finds.
 * @returns undefined for anything else (markers without a length, unknown ones, bytes between segments, a second
 *   frame, an end before the first scan), which is damaged or made to be read in two ways
 */
export function readJpegHeader(bytes: Uint8Array): JpegHeader | undefined {
  if (bytes[0] !== 0xff || bytes[1] !== SOI) return undefined;
  let orientation = 1;
  let isAdobe = false;
  let found: Frame | undefined;
  let at = 2;
  while (at + 4 <= bytes.length) {
    if (bytes[at] !== 0xff) return undefined;
    const marker = bytes[at + 1] as number;
    // A run of FF bytes may fill the space before a marker.
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    const end = at + 2 + uint16(bytes, at + 2);
    if (end < at + 4 || end > bytes.length) return undefined;
    at += 4;
    if (marker === SOS) {
      const scanned = at < end ? (bytes[at] as number) : 0;
      return found && headerOf(found, scanned, { orientation, isAdobe });
    }
    if (isFrame(marker)) {
      if (found) return undefined;
      found = frameOf(bytes, at, end, marker);
      if (!found) return undefined;
    } else if (!isSkipped(marker)) return undefined;
    if (marker === APP14 && isAdobeSegment(bytes.subarray(at, end))) isAdobe = true;
    if (marker === APP1) orientation = exifOrientation(bytes.subarray(at, end)) ?? orientation;
    at = end;
  }
  return undefined;
}

/** As libjpeg knows it: the name, and the version, flags and transform behind it. */
function isAdobeSegment(segment: Uint8Array): boolean {
  return segment.length >= 12 && Buffer.from(segment.subarray(0, 5)).toString('latin1') === 'Adobe';
}

type Told = Pick<JpegHeader, 'orientation' | 'isAdobe'>;
type Frame = Omit<JpegHeader, 'severalScans' | keyof Told> & { readonly progressive: boolean };

/** The frame header in the segment from `at` to `end`. */
function frameOf(bytes: Uint8Array, at: number, end: number, marker: number): Frame | undefined {
  if (end - at < 6) return undefined;
  const height = uint16(bytes, at + 1);
  const width = uint16(bytes, at + 3);
  const components = bytes[at + 5] as number;
  if (width === 0 || height === 0 || end - at !== 6 + 3 * components) return undefined;
  const progressive = PROGRESSIVE_FRAMES.has(marker);
  return { width, height, components, precision: bytes[at] as number, progressive };
}

/** @param scanned components of the first scan */
function headerOf(frame: Frame, scanned: number, { orientation, isAdobe }: Told): JpegHeader {
  const { width, height, components, precision, progressive } = frame;
  const severalScans = progressive || scanned < components;
  return { width, height, components, precision, severalScans, orientation, isAdobe };
}

function uint16(bytes: Uint8Array, at: number): number {
  return ((bytes[at] as number) << 8) | (bytes[at + 1] as number);
}

const ORIENTATION_TAG = 0x0112;
const TIFF_HEADER_BYTES = 8;
const ENTRY_BYTES = 12;

/** The orientation in an APP1 segment, or undefined if it is not EXIF or has none. */
function exifOrientation(segment: Uint8Array): number | undefined {
  const isExif = Buffer.from(segment.subarray(0, 6)).toString('latin1') === 'Exif\0\0';
  const tiff = segment.subarray(6);
  if (!isExif || tiff.length < TIFF_HEADER_BYTES) return undefined;
  const view = new DataView(tiff.buffer, tiff.byteOffset, tiff.byteLength);
  const little = view.getUint16(0) === 0x4949;
  const directory = view.getUint32(4, little);
  if (directory + 2 > tiff.length) return undefined;
  const entries = view.getUint16(directory, little);
  for (let index = 0; index < entries; index++) {
    const entry = directory + 2 + index * ENTRY_BYTES;
    if (entry + ENTRY_BYTES > tiff.length) return undefined;
    if (view.getUint16(entry, little) !== ORIENTATION_TAG) continue;
    const value = view.getUint16(entry + 8, little);
    return value >= 1 && value <= 8 ? value : undefined;
  }
  return undefined;
}

/** The number of scans of a JPEG; FF DA cannot occur inside the coded data itself. */
export function countScans(bytes: Uint8Array): number {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const marker = Buffer.from([0xff, SOS]);
  let count = 0;
  for (let at = buffer.indexOf(marker); at >= 0; at = buffer.indexOf(marker, at + 2)) count += 1;
  return count;
}
