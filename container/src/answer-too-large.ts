/** The error for an answer of the model beyond the limit. */
import { MAX_RESPONSE_BYTES } from './environment-variables.ts';
import { ServingError } from './errors.ts';

/** @param maxBytes the limit, which cannot always be raised */
export function answerTooLarge(what: string, maxBytes: number, cause: Error): ServingError {
  const advice =
    maxBytes < MAX_RESPONSE_BYTES
      ? 'send fewer rows, or raise SAGEMAKER_TFS_MAX_RESPONSE_BYTES'
      : 'or send fewer rows: SAGEMAKER_TFS_MAX_RESPONSE_BYTES has its greatest value';
  const message = `${what}. Ask for fewer outputs with tfs-outputs, ${advice}.`;
  return new ServingError('RESPONSE_TOO_LARGE', message, { cause });
}
