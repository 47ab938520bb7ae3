/** How large a picture may be where the caller of `decodeImage` does not say: what the container was told. */

/** Without a container, in tests and scripts: more than any camera's picture. */
const DEFAULT_MAX_IMAGE_PIXELS = 268_435_456;

let limit = DEFAULT_MAX_IMAGE_PIXELS;

/** Sets the limit of this process: width times height of an encoded picture. */
export function setMaxImagePixels(pixels: number): void {
  limit = pixels;
}

/** The limit of this process. */
export function maxImagePixels(): number {
  return limit;
}
