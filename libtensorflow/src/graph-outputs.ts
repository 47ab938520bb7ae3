/** Names of tensors in a graph (`operation:index`) as the `TF_Output` structs that the C API takes. */
import type { CApi, Pointer } from './c-api.ts';
import { LibTensorFlowError } from './errors.ts';

/**
 * An array of `TF_Output { TF_Operation* oper; int index; }` (tensorflow/c/c_api.h), 16 bytes each.
 * @throws LibTensorFlowError RUN_FAILED if the signature names a tensor that the graph lacks
 */
export function graphOutputs(
  api: CApi,
  graph: Pointer,
  tensorNames: readonly string[],
): BigUint64Array {
  const outputs = new BigUint64Array(2 * tensorNames.length);
  tensorNames.forEach((tensorName, position) => {
    const { operation, index } = parseTensorName(tensorName);
    const oper = api.TF_GraphOperationByName(graph, operation);
    if (oper === null) {
      throw new LibTensorFlowError(
        'RUN_FAILED',
        `the signature names the tensor "${tensorName}", which the model's graph lacks. Export it again.`,
      );
    }
    outputs[2 * position] = oper;
    outputs[2 * position + 1] = BigInt(index);
  });
  return outputs;
}

/** A name without an index means output 0. */
function parseTensorName(tensorName: string): { operation: string; index: number } {
  const match = /^(.*):(\d+)$/.exec(tensorName);
  return match
    ? { operation: match[1] as string, index: Number(match[2]) }
    : { operation: tensorName, index: 0 };
}
