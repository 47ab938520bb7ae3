/** CSV as body (`text/csv`): a line an instance. */
import type { Signature, TensorMap } from '@sagemaker-tfs/tensors';
import { parseMediaType } from '@sagemaker-tfs/tensors/media-type';
import type { DecodeLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import type { DecodeContext, DecodedRequest, RequestCodec } from './codec.ts';
import { type CellCollector, cellCollector } from './csv-cells.ts';
import {
  firstLineHint,
  headerLine,
  namesInputs,
  requireColumnNames,
  requireColumns,
  requireCommas,
  requireOwnNames,
} from './csv-header.ts';
import { type CsvRow, readCsv } from './csv-reader.ts';
import { onlyInputOf, reading, unknownInput } from './input-error.ts';

const CSV = 'text/csv';

/**
 * The signature decides what a cell is: text for a DT_STRING input, `true`, `false`, 1 or 0 for a bool, else a
 * number (`nan`, `inf`, `-inf` included), with or without space around it. Text keeps its space. One column is a scalar for each instance, several fill the
 * instance's shape. With `; header=present` (RFC 4180) the first line names the columns after inputs; several inputs need it,
 * declared or not. An input that names several columns takes them in their order. A first line
 * that only repeats the only input's name is a header if others follow, unless `; header=absent`.
 */
export const csvRequest: RequestCodec = {
  mediaTypes: [CSV],
  async decode(body, context): Promise<DecodedRequest> {
    const table = tableFor(context);
    const trim = !takesText(context.signature);
    await readCsv(body, table.add, { trim, places: context.places, signal: context.signal });
    return { inputs: table.tensors(), form: 'row' };
  },
};

/** Takes the rows of a body. The first may be its header. */
function tableFor(context: DecodeContext) {
  const { signature } = context;
  const header = headerOf(context);
  const only = header === 'present' ? undefined : onlyInputOf(signature);
  let columns = only === undefined ? undefined : unnamedColumns(only, context);
  let width: number | undefined;
  let rows = 0;
  /** A first line of names, data if no other follows. */
  let held: CsvRow | undefined;
  let isNamed = false;
  const addNames = (cells: readonly string[]) => {
    columns = reading(() => namedColumns(cells, context), 'the header');
    width = cells.length;
    isNamed = true;
  };
  const addData = ({ cells, line }: CsvRow) => {
    width ??= cells.length;
    checkWidth(cells.length, width, line);
    try {
      columns?.add(cells, line);
    } catch (error) {
      if (rows > 0 || isNamed || header !== undefined || !(error instanceof ServingError))
        throw error;
      const message = `${error.message}${firstLineHint(cells)}`;
      throw new ServingError(error.code, message, { cause: error });
    }
    rows += 1;
  };
  return {
    add(row: CsvRow): void {
      const { cells } = row;
      if (!columns) {
        requireCommas(cells, signature);
        reading(() => requireOwnNames(cells, header, signature), 'the header');
        if (header !== 'present') requireHeader(cells, header, signature);
        addNames(cells);
      } else if (width === undefined && !held && namesInputs(cells, header, signature)) {
        held = row;
      } else {
        if (held) addNames(held.cells);
        held = undefined;
        addData(row);
      }
    },
    tensors(): TensorMap {
      if (held) addData(held);
      if (columns && width !== undefined && rows > 0) return columns.tensors(rows, width);
      const what = isNamed
        ? 'the CSV has a header and no values. Send the header and its lines in one request: a batch job with splitType Line parts them.'
        : 'the CSV has no instances. Send at least one line.';
      throw new ServingError('BAD_INPUT', what);
    },
  };
}

/** Where any input takes text, space counts in the whole body; numbers lose theirs by themselves. */
export function takesText({ inputs }: Pick<Signature, 'inputs'>): boolean {
  return Object.values(inputs).some(({ dtype }) => dtype === 'string');
}

/** Which cells of a line go where. */
interface Columns {
  add(cells: readonly string[], line: number): void;
  tensors(rows: number, width: number): TensorMap;
}

function unnamedColumns(name: string, { signature, limits }: DecodeContext): Columns {
  const collector = collectorFor(name, signature, limits);
  return {
    add(cells, line) {
      for (let at = 0; at < cells.length; at++) collector.add(cells[at] as string, line, at + 1);
    },
    tensors: (rows, width) => ({ [name]: collector.tensor(rows, width) }),
  };
}

/** With a single input, columns may have any name; with several, the name decides. */
function namedColumns(cells: readonly string[], context: DecodeContext): Columns {
  const { signature, limits } = context;
  const names = Object.keys(signature.inputs);
  const header = cells.map((cell) => cell.trim());
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0 && !header.includes(only)) {
    requireColumnNames(header, only, signature);
    return unnamedColumns(only, context);
  }
  const inputs = new Map<string, { collector: CellCollector; at: number[] }>();
  header.forEach((name, at) => {
    const known = inputs.get(name);
    if (known) known.at.push(at);
    else
      inputs.set(name, {
        collector: collectorFor(name, signature, limits),
        at: [at],
      });
  });
  const entries = [...inputs];
  requireColumns(
    entries.map(([name, { at }]) => ({ name, columns: at.length })),
    signature,
  );
  return {
    add(row, line) {
      for (const [, { collector, at }] of entries) {
        for (const index of at) collector.add(row[index] as string, line, index + 1);
      }
    },
    tensors: (rows) =>
      Object.fromEntries(
        entries.map(([name, { collector, at }]) => [name, collector.tensor(rows, at.length)]),
      ),
  };
}

function collectorFor(name: string, signature: Signature, limits: DecodeLimits): CellCollector {
  const spec = signature.inputs[name];
  if (!spec || !Object.hasOwn(signature.inputs, name)) throw unknownInput(name, signature);
  return cellCollector(name, spec, limits);
}

/** @throws ServingError BAD_INPUT if a cell of the first line names no input: columns without names cannot be distinguished */
function requireHeader(
  cells: readonly string[],
  header: string | undefined,
  { key, inputs }: Signature,
): void {
  if (namesInputs(cells, header, { inputs })) return;
  const names = Object.keys(inputs);
  throw new ServingError(
    'BAD_INPUT',
    `the first line of the CSV does not name the inputs, and signature '${key}' has ${names.length}. Send text/csv;header=present with this line first: ${headerLine(names, inputs)}`,
  );
}

function headerOf({ contentType }: DecodeContext): string | undefined {
  return parseMediaType(contentType).parameters.header?.toLowerCase();
}

function checkWidth(cells: number, width: number, line: number): void {
  if (cells === width) return;
  throw new ServingError('BAD_INPUT', `line ${line} has ${cells} columns, expected ${width}`);
}
