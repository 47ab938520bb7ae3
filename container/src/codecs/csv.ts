/** CSV as body (`text/csv`): a line an instance. */
import type { Signature, TensorMap } from '@sagemaker-tfs/tensors';
import { parseMediaType } from '@sagemaker-tfs/tensors/media-type';
import type { DecodeLimits } from '../decode-limits.ts';
import { ServingError } from '../errors.ts';
import type { DecodeContext, DecodedRequest, RequestCodec } from './codec.ts';
import { type CellCollector, cellCollector } from './csv-cells.ts';
import { readCsv } from './csv-reader.ts';
import { onlyInput, unknownInput } from './input-error.ts';

const CSV = 'text/csv';

/**
 * The signature decides what a cell is: text for a DT_STRING input, `true`, `false`, 1 or 0 for a bool, else a
 * number (`nan`, `inf`, `-inf` included), with or without space around it. Text keeps its space. One column is a scalar for each instance, several fill the
 * instance's shape. With `; header=present` (RFC 4180) the first line names the columns after inputs, which
 * several inputs need; an input that names several columns takes them in their order.
 */
export const csvRequest: RequestCodec = {
  mediaTypes: [CSV],
  async decode(body, context): Promise<DecodedRequest> {
    let columns = hasHeader(context) ? undefined : unnamedColumns(context);
    let width: number | undefined;
    let rows = 0;
    await readCsv(
      body,
      ({ cells, line }) => {
        if (!columns) {
          columns = namedColumns(cells, context);
          width = cells.length;
          return;
        }
        width ??= cells.length;
        checkWidth(cells.length, width, line);
        columns.add(cells, line);
        rows += 1;
      },
      { trim: !takesText(context.signature), signal: context.signal },
    );
    if (!columns || width === undefined || rows === 0) {
      throw new ServingError('BAD_INPUT', 'the CSV has no instances. Send at least one line.');
    }
    return { inputs: columns.tensors(rows, width), form: 'row' };
  },
};

/** Where any input takes text, space counts in the whole body; numbers lose theirs by themselves. */
export function takesText({ inputs }: Pick<Signature, 'inputs'>): boolean {
  return Object.values(inputs).some(({ dtype }) => dtype === 'string');
}

/** Which cells of a line go where. */
interface Columns {
  add(cells: readonly string[], line: number): void;
  tensors(rows: number, width: number): TensorMap;
}

function unnamedColumns({ signature, limits }: DecodeContext): Columns {
  const name = onlyInput(signature, `${CSV} without header=present`);
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
  if (names.length === 1 && !header.includes(names[0] as string)) return unnamedColumns(context);
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

function hasHeader({ contentType }: DecodeContext): boolean {
  return parseMediaType(contentType).parameters.header?.toLowerCase() === 'present';
}

function checkWidth(cells: number, width: number, line: number): void {
  if (cells === width) return;
  throw new ServingError('BAD_INPUT', `line ${line} has ${cells} columns, expected ${width}`);
}
