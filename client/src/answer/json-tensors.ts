/** Tensors from JSON answers: TensorFlow Serving's row form (`predictions`) and columnar form (`outputs`). */
import {
  concat,
  type DType,
  isBase64Object,
  own,
  parseJsonDocuments,
  type TensorMap,
  tensorFromJson,
} from '@sagemaker-tfs/tensors';
import { inferDType } from './infer-dtype.ts';
import { unreadable } from './reading.ts';
import { onlyName, type TensorAnswer } from './tensor-answer.ts';

/** Several documents (batch transform joins answers by lines) are one batch. */
export function jsonTensors(answer: TensorAnswer): TensorMap {
  const text = new TextDecoder().decode(answer.bytes);
  const columns = parseJsonDocuments(text).map((document) => columnsOf(document, answer));
  const [first] = columns;
  if (!first) throw unreadable('the answer is empty.');
  return Object.fromEntries(
    Object.keys(first).map((name) => {
      const values = columns.map((column) => column[name]);
      const dtype = own(answer.dtypes, name) ?? inferDType(values, name, text);
      return [name, joined(values, dtype, name)];
    }),
  );
}

function joined(values: readonly unknown[], dtype: DType, name: string) {
  const tensors = values.map((value) => tensorFromJson(dtype, value, name));
  return tensors.length === 1 && tensors[0] ? tensors[0] : concat(tensors);
}

/** Values by output name. */
function columnsOf(document: unknown, { outputs }: TensorAnswer): Record<string, unknown> {
  if (isObject(document)) {
    if (Array.isArray(document.predictions)) return rows(document.predictions, outputs);
    if (document.outputs !== undefined) {
      return isNamed(document.outputs)
        ? document.outputs
        : { [onlyName(outputs)]: document.outputs };
    }
  }
  throw unreadable(
    'the answer is JSON without "predictions" or "outputs", as a handler may give. Read it with json().',
  );
}

function rows(predictions: readonly unknown[], outputs: readonly string[] | undefined) {
  const [first] = predictions;
  if (!isNamed(first)) return { [onlyName(outputs)]: predictions };
  const columns = Object.keys(first).map((name): [string, unknown[]] => [
    name,
    predictions.map((row) => (isObject(row) ? own(row, name) : undefined)),
  ]);
  return Object.fromEntries(columns);
}

function isNamed(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !isBase64Object(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
