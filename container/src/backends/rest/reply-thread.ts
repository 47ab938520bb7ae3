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

/**
 * The outputs in an answer, read in a thread where that pays.
 * @returns undefined if the answer's lists do not tell the shape of an output
 * @throws ServingError as {@link readPredictReply}
 */
export async function readReply(
  body: Uint8Array,
  signature: Signature,
  outputs: readonly string[] | undefined,
  signal: AbortSignalLike | undefined,
): Promise<TensorMap | undefined> {
  const task: ReplyTask = { kind: 'reply', body, signature, outputs };
  const read = await readInThread<ReplyResult>(task, signal);
  if (read === undefined) return readPredictReply(body, signature, outputs);
  return read === UNTOLD ? undefined : takenOver(read, signal);
}

/** The thread's answer where {@link readPredictReply} returns undefined. */
const UNTOLD = 'untold';
/** What comes out of the thread. */
export type ReplyResult = HandedTensors | typeof UNTOLD;

/** What the thread does. @throws ServingError as {@link readPredictReply} */
export function answerReply({ body, signature, outputs }: ReplyTask): Answer<ReplyResult> {
  const read = readPredictReply(body, signature, outputs);
  if (!read) return { result: UNTOLD, moved: [] };
  const { tensors, moved } = handedOver(read);
  return { result: tensors, moved };
}
