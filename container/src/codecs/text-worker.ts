/** What a thread runs that reads large text: JSON and CSV bodies in, tensors out. */
import type { Tensor, TensorMap } from '@sagemaker-tfs/tensors';
import { readPredictReply } from '../backends/rest/predict-json.ts';
import { type Answer, answerTasks } from '../threads/answer-tasks.ts';
import type { DecodedRequest } from './codec.ts';
import { csvRequest } from './csv.ts';
import { inputError } from './input-error.ts';
import { jsonRequest } from './json-request.ts';
import type { TextResult, TextTask } from './text-pool.ts';

answerTasks<TextTask, TextResult>(async (task): Promise<Answer<TextResult>> => {
  if (task.kind === 'reply') {
    const outputs = readPredictReply(task.body, task.signature, task.outputs);
    return movedOver({ inputs: outputs, form: 'columnar' });
  }
  const codec = task.kind === 'json' ? jsonRequest : csvRequest;
  try {
    return movedOver(await codec.decode(task.body, task.context));
  } catch (error) {
    throw inputError(error);
  }
});

/** Numbers go over in the memory that they lie in. */
function movedOver(decoded: DecodedRequest): Answer<TextResult> {
  const entries = Object.entries(decoded.inputs).map(([name, tensor]) => [name, alone(tensor)]);
  const inputs = Object.fromEntries(entries) as TensorMap;
  const buffers = Object.values(inputs).flatMap((tensor) =>
    tensor.dtype === 'string' ? [] : [tensor.bytes.buffer as ArrayBuffer],
  );
  return { result: { ...decoded, inputs }, moved: [...new Set(buffers)] };
}

/** The tensor with its bytes in a buffer that holds nothing else and may leave this thread. */
function alone(tensor: Tensor): Tensor {
  if (tensor.dtype === 'string') return tensor;
  const { bytes } = tensor;
  const isAlone = bytes.byteLength === bytes.buffer.byteLength && !Buffer.isBuffer(bytes);
  return isAlone ? tensor : { ...tensor, bytes: new Uint8Array(bytes) };
}
