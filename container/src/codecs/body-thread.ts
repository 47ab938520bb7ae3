/** Large JSON and CSV bodies, read in a thread. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import type { Answer } from '../threads/answer-tasks.ts';
import { type HandedTensors, handedOver, takenOver } from '../threads/handed-tensors.ts';
import { readInThread, type TextTask } from '../threads/text-threads.ts';
import type { DecodeContext, DecodedRequest } from './codec.ts';
import { csvRequest } from './csv.ts';
import { inputError } from './input-error.ts';
import { jsonRequest } from './json-request.ts';

/** A body to read. */
export interface BodyTask extends TextTask {
  readonly kind: 'json' | 'csv';
  readonly context: Omit<DecodeContext, 'signal'>;
}

/** A request as it comes from the thread. */
export type HandedRequest = Omit<DecodedRequest, 'inputs'> & { readonly inputs: HandedTensors };

/** Has a thread read a body; see {@link readInThread}. */
export async function readBodyInThread(
  task: BodyTask,
  signal?: AbortSignalLike,
): Promise<DecodedRequest | undefined> {
  const read = await readInThread<HandedRequest>(task, signal);
  return read && { ...read, inputs: await takenOver(read.inputs, signal) };
}

/** What the thread does. @throws ServingError (4xx) */
export async function answerBody({
  kind,
  body,
  context,
}: BodyTask): Promise<Answer<HandedRequest>> {
  const codec = kind === 'json' ? jsonRequest : csvRequest;
  try {
    const decoded = await codec.decode(body, context);
    const { tensors: inputs, moved } = handedOver(decoded.inputs);
    return { result: { ...decoded, inputs }, moved };
  } catch (error) {
    throw inputError(error);
  }
}
