/**
 * Gray from the colors of a PNG, as `tf.io.decode_png(channels=1)` has it of libpng: luma without its fraction or, where
 * the file declares a gamma, of the light that the colors stand for (libpng's `pngrtran.c`, `png_do_rgb_to_gray`).
 */
import { crc32 } from 'node:zlib';
import type { Pixels } from './resample.ts';

/** Rec. 601 in 1/32768, as libpng makes them of 0.299 and 0.587. */
const RED = 9_797;
const GREEN = 19_234;
const BLUE = 32_768 - RED - GREEN;
const HALF = 16_384;

/** Gammas are in 1/100000. */
const LINEAR = 100_000;
const SRGB = 45_455;
/** Other values have no meaning. */
const GAMMAS = { least: 16, most: 625_000_000 } as const;
/** As near to linear it makes no difference. */
const INSIGNIFICANT = 5_000;

/** RGB pixels of 8 bits of the PNG as gray. Of 16 bits an exact gray has more to go by: it is within 1, with a gamma 16. */
export function pngGray({ data, width, height }: Pixels, png: Uint8Array): Pixels {
  const gamma = gammaOf(png);
  const inverse = reciprocal(gamma);
  const gray = new Uint8Array(width * height);
  if (!isSignificant(gamma) && !isSignificant(inverse)) fillLuma(gray, data);
  else fillLight(gray, data, powers(inverse), powers(reciprocal(inverse)));
  return { data: gray, width, height, channels: 1 };
}

function fillLuma(gray: Uint8Array, data: Uint8Array): void {
  for (let at = 0, from = 0; at < gray.length; at++, from += 3) {
    const red = data[from] as number;
    const green = data[from + 1] as number;
    const blue = data[from + 2] as number;
    gray[at] = (red * RED + green * GREEN + blue * BLUE) >> 15;
  }
}

/** @param light of each value, and the `values` of each light */
function fillLight(
  gray: Uint8Array,
  data: Uint8Array,
  light: Uint8Array,
  values: Uint8Array,
): void {
  for (let at = 0, from = 0; at < gray.length; at++, from += 3) {
    const red = data[from] as number;
    const green = data[from + 1] as number;
    const blue = data[from + 2] as number;
    if (red === green && red === blue) {
      gray[at] = red;
      continue;
    }
    const sum =
      (light[red] as number) * RED +
      (light[green] as number) * GREEN +
      (light[blue] as number) * BLUE;
    gray[at] = values[(sum + HALF) >> 15] as number;
  }
}

/** Every 8-bit value to the power of the gamma. */
function powers(gamma: number): Uint8Array {
  const power = isSignificant(gamma) ? gamma / LINEAR : 1;
  return Uint8Array.from({ length: 256 }, (_, value) =>
    Math.floor(255 * (value / 255) ** power + 0.5),
  );
}

function isSignificant(gamma: number): boolean {
  return Math.abs(gamma - LINEAR) > INSIGNIFICANT;
}

function reciprocal(gamma: number): number {
  return Math.floor(1e10 / gamma + 0.5);
}

const SIGNATURE_BYTES = 8;
/** Length and type before a chunk's content. */
const HEAD_BYTES = 8;
const CHECKSUM_BYTES = 4;
const typeOf = (name: string): number => Buffer.from(name, 'latin1').readUInt32BE(0);
const [IDAT, GAMA, SRGB_CHUNK] = [typeOf('IDAT'), typeOf('gAMA'), typeOf('sRGB')];
const GAMA_BYTES = 4;
const SRGB_INTENTS = 4;

/** Of the chunks before the pixels, `sRGB` counts first, then the first `gAMA`; none after one without a meaning. */
function gammaOf(bytes: Uint8Array): number {
  const png = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let gamma: number | undefined;
  for (let at = SIGNATURE_BYTES; at + HEAD_BYTES <= png.length; ) {
    const size = png.readUInt32BE(at);
    const type = png.readUInt32BE(at + 4);
    if (type === IDAT) break;
    if (type === SRGB_CHUNK && size === 1 && isWhole(png, at, size)) {
      return (png[at + HEAD_BYTES] as number) < SRGB_INTENTS ? SRGB : (gamma ?? LINEAR);
    }
    if (type === GAMA && size === GAMA_BYTES && gamma === undefined && isWhole(png, at, size)) {
      gamma = png.readUInt32BE(at + HEAD_BYTES);
      if (gamma < GAMMAS.least || gamma > GAMMAS.most) return LINEAR;
    }
    at += HEAD_BYTES + size + CHECKSUM_BYTES;
  }
  return gamma ?? LINEAR;
}

/** By its checksum, which covers the type too. */
function isWhole(png: Buffer, at: number, size: number): boolean {
  const end = at + HEAD_BYTES + size;
  return (
    end + CHECKSUM_BYTES <= png.length && crc32(png.subarray(at + 4, end)) === png.readUInt32BE(end)
  );
}
