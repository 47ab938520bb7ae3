/** What is wrong with a line of CSV that is to name the inputs, and what it should be. */
import type { Signature } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';

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
  if (unnamed >= 0) {
    throw new ServingError(
      'BAD_INPUT',
      `column ${unnamed + 1} has no name. An index of pandas has none: write the CSV with to_csv(index=False).`,
    );
  }
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
