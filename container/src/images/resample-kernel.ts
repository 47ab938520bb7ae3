/** The WebAssembly loops of bilinear resizing (resample.wat) and the layout of their memory. */
import { RESAMPLE_WASM } from './gen/resample-wasm.ts';
import { type WasmMemory, wasmModule } from './wasm-instance.ts';

/** For each target column the byte offset of the pixel left of it in a row, and the weight of the next one. */
export interface Columns {
  readonly left: Uint32Array;
  readonly weight: Float32Array;
  readonly channels: number;
}

/** Target rows and the source rows between which they lie. */
export interface Rows {
  /** For each target row the byte offsets of the rows above and below it in the packed source rows. */
  readonly low: Uint32Array;
  readonly high: Uint32Array;
  /** For each target row how far it lies between them. */
  readonly weight: Float32Array;
}

/** A resize of some rows, laid out once for all pictures of a size. */
export interface Band {
  readonly columns: Columns;
  readonly rows: Rows;
  readonly at: Layout;
}

/** Where things are in the memory, in bytes; the source rows come first. */
type Layout = Readonly<
  Record<'left' | 'weight' | 'low' | 'high' | 'mix' | 'upper' | 'lower', number>
> & {
  readonly out: number;
  readonly end: number;
};

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
/** Source rows up to this size may be in the kept memory already: see {@link sourceRows}. */
const SOURCE_BYTES = 786_432;

const instantiate = wasmModule<Exports>(RESAMPLE_WASM);
let kept: Exports | undefined;
/** Whose tables the kept memory holds. */
let written: Band | undefined;

/**
 * Memory for the source rows of a picture, from which {@link resizeBand} need not copy them. Valid until the next
 * call of either.
 * @returns undefined for more than 786,432 bytes
 */
export function sourceRows(bytes: number): Uint8Array | undefined {
  if (bytes > SOURCE_BYTES) return undefined;
  return new Uint8Array(keptInstance().memory.buffer, 0, bytes);
}

/** Lays out a band whose source rows take so many bytes. */
export function layOut(columns: Columns, rows: Rows, sourceBytes: number): Band {
  const length = columns.left.length * columns.channels;
  let end = 0;
  const place = (size: number): number => {
    const start = end;
    end += Math.ceil(size / 16) * 16;
    return start;
  };
  // A pixel is read as four bytes, and the next one too; a row is mixed in blocks of 16 values.
  place(Math.max(sourceBytes, SOURCE_BYTES) + 16);
  const at = {
    left: place(columns.left.byteLength),
    weight: place(columns.weight.byteLength),
    low: place(rows.low.byteLength),
    high: place(rows.high.byteLength),
    mix: place(rows.weight.byteLength),
    upper: place(length * 4 + 64),
    lower: place(length * 4 + 64),
    out: place(rows.low.length * length + 16),
  };
  return { columns, rows, at: { ...at, end } };
}

/**
 * Resizes a band.
 * @param source runs of source rows, to be packed one after another
 * @returns the target rows, one after another: a view that is valid until the next call
 */
export function resizeBand(band: Band, source: readonly Uint8Array[]): Uint8Array {
  const { columns, rows, at } = band;
  const wasm = instanceFor(band);
  const bytes = new Uint8Array(wasm.memory.buffer);
  let end = 0;
  for (const run of source) {
    if (run.buffer !== bytes.buffer || run.byteOffset !== end) bytes.set(run, end);
    end += run.length;
  }
  const length = columns.left.length * columns.channels;
  wasm.resize(
    rows.low.length,
    at.low,
    at.high,
    at.mix,
    0,
    at.left,
    at.weight,
    columns.left.length,
    columns.channels,
    at.upper,
    at.lower,
    length,
    at.out,
  );
  return bytes.subarray(at.out, at.out + rows.low.length * length);
}

/** An instance that holds the band's tables and has room for the rest. */
function instanceFor(band: Band): Exports {
  const pages = Math.ceil(band.at.end / PAGE_BYTES);
  if (pages > KEPT_PAGES) {
    const wasm = withPages(pages);
    writeTables(wasm, band);
    return wasm;
  }
  const wasm = keptInstance();
  if (written !== band) writeTables(wasm, band);
  written = band;
  return wasm;
}

function writeTables({ memory: { buffer } }: Exports, { columns, rows, at }: Band): void {
  new Uint32Array(buffer, at.left).set(columns.left);
  new Float32Array(buffer, at.weight).set(columns.weight);
  new Uint32Array(buffer, at.low).set(rows.low);
  new Uint32Array(buffer, at.high).set(rows.high);
  new Float32Array(buffer, at.mix).set(rows.weight);
}

/** Never grown, so that views of its memory stay valid; pages that nothing was written to take no memory. */
function keptInstance(): Exports {
  kept ??= withPages(KEPT_PAGES);
  return kept;
}

function withPages(pages: number): Exports {
  const wasm = instantiate();
  wasm.memory.grow(pages - wasm.memory.buffer.byteLength / PAGE_BYTES);
  return wasm;
}
