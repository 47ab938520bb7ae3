/** Large tf.Examples for Classify and Regress, checked in a thread. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import type { Answer } from '../threads/answer-tasks.ts';
import { readInThread, type TextTask } from '../threads/text-threads.ts';
import { checkExample } from './check-example.ts';
import { reading } from './input-error.ts';
import type { ExampleLimits } from './tf-example.ts';

/** An example to check. */
export interface ExampleTask extends TextTask {
  readonly kind: 'example';
  readonly limits: ExampleLimits;
  /** What messages call it. */
  readonly where: string;
}

/**
 * {@link checkExample}, in a thread where that pays.
 * @throws ServingError BAD_INPUT or REQUEST_TOO_LARGE, `where` before the message
 */
export async function checkLargeExample(
  task: Omit<ExampleTask, 'kind'>,
  signal?: AbortSignalLike,
): Promise<void> {
  const checked = await readInThread<true>({ kind: 'example', ...task }, signal);
  if (!checked) answerExample({ kind: 'example', ...task });
}

/** What the thread does. @throws ServingError as {@link checkLargeExample} */
export function answerExample({ body, limits, where }: ExampleTask): Answer<true> {
  reading(() => checkExample(body, limits), where);
  return { result: true, moved: [] };
}
