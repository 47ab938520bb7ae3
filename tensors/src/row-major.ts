/** Elements from Fortran order (first axis fastest) to C order (last axis fastest), block by block. */

/** Elements that a block has in a row, at both ends: cache lines are read and written whole. */
const RUN = 64;
/** Elements of a block: with what is read and written it stays in the processor's cache. */
const BLOCK = 4_096;

/**
 * The elements in C order, in time linear in their bytes whatever the shape.
 * @param data elements of `shape` in Fortran order
 * @param width bytes of an element, more than 0
 * @returns `data` itself where both orders are the same
 */
export function toRowMajor(data: Uint8Array, shape: readonly number[], width: number): Uint8Array {
  // As they lie in memory, slowest first. Sizes of 1 move nothing.
  const sizes = shape.filter((size) => size !== 1).reverse();
  if (sizes.length < 2 || data.byteLength === 0) return data;
  const out = new Uint8Array(data.byteLength);
  const unit = width % 4 === 0 ? 4 : width % 2 === 0 ? 2 : 1;
  moveBlocks(unitsOf(data, unit), unitsOf(out, unit), sizes, width / unit);
  return out;
}

type Units = Uint8Array | Uint16Array | Uint32Array;

function unitsOf(bytes: Uint8Array, unit: 1 | 2 | 4): Units {
  if (unit === 1) return bytes;
  const { buffer, byteOffset, byteLength } =
    bytes.byteOffset % unit === 0 ? bytes : new Uint8Array(bytes);
  return unit === 2
    ? new Uint16Array(buffer, byteOffset, byteLength / unit)
    : new Uint32Array(buffer, byteOffset, byteLength / unit);
}

/** @param length units of an element */
function moveBlocks(from: Units, to: Units, sizes: readonly number[], length: number): void {
  const rank = sizes.length;
  const half = rank >> 1;
  const fromStrides = sizes.map((_, axis) => length * product(sizes.slice(axis + 1)));
  const toStrides = sizes.map((_, axis) => length * product(sizes.slice(0, axis)));
  const move = length === 1 ? moveUnits : moveElements;
  const block = blockSizes(sizes);
  const at = new Array<number>(rank).fill(0);
  let extents: number[] = [];
  let slow = NOWHERE;
  let fast = NOWHERE;
  let axis: number;
  do {
    if (extents.length === 0 || !isOfExtents(extents, block, sizes, at)) {
      extents = block.map((most, k) => extentAt(most, sizes[k] as number, at[k] as number));
      slow = offsetsOf(extents, fromStrides, toStrides, 0, half);
      fast = offsetsOf(extents, fromStrides, toStrides, half, rank);
    }
    let source = 0;
    let target = 0;
    for (let k = 0; k < rank; k++) {
      source += (at[k] as number) * (fromStrides[k] as number);
      target += (at[k] as number) * (toStrides[k] as number);
    }
    move(from.subarray(source), to.subarray(target), slow, fast, length);
    for (axis = rank - 1; axis >= 0; axis--) {
      at[axis] = (at[axis] as number) + (block[axis] as number);
      if ((at[axis] as number) < (sizes[axis] as number)) break;
      at[axis] = 0;
    }
  } while (axis >= 0);
}

/** Elements of a block along each axis: many of those that lie together before, and after. */
function blockSizes(sizes: readonly number[]): number[] {
  const block = sizes.map(() => 1);
  const axes = sizes.map((_, axis) => axis);
  const fromLast = axes.toReversed();
  for (const order of [axes, fromLast]) {
    let run = 1;
    for (const axis of order) {
      const size = upTo(Math.ceil(RUN / run), sizes[axis] as number);
      block[axis] = Math.max(block[axis] as number, size);
      run *= size;
    }
  }
  for (const axis of fromLast) {
    const times = Math.max(1, Math.floor(BLOCK / product(block)));
    block[axis] = upTo((block[axis] as number) * times, sizes[axis] as number);
  }
  return block;
}

/** At most `most` of `size`, or all where few would be left. */
function upTo(most: number, size: number): number {
  return size < 2 * most ? size : most;
}

/** What is left of a block at the end of an axis. */
function extentAt(most: number, size: number, at: number): number {
  return Math.min(most, size - at);
}

function isOfExtents(
  extents: readonly number[],
  block: readonly number[],
  sizes: readonly number[],
  at: readonly number[],
): boolean {
  for (let k = 0; k < extents.length; k++) {
    const extent = extentAt(block[k] as number, sizes[k] as number, at[k] as number);
    if (extents[k] !== extent) return false;
  }
  return true;
}

/** Where elements are from the block's first one on. */
interface Offsets {
  readonly from: Float64Array;
  readonly to: Float64Array;
}

const NOWHERE: Offsets = { from: new Float64Array(0), to: new Float64Array(0) };

/** Of the elements along the axes from `start` to `end`. */
function offsetsOf(
  extents: readonly number[],
  fromStrides: readonly number[],
  toStrides: readonly number[],
  start: number,
  end: number,
): Offsets {
  let [from, to] = [[0], [0]];
  for (let axis = start; axis < end; axis++) {
    const steps = Array.from({ length: extents[axis] as number }, (_, step) => step);
    const along = (before: readonly number[], stride: number) =>
      before.flatMap((offset) => steps.map((step) => offset + step * stride));
    from = along(from, fromStrides[axis] as number);
    to = along(to, toStrides[axis] as number);
  }
  return { from: Float64Array.from(from), to: Float64Array.from(to) };
}

function moveUnits(from: Units, to: Units, slow: Offsets, fast: Offsets): void {
  for (let i = 0; i < slow.from.length; i++) {
    const fromRow = slow.from[i] as number;
    const toRow = slow.to[i] as number;
    for (let k = 0; k < fast.from.length; k++) {
      to[toRow + (fast.to[k] as number)] = from[fromRow + (fast.from[k] as number)] as number;
    }
  }
}

function moveElements(from: Units, to: Units, slow: Offsets, fast: Offsets, length: number): void {
  for (let i = 0; i < slow.from.length; i++) {
    const fromRow = slow.from[i] as number;
    const toRow = slow.to[i] as number;
    for (let k = 0; k < fast.from.length; k++) {
      const source = fromRow + (fast.from[k] as number);
      const target = toRow + (fast.to[k] as number);
      for (let part = 0; part < length; part++) to[target + part] = from[source + part] as number;
    }
  }
}

function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * size, 1);
}
