/** Answers in CSV: a line an instance. */
import { isUtf8 } from 'node:buffer';
import {
  elementCount,
  isNumeric,
  reshape,
  type Tensor,
  type TensorMap,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import { utf8Parts } from '@sagemaker-tfs/tensors/utf8-parts';
import { ServingError } from '../errors.ts';
import { eachInTurns } from '../waiting/in-turns.ts';
import type { ResponseCodec } from './codec.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { outputShapes } from './output-shapes.ts';
import { countRows, errorRow, recordRows, rowReader } from './rows.ts';
import { type Pieces, textBody } from './text-body.ts';

/**
 * Each instance's elements in row-major order, the outputs side by side in the order asked for; the custom
 * attribute `tfs-output-shapes` tells how many columns are whose. Numbers as in JSON (`NaN`, `Infinity`,
 * `true`); strings are quoted, and must be UTF-8. There is no header line.
 */
export const csvResponse: ResponseCodec = {
  mediaTypes: ['text/csv'],
  async encode(outputs, context) {
    const ordered = orderedOutputs(outputs, context);
    await checkText(ordered);
    const isNothing = context.badRecords !== undefined && Object.keys(ordered).length === 0;
    const count = isNothing ? 0 : countRows(ordered, 'text/csv', 'line');
    return {
      contentType: 'text/csv',
      body: textBody(outputs, lines(ordered, recordRows(count, context.badRecords))),
      customAttributes: outputShapes(ordered),
    };
  },
};

function* lines(outputs: TensorMap, rows: Iterable<number | string>): Pieces {
  const readers = Object.values(outputs)
    .filter(({ shape }) => elementCount(shape.slice(1)) > 0)
    .map(rowReader);
  for (const index of rows) {
    if (typeof index === 'string') {
      yield `${quoted(Buffer.from(errorRow(index)))}\n`;
      continue;
    }
    for (const [place, row] of readers.entries()) {
      if (place > 0) yield ',';
      yield* cells(row(index));
    }
    yield '\n';
  }
}

function cells(row: Tensor): Pieces {
  if (!isNumeric(row)) return quotedCells(row.values);
  return withoutBrackets(writeTensorJson(reshape(row, [elementCount(row.shape)])));
}

/** Bytes of a part that long strings are written in. */
const PART_BYTES = 2 ** 15;

/** One by one: a row may have a million. */
function* quotedCells(values: readonly Uint8Array[]): Pieces {
  let comma = '';
  for (const value of values) {
    if (value.byteLength <= PART_BYTES) yield `${comma}${quoted(value)}`;
    else {
      yield `${comma}"`;
      for (const part of utf8Parts(value, PART_BYTES)) yield quoted(part).slice(1, -1);
      yield '"';
    }
    comma = ',';
  }
}

/** The elements of a JSON list as they stand between its brackets. */
function* withoutBrackets(list: Iterable<Uint8Array>): Pieces {
  let held: Uint8Array | undefined;
  let start = 1;
  for (const chunk of list) {
    if (held) yield held.subarray(start);
    if (held) start = 0;
    held = chunk;
  }
  if (held) yield held.subarray(start, -1);
}

function quoted(value: Uint8Array): string {
  const text = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('utf8');
  return `"${text.replaceAll('"', '""')}"`;
}

/**
 * Before the first byte is sent: an answer of pieces can no longer be refused.
 * @throws ServingError NOT_ACCEPTABLE for bytes that are no text; base64 would be taken for text
 */
async function checkText(outputs: TensorMap): Promise<void> {
  for (const [name, tensor] of Object.entries(outputs)) {
    if (isNumeric(tensor)) continue;
    const check = (value: Uint8Array): void => {
      if (isUtf8(value)) return;
      throw new ServingError(
        'NOT_ACCEPTABLE',
        `text/csv is UTF-8, but output '${name}' has bytes that are not. Accept application/json, where they are {"b64": "..."}, or ask for other outputs with tfs-outputs.`,
      );
    };
    await eachInTurns(tensor.values, check, { bytesOf: ({ byteLength }) => byteLength });
  }
}
