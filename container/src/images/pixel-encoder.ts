/** Writes 8-bit pixels as the elements of a tensor: scaled, in its dtype, in its layout. */
import type { PixelsInput } from '@sagemaker-tfs/manifest';
import {
  cast,
  DTYPES,
  type NumericDType,
  type NumericTensor,
  numericTensor,
  typedArray,
} from '@sagemaker-tfs/tensors';
import { lookup } from './lookup-kernel.ts';

/** Writes one picture's pixels. */
export interface PixelEncoder {
  /** True where the tensor's bytes are the pixels themselves, so that there is nothing to write. */
  readonly isIdentity: boolean;
  /** Writes `data` (rows of pixels, channels innermost) to `out`, whose length is its own times the element size. */
  write(data: Uint8Array, out: Uint8Array): void;
}

/** JavaScript's own conversion makes these of 0 to 255, faster than the lookup. */
const CONVERTED = ['float32', 'float64', 'int32', 'uint32', 'int16', 'uint16'] as const;
type Converted = (typeof CONVERTED)[number];

/**
 * The encoder for a resolved input. A pixel has only 256 values, so each channel's arithmetic and conversion
 * is a table made once, computed in float64 and rounded once.
 */
export function pixelEncoder(input: PixelsInput): PixelEncoder {
  const isGray = input.channels === 'gray';
  const isPlanar = input.layout === 'NCHW' && !isGray;
  const isUnscaled = input.scale.every((s) => s === 1) && input.offset.every((o) => o === 0);
  const isIdentity = input.dtype === 'uint8' && isUnscaled && !isPlanar;
  const { size } = DTYPES[input.dtype];
  const converted = CONVERTED.find((dtype) => dtype === input.dtype && isUnscaled && !isPlanar);
  const made = input.scale.map((scale, channel) =>
    lookupTable(input.dtype, scale, input.offset[channel] as number),
  );
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

/** value = pixel * scale + offset for the 256 pixel values, in the dtype; whole where it is an integer. */
function lookupTable(dtype: NumericDType, scale: number, offset: number): Uint8Array {
  const isInteger = !dtype.includes('float');
  const values = Float64Array.from({ length: 256 }, (_, pixel) => {
    const value = pixel * scale + offset;
    return isInteger ? Math.round(value) : value;
  });
  return cast(numericTensor('float64', [256], values), dtype).bytes;
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
