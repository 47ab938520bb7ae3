/** What is wrong with a line of CSV that is to name the inputs, and what it should be. */
import type { Signature } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { shortened } from './input-error.ts';

type Inputs = Signature['inputs'];

/** Columns of a header that a message shows. */
const MOST_SHOWN = 24;

/** The first line for these inputs: each name as often as its input takes columns. */
export function headerLine(names: readonly string[], inputs: Inputs): string {
  const shown: string[] = [];
  for (const name of names) {
    const count = Math.min(columnsOf(name, inputs) ?? 1, MOST_SHOWN + 1);
    for (let at = 0; at < count && shown.length <= MOST_SHOWN; at++) shown.push(name);
  }
  if (shown.length > MOST_SHOWN) shown[MOST_SHOWN] = '...';
  return shown.join(',');
}

/** Whether the cells of a first line are names of inputs alone. @param header what the media type says of a header */
export function namesInputs(
  cells: readonly string[],
  header: string | undefined,
  { inputs }: Pick<Signature, 'inputs'>,
): boolean {
  return header !== 'absent' && cells.every((cell) => Object.hasOwn(inputs, cell.trim()));
}

/** @throws ServingError BAD_INPUT if a header names an input in more or fewer columns than it takes */
export function requireColumns(
  header: readonly { readonly name: string; readonly columns: number }[],
  { inputs }: Pick<Signature, 'inputs'>,
): void {
  for (const { name, columns } of header) {
    const takes = columnsOf(name, inputs);
    if (takes === undefined || takes === columns) continue;
    const names = header.map((named) => named.name);
    throw new ServingError(
      'BAD_INPUT',
      `input '${name}' takes ${count(takes)}, and ${columns === 1 ? '1 has' : `${columns} have`} its name. Name each column: ${headerLine(names, inputs)}`,
    );
  }
}

/** @throws ServingError BAD_INPUT if a header names the inputs with other separators than commas */
export function requireCommas(
  cells: readonly string[],
  { inputs }: Pick<Signature, 'inputs'>,
): void {
  for (const [separator, called] of SEPARATORS) {
    // The first other cell ends it: a line may have millions.
    const areNames = cells.every((cell) =>
      cell.split(separator).every((name) => Object.hasOwn(inputs, name.trim())),
    );
    if (!areNames || !cells.some((cell) => cell.includes(separator))) continue;
    throw separatedBy(called);
  }
}

/**
 * Checks a header that names inputs for what programs write into one by themselves: a column for the rows' index,
 * numbers behind repeated names, a first line for Excel. Other names that no input has are not looked at.
 * @throws ServingError BAD_INPUT that says what to leave out or to change
 */
export function requireOwnNames(
  cells: readonly string[],
  header: string | undefined,
  { inputs }: Pick<Signature, 'inputs'>,
): void {
  const [first = ''] = cells;
  if (isForExcel(first)) throw new ServingError('BAD_INPUT', leaveOut(first));
  const isName = (cell: string) => Object.hasOwn(inputs, cell.trim());
  if (header === 'absent' || !cells.some(isName)) return;
  const isMadeUp = (cell: string) => isUnnamed(cell) || isName(withoutNumber(cell));
  // A line that nobody calls a header may be data.
  if (header !== 'present' && !cells.every((cell) => isName(cell) || isMadeUp(cell))) return;
  const at = cells.findIndex((cell) => !isName(cell));
  const cell = cells[at];
  if (cell === undefined || !isMadeUp(cell)) return;
  if (isUnnamed(cell)) throw unnamedColumn(at);
  const names = [...new Set(cells.map((each) => withoutNumber(each)).filter(isName))];
  throw new ServingError(
    'BAD_INPUT',
    `column ${at + 1}: '${shortened(cell.trim())}' is a repeated name as pandas numbers it. Name each column: ${headerLine(names, inputs)}`,
  );
}

/** A column without a name as it is written, or as pandas calls it after reading it. */
function isUnnamed(cell: string): boolean {
  return /^\s*(?:Unnamed: \d+)?\s*$/.test(cell);
}

/** `visits` of `visits.1`. */
function withoutNumber(cell: string): string {
  return cell.trim().replace(/\.\d+$/, '');
}

function unnamedColumn(at: number): ServingError {
  return new ServingError(
    'BAD_INPUT',
    `column ${at + 1} has no name. An index of pandas has none: write the CSV with to_csv(index=False).`,
  );
}

/** Excel reads the separator from a line of its own, such as `sep=;`. */
function isForExcel(first: string): boolean {
  return /^sep=.?$/i.test(first.trim());
}

function leaveOut(first: string): string {
  return `'${first.trim()}' is a line for Excel. Leave it out, and separate the cells by commas.`;
}

/**
 * Checks a header that does not name the only input, whose columns are taken in their order.
 * @throws ServingError BAD_INPUT for a column without a name, other separators, or numbers, which are data
 */
export function requireColumnNames(
  cells: readonly string[],
  name: string,
  { inputs }: Pick<Signature, 'inputs'>,
): void {
  const takes = columnsOf(name, inputs);
  const called = separatorIn(cells);
  if (called && takes !== undefined && takes !== cells.length) throw separatedBy(called);
  const unnamed = cells.findIndex((cell) => cell.trim() === '');
  if (unnamed >= 0) throw unnamedColumn(unnamed);
  // Names that pandas makes up are numbers, too.
  const areCounted = cells.every((cell, at) => cell.trim() === `${at}`);
  if (inputs[name]?.dtype === 'string' || areCounted || !cells.every(isNumber)) return;
  throw new ServingError(
    'BAD_INPUT',
    'it has numbers alone. If they are data, send the CSV without header=present. If they are names, leave that line out.',
  );
}

/** What may be wrong with a first line that is not declared and that the input does not take. */
export function firstLineHint(cells: readonly string[]): string {
  const [first = ''] = cells;
  if (isForExcel(first)) return ` ${leaveOut(first)}`;
  const called = separatorIn(cells);
  if (called) return ` Cells are separated by commas, and this line has ${called}.`;
  if (cells.some(isNumber)) return '';
  return ' If the first line names the columns, send it as text/csv;header=present.';
}

function isNumber(cell: string): boolean {
  return cell.trim() !== '' && Number.isFinite(Number(cell));
}

/** Undefined if no cell has another separator in it. */
function separatorIn(cells: readonly string[]): string | undefined {
  return SEPARATORS.find(([separator]) => cells.some((cell) => cell.includes(separator)))?.[1];
}

function separatedBy(called: string): ServingError {
  return new ServingError(
    'BAD_INPUT',
    `the cells of the CSV are separated by ${called}. Separate them by commas.`,
  );
}

const SEPARATORS = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
] as const;

function count(columns: number): string {
  return columns === 1 ? '1 column' : `${columns} columns`;
}

/** Undefined if the signature leaves it open. */
function columnsOf(name: string, inputs: Inputs): number | undefined {
  const shape = inputs[name]?.shape;
  const instance = shape?.slice(1);
  if (!instance || instance.some((size) => size < 0)) return undefined;
  return instance.reduce((product, size) => product * size, 1);
}
