/** CSV with a header line; the columns that the model wants, in its order. */
import { parse } from 'csv-parse/sync';
import { type HandlerInput, HttpError, numericTensor } from 'sagemaker-tfs/handler';

const COLUMNS = ['length', 'width'];

export function inputHandler(data: Uint8Array): HandlerInput {
  const rows = readRows(data);
  const values = rows.flatMap((row) => COLUMNS.map((column) => numberOf(row, column)));
  const size = numericTensor('float32', [rows.length, COLUMNS.length], Float32Array.from(values));
  return { inputs: { size }, signature: 'raw' };
}

function readRows(data: Uint8Array): Record<string, string>[] {
  try {
    return parse(Buffer.from(data), { columns: true });
  } catch (error) {
    throw new HttpError(400, `the body is no CSV: ${(error as Error).message}`);
  }
}

function numberOf(row: Record<string, string>, column: string): number {
  const text = row[column]?.trim();
  if (text && !Number.isNaN(Number(text))) return Number(text);
  throw new HttpError(400, `${column} is no number: ${text ?? 'there is no such column'}.`);
}
