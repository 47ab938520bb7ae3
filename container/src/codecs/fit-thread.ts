/** Large tensors fitted to the signature in a thread: every element is converted and compared. */
import {
  byteLength,
  isNumeric,
  type NumericTensor,
  type Signature,
  type Tensor,
} from '@sagemaker-tfs/tensors';
import type { Answer } from '../threads/answer-tasks.ts';
import { type HandedTensors, handedOver, takenOver } from '../threads/handed-tensors.ts';
import { runInThread, type ThreadTask } from '../threads/text-threads.ts';
import type { DecodeContext } from './codec.ts';
import { fitInput } from './fit-input.ts';

/** A tensor to fit. */
export interface FitTask extends ThreadTask {
  readonly kind: 'fit';
  readonly tensor: NumericTensor;
  readonly name: string;
  readonly signature: Signature;
}

/**
 * {@link fitInput}, in a thread where that pays; the tensor's memory may go over to the thread.
 * @throws ServingError as it does
 */
export async function fitLargeInput(
  tensor: Tensor,
  name: string,
  { signature, signal }: Pick<DecodeContext, 'signature' | 'signal'>,
): Promise<Tensor> {
  const dtype = signature.inputs[name]?.dtype;
  const isWork = isNumeric(tensor) && dtype !== undefined && dtype !== tensor.dtype;
  if (!isWork) return fitInput(tensor, name, signature);
  const fitted = await runInThread<HandedTensors>(
    byteLength(tensor),
    () => {
      const { tensors, moved } = handedOver({ [name]: tensor });
      const task: FitTask = {
        kind: 'fit',
        tensor: tensors[name] as NumericTensor,
        name,
        signature,
      };
      return { task, moved };
    },
    signal,
  );
  if (!fitted) return fitInput(tensor, name, signature);
  return (await takenOver(fitted, signal))[name] as Tensor;
}

/** What the thread does. @throws ServingError as {@link fitInput} */
export function answerFit({ tensor, name, signature }: FitTask): Answer<HandedTensors> {
  const { tensors, moved } = handedOver({ [name]: fitInput(tensor, name, signature) });
  return { result: tensors, moved };
}
