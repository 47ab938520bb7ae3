/** TensorFlow Serving's large answers over REST, read in a thread. */
import type { AbortSignalLike, Signature, TensorMap } from '@sagemaker-tfs/tensors';
import type { Answer } from '../../threads/answer-tasks.ts';
import { type HandedTensors, handedOver, takenOver } from '../../threads/handed-tensors.ts';
import { readInThread, type TextTask } from '../../threads/text-threads.ts';
import { readPredictReply } from './predict-json.ts';

/** An answer to read, as {@link readPredictReply} reads it. */
export interface ReplyTask extends TextTask {
  readonly kind: 'reply';
  readonly signature: Signature;
  readonly outputs: readonly string[] | undefined;
}

/** The outputs in an answer, read in a thread where that pays. @throws ServingError as {@link readPredictReply} */
export async function readReply(
  body: Uint8Array,
  signature: Signature,
  outputs: readonly string[] | undefined,
  signal: AbortSignalLike | undefined,
): Promise<TensorMap> {
  const task: ReplyTask = { kind: 'reply', body, signature, outputs };
  const read = await readInThread<HandedTensors>(task, signal);
  return read ? takenOver(read, signal) : readPredictReply(body, signature, outputs);
}

/** What the thread does. @throws ServingError as {@link readPredictReply} */
export function answerReply({ body, signature, outputs }: ReplyTask): Answer<HandedTensors> {
  const { tensors, moved } = handedOver(readPredictReply(body, signature, outputs));
  return { result: tensors, moved };
}
