/** Cells of text to elements of a tensor. */
import {
  DTYPES,
  type DType,
  type ElementValue,
  type Tensor,
  type TensorSpec,
  tensorFromValues,
} from '@sagemaker-tfs/tensors';
import type { DecodeLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import { instanceShape } from '../models/instance-shape.ts';
import { reading } from './input-error.ts';

/** Collects the cells of one input. */
export interface CellCollector {
  /** @throws ServingError BAD_INPUT naming line and column */
  add(cell: string, line: number, column: number): void;
  /** The tensor of `rows` instances of `width` cells each. @throws ServingError BAD_INPUT */
  tensor(rows: number, width: number): Tensor;
}

/** A collector for the input; @throws ServingError BAD_INPUT if text cannot carry its dtype */
export function cellCollector(
  name: string,
  spec: TensorSpec,
  { maxStrings, maxDecodedBytes }: DecodeLimits,
): CellCollector {
  const { dtype } = spec;
  if (!dtype) {
    throw new ServingError('BAD_INPUT', `input '${name}' has a dtype that CSV cannot carry.`);
  }
  const parse = cellParser(dtype);
  const values: ElementValue[] = [];
  const limit = dtype === 'string' ? maxStrings : maxDecodedBytes / DTYPES[dtype].size;
  return {
    add(cell, line, column) {
      const value = parse(cell);
      if (value === undefined) throw badCell(cell, line, column, name, dtype);
      if (values.length >= limit) {
        throw new ServingError(
          'REQUEST_TOO_LARGE',
          `line ${line}: more than ${Math.floor(limit)} values of ${dtype}. Send fewer lines at a time.`,
        );
      }
      values.push(value);
    },
    tensor(rows, width) {
      const words = { rows: 'lines', values: 'columns' };
      const shape = instanceShape(name, spec.shape, rows, width, words);
      return reading(() => tensorFromValues(dtype, shape, values), `input '${name}'`);
    },
  };
}

function badCell(
  cell: string,
  line: number,
  column: number,
  input: string,
  dtype: DType,
): ServingError {
  const shown = cell.length > 40 ? `${cell.slice(0, 37)}...` : cell;
  const kind = `${/^i/.test(dtype) ? 'an' : 'a'} ${dtype}`;
  const hasNaN = dtype.includes('float');
  const what =
    cell === ''
      ? `the cell is empty, and input '${input}' takes ${kind}.${hasNaN ? ' Write nan if the model takes it.' : ''}`
      : `'${shown}' is not ${kind}, which input '${input}' takes.`;
  return new ServingError('BAD_INPUT', `line ${line}, column ${column}: ${what}`);
}

const NAMED_FLOATS = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
]);
const BOOLEANS = new Map([
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
]);
/** A regular expression runs out of stack on a cell of megabytes; no name of a number is longer. */
const LONGEST_NAME = 16;

function cellParser(dtype: DType): (cell: string) => ElementValue | undefined {
  if (dtype === 'string') return (cell) => cell;
  if (dtype === 'bool') return (cell) => BOOLEANS.get(cell.trim().toLowerCase());
  const parse = dtype.includes('float') ? parseFloatCell : parseIntegerCell;
  return (cell) => parse(cell.trim());
}

/** What Number reads besides decimals: other bases, and the empty text. */
const NO_DECIMAL = /^$|^[+-]?0[xob]/i;

/** A number beyond the range of float64 is refused, as in JSON. */
function parseFloatCell(cell: string): number | undefined {
  const value = Number(cell);
  if (Number.isFinite(value)) return NO_DECIMAL.test(cell) ? undefined : value;
  if (cell.length > LONGEST_NAME) return undefined;
  const [, sign, word = ''] = /^([+-]?)([a-z]+)$/i.exec(cell) ?? [];
  const named = NAMED_FLOATS.get(word.toLowerCase());
  return sign === '-' && named !== undefined ? -named : named;
}

/** Digits beyond 2^53 stay exact; `3.0` is a whole number too, as data frames write them. */
function parseIntegerCell(cell: string): number | bigint | undefined {
  const value = Number(cell);
  if (Number.isSafeInteger(value)) return NO_DECIMAL.test(cell) ? undefined : value;
  return /^[+-]?\d{1,20}$/.test(cell) ? BigInt(cell.replace('+', '')) : undefined;
}
