/** What a picture says of its size before anything is decoded, for the formats that can say more than decoders bear. */
import { ServingError } from '../errors.ts';
import type { ImageFormat } from './image-format.ts';
import type { Size } from './placement.ts';
import { readTiffDirectory } from './tiff-directory.ts';

/**
 * Pixels that each side of a picture may have: what JPEG and GIF can say at most. A picture of one column and 100
 * million rows is within the limit of pixels, but decoders that go row by row take minutes for it.
 */
export const MAX_IMAGE_SIDE = 65_535;

/** @throws ServingError REQUEST_TOO_LARGE where a side is longer than {@link MAX_IMAGE_SIDE} */
export function checkSides(bytes: Uint8Array, format: ImageFormat): void {
  const size = declaredSize(bytes, format);
  if (!size || Math.max(size.width, size.height) <= MAX_IMAGE_SIDE) return;
  throw new ServingError(
    'REQUEST_TOO_LARGE',
    `the image is ${size.width} x ${size.height} pixels; neither side may be longer than ${MAX_IMAGE_SIDE}. Send it in parts.`,
  );
}

/** The size where the header can say more than {@link MAX_IMAGE_SIDE}; undefined elsewhere, and where it is cut short. */
function declaredSize(bytes: Uint8Array, format: ImageFormat): Size | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (format === 'png') return pngSize(view);
  if (format === 'webp') return webpCanvas(view);
  return format === 'tiff' ? readTiffDirectory(bytes) : undefined;
}

/** IHDR must be the first chunk: width and height lie behind the signature and the chunk's length and type. */
function pngSize(view: DataView): Size | undefined {
  if (view.byteLength < 24) return undefined;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

const VP8X = 0x56_50_38_58;

/** The canvas of an extended file: 24 bits a side, less one. The other files have 14 bits. */
function webpCanvas(view: DataView): Size | undefined {
  if (view.byteLength < 30 || view.getUint32(12) !== VP8X) return undefined;
  const width = view.getUint16(24, true) + view.getUint8(26) * 65_536 + 1;
  const height = view.getUint16(27, true) + view.getUint8(29) * 65_536 + 1;
  return { width, height };
}
