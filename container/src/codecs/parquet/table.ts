/** All columns of a Parquet file, as tensors of one dimension. */
import { numericTensor, stringTensor, type Tensor } from '@sagemaker-tfs/tensors';
import type { Column, Footer } from './footer.ts';
import { type PageBudget, readChunk } from './pages.ts';
import { bad } from './thrift.ts';
import { type Values, valuesOf } from './values.ts';

/**
 * Reads every column.
 * @param maxBytes of all pages, unpacked
 * @param maxFields of the head of a page
 * @param maxPages of all columns
 * @throws TensorError
 */
export async function readTable(
  file: Uint8Array,
  { columns, groups }: Footer,
  {
    maxBytes,
    maxFields,
    maxPages,
  }: { readonly maxBytes: number; readonly maxFields: number; readonly maxPages: number },
  nextTurn: () => Promise<unknown>,
): Promise<{ readonly column: Column; readonly tensor: Tensor }[]> {
  const budget: PageBudget = { bytes: maxBytes, maxFields, pages: maxPages };
  const read: { column: Column; tensor: Tensor }[] = [];
  for (const [i, column] of columns.entries()) {
    const chunks = groups.map((group) => ({ rows: group.rows, chunk: group.chunks[i] }));
    const into = valuesOf(
      column.physical,
      chunks.reduce((sum, { chunk }) => sum + (chunk?.values ?? 0), 0),
    );
    let at = 0;
    let width: number | undefined;
    for (const { rows, chunk } of chunks) {
      if (!chunk || rows === 0) continue;
      width ??= chunk.values / rows;
      if (width !== chunk.values / rows || !Number.isInteger(width)) {
        throw bad(`has column '${column.name}' with lists of several lengths`);
      }
      await readChunk(file, column, chunk, { into, at, rows }, budget, nextTurn);
      at += chunk.values;
    }
    read.push({ column, tensor: tensorOf(column, into) });
  }
  return read;
}

function tensorOf({ dtype }: Column, { bytes, texts, size }: Values): Tensor {
  if (dtype === 'string') return stringTensor([texts.length], texts);
  return numericTensor(dtype, [bytes.length / size], bytes);
}
