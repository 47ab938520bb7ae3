/** Pictures for tests, made by sharp. */
import { crc32 } from 'node:zlib';
import jpegTurbo from '@julusian/jpeg-turbo';
import { type PixelsInput, resolvePreprocess } from '@sagemaker-tfs/manifest';
import type { TensorSpec } from '@sagemaker-tfs/tensors';
import sharp, { type Sharp } from 'sharp';

/** A picture whose every pixel tells where it lies, smooth enough to survive JPEG. */
export function gradient(width: number, height: number): Sharp {
  const data = Buffer.alloc(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = (y * width + x) * 3;
      data[at] = Math.round((255 * x) / width);
      data[at + 1] = Math.round((255 * y) / height);
      data[at + 2] = 40;
    }
  }
  return sharp(data, { raw: { width, height, channels: 3 } });
}

/** A gray JPEG of soft shapes under grain that deviates by 6 levels, as a phone's sensor leaves it. */
export function grainyPhoto(width: number, height: number): Promise<Buffer> {
  const data = Buffer.alloc(width * height);
  const waves = Float64Array.from({ length: width }, (_, x) => 50 * Math.sin(x / 50));
  let seed = 1;
  const random = () => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let y = 0, at = 0; y < height; y++) {
    const row = 128 + 50 * Math.cos(y / 70);
    for (let x = 0; x < width; x++, at++) {
      data[at] = row + (waves[x] as number) + 12 * (random() + random() + random() - 1.5);
    }
  }
  return sharp(data, { raw: { width, height, channels: 1 } })
    .jpeg({ quality: 90 })
    .toBuffer();
}

/** A picture of one color. */
export function plain(width: number, height: number, r: number, g: number, b: number): Sharp {
  return sharp({ create: { width, height, channels: 3, background: { r, g, b } } });
}

/** The pixel at a place. */
export function pixelAt(
  image: { data: Uint8Array; width: number; channels: number },
  x: number,
  y: number,
): number[] {
  const at = (y * image.width + x) * image.channels;
  return Array.from(image.data.subarray(at, at + image.channels));
}

/** The largest difference of two pixel arrays. */
export function largestDifference(a: Uint8Array, b: Uint8Array): number {
  if (a.length !== b.length) return Number.POSITIVE_INFINITY;
  let largest = 0;
  for (let at = 0; at < a.length; at++) {
    largest = Math.max(largest, Math.abs((a[at] as number) - (b[at] as number)));
  }
  return largest;
}

/** Pictures as float32 of this size, with the other defaults of an undeclared input. */
export function pixelsOf(changes: Partial<PixelsInput>): PixelsInput {
  const image: TensorSpec = {
    tensorName: 'image:0',
    dtype: 'float32',
    dtypeEnum: 1,
    shape: [-1, 1, 1, 3],
  };
  const signature = { key: '', methodName: '', inputs: { image }, outputs: {} };
  return { ...(resolvePreprocess(undefined, signature) as PixelsInput), ...changes };
}

/** What libjpeg-turbo makes of the file: its size, or undefined if it refuses. */
export function sizeByLibjpeg(bytes: Buffer): string | undefined {
  try {
    const { width, height } = jpegTurbo.decompressSync(bytes, { format: jpegTurbo.FORMAT_GRAY });
    return `${width} x ${height}`;
  } catch {
    return undefined;
  }
}

/** A chunk of a PNG, with its checksum. */
export function pngChunk(type: string, data: Uint8Array = new Uint8Array(0)): Buffer {
  const bytes = Buffer.alloc(12 + data.length);
  bytes.writeUInt32BE(data.length, 0);
  bytes.write(type, 4, 'latin1');
  bytes.set(data, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length);
  return bytes;
}
