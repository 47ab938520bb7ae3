/** Sends each sample once before anything is measured: one that is refused would be an error of every setting. */

import { PredictionError, type Target } from '@sagemaker-tfs/client';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { CommandError, explain } from '../errors.ts';
import { countedAnswer } from '../serving/counted-answer.ts';
import type { Samples } from './load.ts';

/** Samples that a message names. */
const NAMED = 3;

/** @throws CommandError TUNE_FAILED with the samples that were refused, and the answer to the first of them */
export async function trySamples(
  target: Target,
  { requests, accept }: Samples,
  signal: AbortSignal,
): Promise<void> {
  const refused: { readonly name: string; readonly error: PredictionError }[] = [];
  for (const { body, name, contentType } of requests) {
    try {
      await countedAnswer(target, body, { contentType, signal, ...(accept && { accept }) });
    } catch (error) {
      // Without a status nobody answered, which is no matter of the sample.
      if (!(error instanceof PredictionError) || error.status === undefined) throw error;
      refused.push({ name, error });
    }
  }
  const [first] = refused;
  if (!first) return;
  const answer = sentence(explain(first.error));
  throw new CommandError(
    'TUNE_FAILED',
    messageOf(
      refused.map(({ name }) => name),
      requests.length,
      answer,
    ),
  );
}

function messageOf(refused: readonly string[], all: number, answer: string): string {
  if (refused.length === all) {
    return `every sample was refused, ${refused[0]} with: ${answer} Name others, or give their --content-type.`;
  }
  if (refused.length === 1) {
    return `one of ${all} samples was refused, ${refused[0]}: ${answer} Leave it out, or correct it.`;
  }
  const more = refused.length > NAMED ? ` and ${refused.length - NAMED} more` : '';
  return `${refused.length} of ${all} samples were refused, ${refused.slice(0, NAMED).join(', ')}${more}, the first with: ${answer} Leave them out, or correct them.`;
}
