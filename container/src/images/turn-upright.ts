/** Turns pixels as a picture's EXIF orientation says (EXIF 2.32 section 4.6.4): no pixel changes its value. */
import sharp from 'sharp';
import type { Pixels } from './resample.ts';

/** Clockwise degrees for orientations 1 to 8, mirrored left to right before where it says so: the order of sharp. */
const TURNS = [
  [0, false],
  [0, true],
  [180, false],
  [180, true],
  [270, true],
  [90, false],
  [90, true],
  [270, false],
] as const;

/** The picture upright, in new memory; turned in a thread of sharp's. */
export async function turnUpright(pixels: Pixels, orientation: number): Promise<Pixels> {
  const { width, height, channels } = pixels;
  const [degrees, mirrored] = TURNS[orientation - 1] ?? TURNS[0];
  const raw = { width, height, channels: channels as 1 | 3 };
  const turned = sharp(pixels.data, { raw, limitInputPixels: false }).rotate(degrees);
  const { data, info } = await (mirrored ? turned.flop() : turned)
    .toColourspace(channels === 1 ? 'b-w' : 'srgb')
    .raw({ depth: 'uchar' })
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height, channels };
}
