/** Parquet's numbers of few bits: runs of one number, and groups of eight packed side by side. */
import { bad } from './thrift.ts';

/** Fills it with the next numbers. @throws TensorError if there are fewer */
type HybridReader = (into: Uint32Array | Uint8Array) => void;

/**
 * Reads numbers of `width` bits, as many as are asked for at a time.
 * https://parquet.apache.org/docs/file-format/data-pages/encodings/#run-length-encoding--bit-packing-hybrid-rle--3
 * @throws TensorError for more than 32 bits
 */
export function hybridReader(bytes: Uint8Array, width: number): HybridReader {
  if (width > 32) throw bad('has numbers of more than 32 bits');
  const range = 2 ** width;
  let at = 0;
  /** Numbers of the run that are still to come, and the number if all are alike. */
  let left = 0;
  let repeated: number | undefined;
  let end = 0;
  /** Bits of packed numbers that are read and not taken yet. */
  let held = 0;
  let bits = 0;

  const byte = (): number => {
    const value = bytes[at++];
    if (value === undefined) throw bad('has a page that ends too early');
    return value;
  };
  const beginRun = () => {
    const head = headOf(byte);
    const runs = Math.floor(head / 2);
    if (runs === 0) throw bad('has an empty run');
    if (head % 2 === 0) {
      repeated = 0;
      for (let i = 0; i < Math.ceil(width / 8); i++) repeated += byte() * 256 ** i;
      if (repeated >= range) throw bad(`has a number of more than ${width} bits`);
      [left, end] = [runs, at];
    } else {
      [left, end, held, bits] = [runs * 8, at + runs * width, 0, 0];
      repeated = undefined;
    }
  };
  const unpacked = (): number => {
    while (bits < width) {
      held += byte() * 2 ** bits;
      bits += 8;
    }
    const value = held % range;
    held = Math.floor(held / range);
    bits -= width;
    return value;
  };
  return (into) => {
    let filled = 0;
    while (filled < into.length) {
      if (left === 0) {
        at = end;
        beginRun();
      }
      const stop = Math.min(into.length, filled + left);
      left -= stop - filled;
      if (repeated === undefined) while (filled < stop) into[filled++] = unpacked();
      else into.fill(repeated, filled, stop);
      filled = stop;
    }
  };
}

/** The number before a run, seven bits a byte. */
function headOf(byte: () => number): number {
  let head = 0;
  for (let scale = 1; ; scale *= 128) {
    const next = byte();
    if (scale > 2 ** 28) throw bad('has a page that ends too early');
    head += (next & 0x7f) * scale;
    if (next < 128) return head;
  }
}
