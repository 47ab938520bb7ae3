/** TensorFlow Serving's large answers over REST, read in a thread. */
import type { AbortSignalLike, TensorMap } from '@sagemaker-tfs/tensors';
import type { Answer } from '../../threads/answer-tasks.ts';
import { type HandedTensors, handedOver, takenOver } from '../../threads/handed-tensors.ts';
import { readInThread, type TextTask } from '../../threads/text-threads.ts';
import { type ReplyRead, readPredictReply } from './predict-json.ts';

/** An answer to read, as {@link readPredictReply} reads it. */
export interface ReplyTask extends TextTask, ReplyRead {
  readonly kind: 'reply';
}

/**
 * The outputs in an answer, read in a thread where that pays.
 * @returns undefined if the answer's lists do not tell the shape of an output
 * @throws ServingError as {@link readPredictReply}
 */
export async function readReply(
  body: Uint8Array,
  how: ReplyRead,
  signal: AbortSignalLike | undefined,
): Promise<TensorMap | undefined> {
  const task: ReplyTask = { kind: 'reply', body, ...how };
  const read = await readInThread<ReplyResult>(task, signal);
  if (read === undefined) return readPredictReply(body, how);
  return read === UNTOLD ? undefined : takenOver(read, signal);
}

/** The thread's answer where {@link readPredictReply} returns undefined. */
const UNTOLD = 'untold';
/** What comes out of the thread. */
export type ReplyResult = HandedTensors | typeof UNTOLD;

/** What the thread does. @throws ServingError as {@link readPredictReply} */
export function answerReply({ body, ...how }: ReplyTask): Answer<ReplyResult> {
  const read = readPredictReply(body, how);
  if (!read) return { result: UNTOLD, moved: [] };
  const { tensors, moved } = handedOver(read);
  return { result: tensors, moved };
}
