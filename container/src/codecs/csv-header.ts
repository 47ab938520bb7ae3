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
    throw new ServingError(
      'BAD_INPUT',
      `the cells of the CSV are separated by ${called}. Separate them by commas.`,
    );
  }
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
