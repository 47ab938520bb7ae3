/** Which image format bytes are, by their first bytes: the media type that a client sends is often wrong. */

/** Formats that the runtime decodes. */
export type ImageFormat = 'jpeg' | 'png' | 'webp' | 'gif' | 'tiff';

/** The formats as people write them, for messages. */
export const IMAGE_FORMATS = 'JPEG, PNG, WebP, GIF or TIFF';

/** The media type of each format. */
export const IMAGE_MEDIA_TYPES: Readonly<Record<ImageFormat, string>> = {
  jpeg: 'image/jpeg',
  png: 'image/png',
  webp: 'image/webp',
  gif: 'image/gif',
  tiff: 'image/tiff',
};

/** The format of an encoded image, or undefined if the first bytes are none of {@link ImageFormat}. */
export function imageFormat(bytes: Uint8Array): ImageFormat | undefined {
  if (startsWith(bytes, [0xff, 0xd8, 0xff])) return 'jpeg';
  if (startsWith(bytes, [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])) return 'png';
  if (startsWith(bytes, [0x47, 0x49, 0x46, 0x38])) return 'gif';
  if (startsWith(bytes, [0x49, 0x49, 0x2a, 0x00])) return 'tiff';
  if (startsWith(bytes, [0x4d, 0x4d, 0x00, 0x2a])) return 'tiff';
  const riff = startsWith(bytes, [0x52, 0x49, 0x46, 0x46]);
  if (riff && startsWith(bytes.subarray(8), [0x57, 0x45, 0x42, 0x50])) return 'webp';
  return undefined;
}

function startsWith(bytes: Uint8Array, prefix: readonly number[]): boolean {
  return bytes.length >= prefix.length && prefix.every((byte, index) => bytes[index] === byte);
}
