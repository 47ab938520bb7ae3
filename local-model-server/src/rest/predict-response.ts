/** Answers of `:predict`, in chunks. */
import { dataTypeString, invalidArgument } from '@sagemaker-tfs/libtensorflow/serving';
import { type DType, elementCount, type Tensor, type TensorMap } from '@sagemaker-tfs/tensors';
import type { JsonFormat } from './predict-request.ts';
import { writeRowsJson, writeValueJson } from './value-json.ts';

/** TensorFlow Serving's REST API writes no numbers of these dtypes (AddSingleValueAndAdvance in util/json_tensor.cc). */
const UNWRITTEN: ReadonlySet<DType> = new Set<DType>(['float16', 'bfloat16', 'uint16']);

/** The outputs in the format that the inputs came in. @throws StatusError INVALID_ARGUMENT */
export function predictionsJson(
  outputs: TensorMap,
  format: JsonFormat,
): Iterable<string | Uint8Array> {
  const entries = Object.entries(outputs);
  for (const [, { dtype, shape }] of entries) {
    if (!UNWRITTEN.has(dtype) || elementCount(shape) === 0) continue;
    throw invalidArgument(`Failed to write JSON value for tensor type: ${dataTypeString(dtype)}`);
  }
  if (entries.length === 0) throw invalidArgument('Cannot convert empty tensor map to JSON');
  if (format === 'columnar') return columns(entries);
  const count = batchSize(entries);
  const [only] = entries;
  return entries.length === 1 && only ? singleRows(only) : namedRows(entries, count);
}

type NamedTensor = readonly [name: string, tensor: Tensor];

/** `{"predictions": [row, row]}`: one output has no name. */
function* singleRows([name, tensor]: NamedTensor): Generator<string | Uint8Array> {
  yield '{\n    "predictions": ';
  yield* writeValueJson(tensor, name);
  yield '\n}';
}

/** `{"predictions": [{"a": .., "b": ..}, {..}]}` */
function* namedRows(
  entries: readonly NamedTensor[],
  count: number,
): Generator<string | Uint8Array> {
  const outputs = entries.map(([name, tensor]) => ({ name, rows: writeRowsJson(tensor, name) }));
  yield '{\n    "predictions": [';
  for (let row = 0; row < count; row += 1) {
    yield row === 0 ? '\n        {' : ',\n        {';
    for (const [index, { name, rows }] of outputs.entries()) {
      yield `${index === 0 ? '' : ','}\n            ${JSON.stringify(name)}: `;
      yield* rows.next().value ?? [];
    }
    yield '\n        }';
  }
  yield '\n    ]\n}';
}

/** `{"outputs": value}`, or `{"outputs": {"a": .., "b": ..}}` where there are several. */
function* columns(entries: readonly NamedTensor[]): Generator<string | Uint8Array> {
  yield '{\n    "outputs": ';
  const [only] = entries;
  if (entries.length === 1 && only) {
    yield* writeValueJson(only[1], only[0]);
  } else {
    yield '{';
    for (const [index, [name, tensor]] of entries.entries()) {
      yield `${index === 0 ? '' : ','}\n        ${JSON.stringify(name)}: `;
      yield* writeValueJson(tensor, name);
    }
    yield '\n    }';
  }
  yield '\n}';
}

function batchSize(entries: readonly NamedTensor[]): number {
  let count: number | undefined;
  for (const [name, { shape }] of entries) {
    const [rows] = shape;
    if (rows === undefined) {
      throw invalidArgument(`Tensor name: ${name} has no shape information `);
    }
    if (count !== undefined && rows !== count) {
      throw invalidArgument(
        `Tensor name: ${name} has inconsistent batch size: ${rows} expecting: ${count}`,
      );
    }
    count = rows;
  }
  return count ?? 0;
}
