/** Answers in Parquet: a row an instance, a column an output. */
import { isUtf8 } from 'node:buffer';
import { isNumeric, type Tensor, type TensorMap } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { eachInTurns } from '../waiting/in-turns.ts';
import type { ResponseCodec } from './codec.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { groupRows, MAX_PAGE_BYTES, writeTable } from './parquet/write-table.ts';
import { type WrittenColumn, writtenColumn } from './parquet/written-column.ts';
import { countRows } from './rows.ts';
import { textBody } from './text-body.ts';

const PARQUET = 'application/x-parquet';

/**
 * An instance of a scalar is a scalar, others are lists, as deep as the instance has dimensions. Bytes that are no UTF-8
 * have no type. It is made while it is sent, from the tensors as they lie.
 */
export const parquetResponse: ResponseCodec = {
  mediaTypes: [PARQUET],
  async encode(outputs, context) {
    const ordered = orderedOutputs(outputs, context);
    const rows = countRows(ordered, PARQUET, 'row');
    const columns = await columnsOf(ordered);
    checkPages(columns, rows);
    return { contentType: PARQUET, body: textBody(outputs, writeTable(columns, rows)) };
  },
};

async function columnsOf(outputs: TensorMap): Promise<WrittenColumn[]> {
  const columns: WrittenColumn[] = [];
  for (const [name, tensor] of Object.entries(outputs)) {
    columns.push(writtenColumn(name, tensor, await isText(tensor)));
  }
  return columns;
}

async function isText(tensor: Tensor): Promise<boolean> {
  if (isNumeric(tensor)) return false;
  let all = true;
  await eachInTurns(
    tensor.values,
    (value) => {
      all &&= isUtf8(value);
    },
    { bytesOf: (value) => value.byteLength },
  );
  return all;
}

/** @throws ServingError NOT_ACCEPTABLE for rows that are too large for a page */
function checkPages(columns: readonly WrittenColumn[], rows: number): void {
  const step = groupRows(columns);
  for (const { name, pageSize } of columns) {
    for (let row = 0; row < rows; row += step) {
      if (pageSize(row, Math.min(rows, row + step)) <= MAX_PAGE_BYTES) continue;
      throw new ServingError(
        'NOT_ACCEPTABLE',
        `output '${name}' has rows that are too large for ${PARQUET}. Accept application/x-npz.`,
      );
    }
  }
}
