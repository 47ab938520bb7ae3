import { TensorError } from '@sagemaker-tfs/tensors';
import { PredictionError } from '../errors/prediction-error.ts';

/** Runs `read`; bytes that are not what they should be become UNREADABLE_ANSWER. */
export function reading<T>(what: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    // Nested deeper than the stack.
    if (cause instanceof RangeError) {
      throw unreadable(`the answer is not readable as ${what}: ${cause.message}.`, cause);
    }
    if (!(cause instanceof TensorError)) throw cause;
    if (cause.code === 'TOO_LARGE') {
      const message = `the answer, as ${what}, is too large: ${cause.message}. Ask for fewer outputs, or raise maxAnswerBytes.`;
      throw new PredictionError('ANSWER_TOO_LARGE', message, { cause });
    }
    throw unreadable(`the answer is not readable as ${what}: ${cause.message}`, cause);
  }
}

/** The error for an answer that does not hold what was asked of it. */
export function unreadable(message: string, cause?: unknown): PredictionError {
  return new PredictionError('UNREADABLE_ANSWER', message, cause === undefined ? {} : { cause });
}
