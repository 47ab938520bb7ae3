/** Pictures of a wanted size in bytes, the same at every run. */
import sharp from 'sharp';
import type { Request } from './serving.ts';

/** Waves of different lengths with some grain: it compresses about as a photograph does. */
function pixels(width: number, height: number, seed: number): Buffer {
  const data = Buffer.alloc(width * height * 3);
  let noise = seed + 1;
  for (let y = 0, at = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      noise = (Math.imul(noise, 1664525) + 1013904223) >>> 0;
      const grain = (noise >>> 24) / 8 - 16;
      const wave =
        60 * Math.sin((x + seed * 13) / 23) + 50 * Math.cos(y / 17) + 20 * Math.sin((x * y) / 900);
      for (let channel = 0; channel < 3; channel++, at++) {
        const value = 128 + wave + 30 * Math.sin((x + y) / (31 + 9 * channel)) + grain;
        data[at] = Math.max(0, Math.min(255, value));
      }
    }
  }
  return data;
}

/** A JPEG whose size is as near to `bytes` as its quality allows. */
export async function jpegOf(
  width: number,
  height: number,
  bytes: number,
  seed = 0,
): Promise<Buffer> {
  const raw = { width, height, channels: 3 as const };
  const source = pixels(width, height, seed);
  let [low, high] = [5, 98];
  while (high - low > 1) {
    const quality = (low + high) >> 1;
    const { length } = await sharp(source, { raw }).jpeg({ quality }).toBuffer();
    if (length > bytes) high = quality;
    else low = quality;
  }
  return sharp(source, { raw }).jpeg({ quality: low }).toBuffer();
}

/** S: one JPEG of about 20 KB, larger than the model's 224x224. */
export const smallPicture = () => jpegOf(320, 240, 20_000);

/** B: one JPEG of about 100 KB. */
export const detectionPicture = () => jpegOf(800, 600, 100_000);

/** A request with one picture. */
export function pictureRequest(body: Buffer, accept?: string): Request {
  const headers = { 'content-type': 'application/x-image' };
  return { headers: accept === undefined ? headers : { ...headers, accept }, body };
}

/** Y: ten JPEGs of 512x512, each behind its length. */
export async function tenPictures(): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let index = 0; index < 10; index++) {
    const jpeg = await jpegOf(512, 512, 60_000, index);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(jpeg.length);
    pieces.push(length, jpeg);
  }
  return Buffer.concat(pieces);
}
