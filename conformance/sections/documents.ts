/** Values in REST requests. */
import { DTYPES, type DType, isNumeric, type Tensor } from '@sagemaker-tfs/tensors';
import { parseBody, parsedFor } from '../../local-model-server/src/rest/json-body.ts';
import { readInputs } from '../../local-model-server/src/rest/predict-request.ts';
import { bytesOf, type Case, type Section, same } from './case.ts';

function differsAsJson({ dtype, literal, bytes }: Case): string | undefined {
  const type = dtype as DType;
  const x = { tensorName: 'x:0', dtype: type, dtypeEnum: DTYPES[type].enumValue, shape: undefined };
  const signature = { key: 'serving_default', methodName: '', inputs: { x }, outputs: {} };
  const body = Buffer.from(`{"inputs": {"x": ${literal}}}`);
  try {
    const { inputs } = readInputs(
      parsedFor(signature, body, parseBody(body)),
      signature,
      new Set(),
    );
    const tensor = inputs.x as Tensor;
    const [value] = isNumeric(tensor) ? [tensor.bytes] : tensor.values;
    if (bytes === null) return literal === '[]' ? undefined : 'taken';
    return value && same(value, bytesOf(bytes)) ? undefined : 'another value';
  } catch {
    return bytes === null ? undefined : 'refused';
  }
}

/** Values in REST requests, alone. */
export const documents: readonly Section[] = [
  {
    file: 'json_values',
    title: "Values in the local model server's REST requests, every dtype",
    reference: "TensorFlow Serving's rules (util/json_tensor.cc), written anew",
    tolerance: 'taken or refused, and every bit',
    differs: differsAsJson,
  },
];
