/** What a picture says of its size before anything is decoded. */
import type { Size } from '@sagemaker-tfs/tensors/letterbox';
import type { ImageLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import type { ImageFormat } from './image-format.ts';
import { readTiffDirectory } from './tiff-directory.ts';

/** @throws ServingError REQUEST_TOO_LARGE if a side is longer than `maxImageSide` */
export function checkSides(size: Size | undefined, { maxImageSide }: ImageLimits): void {
  if (!size || Math.max(size.width, size.height) <= maxImageSide) return;
  throw new ServingError(
    'REQUEST_TOO_LARGE',
    `the image is ${size.width} x ${size.height} pixels. Neither side may be longer than ${maxImageSide} (SAGEMAKER_TFS_MAX_IMAGE_SIDE). Send it in parts.`,
  );
}

/** The error for more pixels than `maxImagePixels`. */
export function tooManyPixels(
  { width, height }: Size,
  { maxImagePixels, pixelSetting = 'SAGEMAKER_TFS_MAX_IMAGE_PIXELS' }: ImageLimits,
): ServingError {
  return new ServingError(
    'REQUEST_TOO_LARGE',
    `the image is ${width} x ${height} = ${width * height} pixels. At most ${maxImagePixels} are decoded (${pixelSetting}). Send a smaller one, or raise that limit.`,
  );
}

/** What the header says; undefined if it is cut short, and for JPEGs, which `readJpegHeader` reads. */
export function declaredSize(bytes: Uint8Array, format: ImageFormat): Size | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (format === 'png') return pngSize(view);
  if (format === 'webp') return webpSize(view);
  if (format === 'gif') return gifScreen(view);
  return format === 'tiff' ? readTiffDirectory(bytes) : undefined;
}

/** The screen, which the first frame is drawn on. */
function gifScreen(view: DataView): Size | undefined {
  if (view.byteLength < 10) return undefined;
  return { width: view.getUint16(6, true), height: view.getUint16(8, true) };
}

/** IHDR must be the first chunk: width and height lie behind the signature and the chunk's length and type. */
function pngSize(view: DataView): Size | undefined {
  if (view.byteLength < 24) return undefined;
  return { width: view.getUint32(16), height: view.getUint32(20) };
}

const VP8X = 0x56_50_38_58;
const VP8L = 0x56_50_38_4c;
const FOURTEEN_BITS = 0x3fff;

/** By the first chunk: a lossy frame, a lossless one, or the canvas of an extended file. */
function webpSize(view: DataView): Size | undefined {
  if (view.byteLength < 30) return undefined;
  const chunk = view.getUint32(12);
  if (chunk === VP8X) return webpCanvas(view);
  if (chunk === VP8L) {
    const bits = view.getUint32(21, true);
    return { width: (bits & FOURTEEN_BITS) + 1, height: ((bits >>> 14) & FOURTEEN_BITS) + 1 };
  }
  const [width, height] = [view.getUint16(26, true), view.getUint16(28, true)];
  return { width: width & FOURTEEN_BITS, height: height & FOURTEEN_BITS };
}

/** 24 bits a side, less one. */
function webpCanvas(view: DataView): Size {
  const width = view.getUint16(24, true) + view.getUint8(26) * 65_536 + 1;
  const height = view.getUint16(27, true) + view.getUint8(29) * 65_536 + 1;
  return { width, height };
}
