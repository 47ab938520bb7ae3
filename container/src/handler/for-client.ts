/** Errors of a handler that choose what their client sees. */
import { runtimeError } from '@sagemaker-tfs/tensors/runtime-errors';
import { inputError } from '../codecs/input-error.ts';
import { type ErrorCode, ServingError } from '../errors.ts';
import { type PlainError, readThrown } from '../thrown.ts';
import { HttpError, isHttpError } from './http-error.ts';
import { isOfInput } from './readers.ts';

/**
 * A copy of an error with a status of its own: an HttpError, one of the catalogue that `predict` threw, or what a reader
 * of `sagemaker-tfs/handler` found wrong with its input.
 * @returns undefined for anything else
 */
export function forClient(thrown: unknown): ServingError | HttpError | undefined {
  const kind = kindOf(thrown);
  if (!kind) return undefined;
  const read = readThrown(kind === 'input' ? inputError(thrown) : thrown);
  const copy = kind === 'http' ? httpError(read) : servingError(read);
  if (copy) copy.stack = read.stack;
  return copy;
}

function kindOf(thrown: unknown): 'serving' | 'input' | 'http' | undefined {
  try {
    if (isOfInput(thrown)) return 'input';
    if (thrown instanceof ServingError) return 'serving';
    return isHttpError(thrown) ? 'http' : undefined;
  } catch {
    return undefined;
  }
}

function servingError({ code, status, message }: PlainError): ServingError | undefined {
  if (!isCode(code) || !isErrorStatus(status)) return undefined;
  return new ServingError(code, message, { status });
}

function httpError({ code, status, message }: PlainError): HttpError | undefined {
  if (!isErrorStatus(status)) return undefined;
  return new HttpError(status, message, code === undefined ? {} : { code });
}

function isCode(code: string | undefined): code is ErrorCode {
  return code !== undefined && runtimeError(code) !== undefined;
}

/** Read twice, a getter may say two things. */
function isErrorStatus(status: number | undefined): status is number {
  return status !== undefined && status >= 400 && status <= 599;
}
