/** The WebAssembly loops of bilinear resizing (resample.wat) and the layout of their memory. */
import { RESAMPLE_WASM } from './gen/resample-wasm.ts';
import { type WasmMemory, wasmModule } from './wasm-instance.ts';

/** For each target column the byte offset of the pixel left of it in a row, and the weight of the next one. */
export interface Columns {
  readonly left: Uint32Array;
  readonly weight: Float32Array;
  readonly channels: number;
}

/** Rows of pixels, and the target rows that lie between them. */
export interface Band {
  /** Runs of source rows, packed one after another. */
  readonly pixels: readonly Uint8Array[];
  /** For each target row the byte offsets of the rows above and below it in the packed pixels. */
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  /** For each target row how far it lies between them. */
  readonly weight: Float32Array;
}

interface Exports {
  readonly memory: WasmMemory;
  resize(
    rows: number,
    low: number,
    high: number,
    mix: number,
    pixels: number,
    left: number,
    weight: number,
    columns: number,
    channels: number,
    upper: number,
    lower: number,
    length: number,
    out: number,
  ): void;
}

const PAGE_BYTES = 65_536;
/** Memory kept between resizes; what takes more gets an instance of its own, freed after it. */
const KEPT_PAGES = 64;

const instantiate = wasmModule<Exports>(RESAMPLE_WASM);
let kept: Exports | undefined;

/**
 * Resizes a band.
 * @returns the target rows, one after another: a view that is valid until the next call
 */
export function resizeBand({ left, weight, channels }: Columns, band: Band): Uint8Array {
  const columns = left.length;
  const rows = band.low.length;
  const length = columns * channels;
  const at = layOut({
    left: left.byteLength,
    weight: weight.byteLength,
    low: band.low.byteLength,
    high: band.high.byteLength,
    mix: band.weight.byteLength,
    // A pixel is read as four bytes, and the next one too; a row is mixed in blocks of 16 values.
    pixels: band.pixels.reduce((sum, run) => sum + run.length, 0) + 16,
    upper: length * 4 + 64,
    lower: length * 4 + 64,
    out: rows * length + 16,
  });
  const wasm = withMemory(at.end);
  const { buffer } = wasm.memory;
  const bytes = new Uint8Array(buffer);
  new Uint32Array(buffer, at.left).set(left);
  new Float32Array(buffer, at.weight).set(weight);
  new Uint32Array(buffer, at.low).set(band.low);
  new Uint32Array(buffer, at.high).set(band.high);
  new Float32Array(buffer, at.mix).set(band.weight);
  let end = at.pixels;
  for (const run of band.pixels) {
    bytes.set(run, end);
    end += run.length;
  }
  const { low, high, mix, pixels, upper, lower, out } = at;
  wasm.resize(
    rows,
    low,
    high,
    mix,
    pixels,
    at.left,
    at.weight,
    columns,
    channels,
    upper,
    lower,
    length,
    out,
  );
  return bytes.subarray(out, out + rows * length);
}

/** Places regions one after another, 16-byte aligned. */
function layOut<Name extends string>(
  sizes: Readonly<Record<Name, number>>,
): Record<Name | 'end', number> {
  let end = 0;
  const starts: Record<string, number> = {};
  for (const [name, size] of Object.entries<number>(sizes)) {
    starts[name] = end;
    end += Math.ceil(size / 16) * 16;
  }
  return { ...starts, end } as Record<Name | 'end', number>;
}

function withMemory(size: number): Exports {
  const pages = Math.ceil(size / PAGE_BYTES);
  if (pages > KEPT_PAGES) return grown(instantiate(), pages);
  kept ??= instantiate();
  return grown(kept, pages);
}

function grown(wasm: Exports, pages: number): Exports {
  const missing = pages - wasm.memory.buffer.byteLength / PAGE_BYTES;
  if (missing > 0) wasm.memory.grow(missing);
  return wasm;
}
