/** Whether rows that a model answered when joined are those that it answers alone. */
import {
  elementCount,
  isNumeric,
  type NumberArray,
  type NumericTensor,
  type Tensor,
  toNumbers,
} from '@sagemaker-tfs/tensors';

/** How rows compare; `unclear` where they differ in what is no number, which rounding may decide. */
export type Likeness = 'same' | 'other' | 'unclear';

/**
 * Rows of a batch that differ: none, two or three, or more. A column of one or two rows may be near zero by chance, where
 * rounding is all there is.
 */
export type Variety = 'alike' | 'few' | 'many';

/** What a request got when joined, and alone. */
interface Pair {
  readonly inCompany: Tensor;
  readonly alone: Tensor;
}

/** Different rows from which on each column speaks for itself. */
const MANY_ROWS = 4;

/**
 * Of a column's largest number alone: what kernels for other numbers of rows may round away, TensorFloat-32 and 16-bit
 * floats inside the graph among them. bfloat16 has 8 bits: some of its last ones.
 */
const ROUNDING = 0.01;
const ROUNDING_OF_BFLOAT16 = 0.04;
/** Share of all numbers that may differ, if rows are too few to see that a column is near zero. */
const MAX_APART = 1 / 8;
/** Share of all columns, if rows are many, that may differ in one row: rounding does so beside zeros. */
const MAX_IN_ONE_ROW = 1 / 32;
/** Numbers of an output that are looked at, in whole columns, if its bytes differ. */
const MAX_NUMBERS = 65_536;
/** Multiples of it, modulo 1, are spread evenly, and fall into step with no layout. */
const GOLDEN = 0.618_033_988_749_894_9;

/**
 * Compares an output's rows: floats column by column (a column is one position behind the first dimension, over all
 * rows of the batch) but for rounding, all else exactly.
 */
export function likeness(pairs: readonly Pair[], variety: Variety): Likeness {
  if (!pairs.every(isOfOneKind)) return 'other';
  const apart = pairs.filter((pair) => !areSame(pair));
  if (apart.length === 0) return 'same';
  const columns = elementCount(pairs[0]?.alone.shape.slice(1) ?? []);
  const floats = pairs.map(floatsOf);
  return floats.every((one) => one !== undefined)
    ? compareFloats(floats, columns, variety)
    : 'other';
}

/** How much the rows of a batch's inputs differ: rows that are alike show nothing of each other. */
export function varietyOf(tensors: readonly Tensor[]): Variety {
  const different = Math.max(1, ...tensors.map(differentRows));
  if (different === 1) return 'alike';
  return different < MANY_ROWS ? 'few' : 'many';
}

/** Rows that differ from each other, {@link MANY_ROWS} at most. */
function differentRows(tensor: Tensor): number {
  const found: number[] = [];
  const rows = tensor.shape[0] ?? 0;
  for (let row = 0; row < rows && found.length < MANY_ROWS; row++) {
    if (!found.some((other) => areSameRows(tensor, row, other))) found.push(row);
  }
  return found.length;
}

function areSameRows(tensor: Tensor, one: number, other: number): boolean {
  const rows = tensor.shape[0] as number;
  if (isNumeric(tensor)) {
    const size = tensor.bytes.byteLength / rows;
    const bytesOf = (row: number) => tensor.bytes.subarray(row * size, (row + 1) * size);
    return areSameBytes(bytesOf(one), bytesOf(other));
  }
  const size = tensor.values.length / rows;
  const textsOf = (row: number) => tensor.values.slice(row * size, (row + 1) * size);
  return areSameTexts(textsOf(one), textsOf(other));
}

function isOfOneKind({ inCompany, alone }: Pair): boolean {
  return inCompany.shape.join() === alone.shape.join() && inCompany.dtype === alone.dtype;
}

function areSame({ inCompany, alone }: Pair): boolean {
  if (isNumeric(inCompany) && isNumeric(alone)) return areSameBytes(inCompany.bytes, alone.bytes);
  return !isNumeric(inCompany) && !isNumeric(alone) && areSameTexts(inCompany.values, alone.values);
}

function areSameTexts(one: readonly Uint8Array[], other: readonly Uint8Array[]): boolean {
  return one.every((value, at) => areSameBytes(value, other[at] ?? NONE));
}

const NONE = new Uint8Array();

function areSameBytes(one: Uint8Array, other: Uint8Array): boolean {
  return Buffer.from(one.buffer, one.byteOffset, one.byteLength).equals(other);
}

interface Floats {
  readonly inCompany: NumberArray;
  readonly alone: NumberArray;
  readonly rounding: number;
}

/** Undefined for what is no float. */
function floatsOf({ inCompany, alone }: Pair): Floats | undefined {
  if (!isNumeric(inCompany) || !isNumeric(alone) || !FLOATS.has(alone.dtype)) return undefined;
  return {
    inCompany: numbersOf(inCompany),
    alone: numbersOf(alone),
    rounding: alone.dtype === 'bfloat16' ? ROUNDING_OF_BFLOAT16 : ROUNDING,
  };
}

const FLOATS: ReadonlySet<string> = new Set(['float16', 'bfloat16', 'float32', 'float64']);

/** Of a tensor of floats, which are no bigints. */
function numbersOf(tensor: NumericTensor): NumberArray {
  return toNumbers(tensor) as NumberArray;
}

function compareFloats(pairs: readonly Floats[], columns: number, variety: Variety): Likeness {
  const [looked, apart, inOneRow] = [{ numbers: 0, columns: 0 }, { numbers: 0 }, { columns: 0 }];
  for (const column of columnsToSee(pairs, columns)) {
    const seen = seeColumn(pairs, columns, column);
    if (seen === 'unclear') return 'unclear';
    looked.columns += 1;
    looked.numbers += seen.rows;
    apart.numbers += seen.apart;
    if (seen.apart === 1) inOneRow.columns += 1;
    if (variety === 'many' && seen.apart > 1) return 'other';
  }
  const isSame =
    variety === 'many'
      ? inOneRow.columns <= looked.columns * MAX_IN_ONE_ROW
      : apart.numbers === 0 || apart.numbers < looked.numbers * MAX_APART;
  return isSame ? 'same' : 'other';
}

/** All, or as many as may be looked at: others each time. */
function columnsToSee(pairs: readonly Floats[], columns: number): readonly number[] {
  const rows = pairs.reduce((sum, { alone }) => sum + alone.length / columns, 0);
  const most = Math.max(1, Math.floor(MAX_NUMBERS / rows));
  if (columns <= most) return Array.from({ length: columns }, (_, column) => column);
  const first = Math.random();
  return Array.from({ length: most }, (_, at) => Math.floor(((first + at * GOLDEN) % 1) * columns));
}

/** Rows of a column, and how many of them are apart by more than rounding. */
function seeColumn(
  pairs: readonly Floats[],
  columns: number,
  column: number,
): 'unclear' | { readonly rows: number; readonly apart: number } {
  let largest = 0;
  const differences: number[] = [];
  for (const { inCompany, alone, rounding } of pairs) {
    for (let at = column; at < alone.length; at += columns) {
      const [a, b] = [inCompany[at] as number, alone[at] as number];
      if (Number.isFinite(a) && Number.isFinite(b)) {
        largest = Math.max(largest, Math.abs(b) * rounding);
        differences.push(Math.abs(a - b));
      } else if (Object.is(a, b)) differences.push(0);
      else return 'unclear';
    }
  }
  const apart = differences.filter((difference) => difference > largest).length;
  return { rows: differences.length, apart };
}
