/** Writes 8-bit pixels as the elements of a tensor: scaled, in its dtype, in its layout. */
import type { PixelsInput } from '@sagemaker-tfs/manifest';
import {
  cast,
  DTYPES,
  type NumericTensor,
  numericTensor,
  typedArray,
} from '@sagemaker-tfs/tensors';
import { lookup } from './lookup-kernel.ts';

/** Writes one picture's pixels. */
export interface PixelEncoder {
  /** True if the tensor's bytes are the pixels themselves, so that there is nothing to write. */
  readonly isIdentity: boolean;
  /** Writes `data` (rows of pixels, channels innermost) to `out`, whose length is its own times the element size. */
  write(data: Uint8Array, out: Uint8Array): void;
}

/** JavaScript's own conversion makes these of 0 to 255, faster than the lookup. */
const CONVERTED = ['float32', 'float64', 'int32', 'uint32', 'int16', 'uint16'] as const;
type Converted = (typeof CONVERTED)[number];

/**
 * The encoder for a resolved input. A pixel has only 256 values, so each channel's arithmetic and conversion
 * is a table made once: for float32 step by step as Keras computes it, else in float64 and rounded once.
 */
export function pixelEncoder(input: PixelsInput): PixelEncoder {
  const isGray = input.channels === 'gray';
  const isPlanar = input.layout === 'NCHW' && !isGray;
  const isUnscaled = input.scale.every((s) => s === 1) && input.offset.every((o) => o === 0);
  const isIdentity = input.dtype === 'uint8' && isUnscaled && !isPlanar;
  const { size } = DTYPES[input.dtype];
  const converted = CONVERTED.find((dtype) => dtype === input.dtype && isUnscaled && !isPlanar);
  const made = input.scale.map((_, channel) => lookupTable(input, channel));
  // Gray pixels are taken three at a time, all through the one table.
  const tables = isGray ? [0, 1, 2].map(() => made[0] as Uint8Array) : made;
  return {
    isIdentity,
    write(data, out) {
      if (isIdentity) out.set(data);
      else if (converted && out.byteOffset % size === 0) convert(data, out, converted);
      else if (size !== 8) lookup(data, out, tables, size as 1 | 2 | 4, isPlanar);
      else writeLongs(data, out, tables, isPlanar);
    },
  };
}

/** The values of the 256 pixels of a channel, in the dtype; whole where it is an integer. */
function lookupTable({ dtype, ...input }: PixelsInput, channel: number): Uint8Array {
  const [scale, offset] = [input.scale[channel] as number, input.offset[channel] as number];
  const { mean, std } = input.normalized ?? {};
  const elementOf = (pixel: number): number => {
    if (dtype === 'float32' && mean && std) {
      return normalized32(pixel, mean[channel] as number, std[channel] as number);
    }
    if (dtype === 'float32') return rescaled32(pixel, scale, offset);
    const value = pixel * scale + offset;
    return dtype.includes('float') ? value : Math.round(value);
  };
  const values = Float64Array.from({ length: 256 }, (_, pixel) => elementOf(pixel));
  return cast(numericTensor('float64', [256], values), dtype).bytes;
}

const { fround } = Math;

/** As Keras's `Rescaling`: constants and each step are float32. */
function rescaled32(pixel: number, scale: number, offset: number): number {
  return fround(fround(pixel * fround(scale)) + fround(offset));
}

/** As `preprocess_input(mode="torch")` of Keras's applications. */
function normalized32(pixel: number, mean: number, std: number): number {
  return fround(fround(fround(pixel / 255) - fround(mean)) / fround(std));
}

function convert(data: Uint8Array, out: Uint8Array, dtype: Converted): void {
  const tensor: NumericTensor & { readonly dtype: Converted } = {
    dtype,
    shape: [data.length],
    bytes: out,
  };
  typedArray(tensor).set(data);
}

/** Elements of 8 bytes, which are rare. */
function writeLongs(
  data: Uint8Array,
  out: Uint8Array,
  tables: readonly Uint8Array[],
  isPlanar: boolean,
): void {
  const plane = data.length / 3;
  for (let at = 0; at < data.length; at++) {
    const channel = at % 3;
    const table = tables[channel] as Uint8Array;
    const to = (isPlanar ? channel * plane + (at - channel) / 3 : at) * 8;
    const from = (data[at] as number) * 8;
    for (let byte = 0; byte < 8; byte++) out[to + byte] = table[from + byte] as number;
  }
}
