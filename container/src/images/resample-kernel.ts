/** The WebAssembly loops of resizing (resample.wat) and the layout of their memory. */
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

/** Target rows that are weighted sums of source rows, packed one after another, and columns of those sums. */
interface Filtering {
  /** For each target row the byte offset of its first source row. */
  readonly top: Uint32Array;
  /** `rowTaps` for each target row. */
  readonly rowWeights: Float32Array;
  readonly rowTaps: number;
  readonly rowBytes: number;
  /** For each target column its first source pixel, as a byte offset into a row of float32. */
  readonly left: Uint32Array;
  /** `columnTaps` for each target column. */
  readonly columnWeights: Float32Array;
  readonly columnTaps: number;
  readonly channels: number;
}

/** A resize of some rows, laid out once for all pictures of a size. */
export interface Band {
  /** What is written to the memory once, and where. */
  readonly tables: readonly (readonly [at: number, table: Uint32Array | Float32Array])[];
  /** Where the target rows come, and their bytes. */
  readonly out: number;
  readonly length: number;
  /** Bytes of memory in all. */
  readonly end: number;
  run(wasm: Exports): void;
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
  filter(
    rows: number,
    top: number,
    rowWeights: number,
    rowTaps: number,
    rowBytes: number,
    left: number,
    columnWeights: number,
    columnTaps: number,
    columns: number,
    channels: number,
    sums: number,
    wide: number,
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

/** Places regions one after another behind the source rows, which come first. */
function layout(sourceBytes: number) {
  let end = 0;
  const place = (size: number): number => {
    const start = end;
    end += Math.ceil(size / 16) * 16;
    return start;
  };
  // Pixels are read as four bytes or sixteen, past the last one too.
  place(Math.max(sourceBytes, SOURCE_BYTES) + 16);
  const tables: [number, Uint32Array | Float32Array][] = [];
  const placeTable = (table: Uint32Array | Float32Array): number => {
    const at = place(table.byteLength);
    tables.push([at, table]);
    return at;
  };
  /** The band itself, whose target rows come last. */
  const band = (length: number, run: (wasm: Exports, out: number) => void): Band => {
    const out = place(length + 16);
    return { tables, out, length, end, run: (wasm) => run(wasm, out) };
  };
  return { place, placeTable, band };
}

/** Lays out a band between rows and pixels for the bytes of its source rows. */
export function layOut(columns: Columns, rows: Rows, sourceBytes: number): Band {
  const { place, placeTable, band } = layout(sourceBytes);
  const { channels } = columns;
  const across = columns.left.length;
  const count = rows.low.length;
  const length = across * channels;
  const [left, weight] = [placeTable(columns.left), placeTable(columns.weight)];
  const [low, high, mix] = [placeTable(rows.low), placeTable(rows.high), placeTable(rows.weight)];
  // A row is mixed in blocks of 16 values.
  const [upper, lower] = [place(length * 4 + 64), place(length * 4 + 64)];
  return band(count * length, (wasm, out) => {
    wasm.resize(
      count,
      low,
      high,
      mix,
      0,
      left,
      weight,
      across,
      channels,
      upper,
      lower,
      length,
      out,
    );
  });
}

/** Lays out a band of weighted sums for the bytes of its source rows. */
export function layOutFilter(filtering: Filtering, sourceBytes: number): Band {
  const { place, placeTable, band } = layout(sourceBytes);
  const { rowTaps, rowBytes, columnTaps, channels } = filtering;
  const count = filtering.top.length;
  const across = filtering.left.length;
  const length = across * channels;
  const [top, rowWeights] = [placeTable(filtering.top), placeTable(filtering.rowWeights)];
  const [left, columnWeights] = [placeTable(filtering.left), placeTable(filtering.columnWeights)];
  // Rows are summed and rounded in blocks of 16 values.
  const [sums, wide] = [place(rowBytes * 4 + 80), place(length * 4 + 64)];
  return band(count * length, (wasm, out) => {
    wasm.filter(
      count,
      top,
      rowWeights,
      rowTaps,
      rowBytes,
      left,
      columnWeights,
      columnTaps,
      across,
      channels,
      sums,
      wide,
      length,
      out,
    );
  });
}

/**
 * Resizes a band.
 * @param source runs of source rows, to be packed one after another
 * @returns the target rows, one after another: a view that is valid until the next call
 */
export function resizeBand(band: Band, source: readonly Uint8Array[]): Uint8Array {
  const wasm = instanceFor(band);
  const bytes = new Uint8Array(wasm.memory.buffer);
  let end = 0;
  for (const run of source) {
    if (run.buffer !== bytes.buffer || run.byteOffset !== end) bytes.set(run, end);
    end += run.length;
  }
  band.run(wasm);
  return bytes.subarray(band.out, band.out + band.length);
}

/** An instance that holds the band's tables and has room for the rest. */
function instanceFor(band: Band): Exports {
  const pages = Math.ceil(band.end / PAGE_BYTES);
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

function writeTables({ memory: { buffer } }: Exports, { tables }: Band): void {
  for (const [at, table] of tables) {
    const view = table instanceof Float32Array ? new Float32Array(buffer) : new Uint32Array(buffer);
    view.set(table, at / 4);
  }
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
