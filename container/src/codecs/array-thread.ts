/** Arrays of `.npy` and `.npz` bodies as an input takes them: where every element is work, in a thread. */
import {
  type AbortSignalLike,
  decodeNpy,
  dtypeAsItLies,
  type Signature,
  type Tensor,
} from '@sagemaker-tfs/tensors';
import type { Answer } from '../threads/answer-tasks.ts';
import { type HandedTensors, handedOver, takenOver } from '../threads/handed-tensors.ts';
import { readInThread, type TextTask } from '../threads/text-threads.ts';
import { fitInput, kindOf } from './fit-input.ts';
import { reading } from './input-error.ts';

/** An array to read: its file is the task's `body`. */
export interface ArrayTask extends TextTask {
  readonly kind: 'array';
  /** Of the input. */
  readonly name: string;
  readonly signature: Signature;
  readonly maxStrings: number;
  /** What an error says before what is wrong with the file. */
  readonly where: string;
}

/**
 * The input that a `.npy` file holds. Other orders, other dtypes, truth values and strings are read in a thread where
 * they are large; what is to be taken as it lies is a view on the file.
 * @throws ServingError BAD_INPUT and UNKNOWN_INPUT; REQUEST_TOO_LARGE for more strings than there may be
 */
export async function readArray(task: ArrayTask, signal?: AbortSignalLike): Promise<Tensor> {
  const read = isAsItLies(task) ? undefined : await readInThread<HandedTensors>(task, signal);
  if (!read) return fitted(task);
  const { [task.name]: tensor } = await takenOver(read, signal);
  return tensor as Tensor;
}

/** What the thread does. @throws ServingError as {@link readArray} */
export function answerArray(task: ArrayTask): Answer<HandedTensors> {
  const { tensors, moved } = handedOver({ [task.name]: fitted(task) });
  return { result: tensors, moved };
}

function isAsItLies({ body, name, signature, where }: ArrayTask): boolean {
  const dtype = reading(() => dtypeAsItLies(body), where);
  const wanted = signature.inputs[name]?.dtype;
  return dtype !== undefined && (wanted === undefined || wanted === dtype);
}

function fitted({ body, name, signature, maxStrings, where }: ArrayTask): Tensor {
  const kind = kindOf(signature.inputs[name]);
  const tensor = reading(() => decodeNpy(body, { kind, maxStrings }), where);
  return fitInput(tensor, name, signature);
}
