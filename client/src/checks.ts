/** What callers without TypeScript get wrong, said before anything is sent. */
import type { RequestBody } from './body/request-body.ts';
import { PredictionError } from './errors/prediction-error.ts';
import type { RetryOptions } from './retry.ts';

/** More milliseconds than this and a timer goes off at once. */
const MAX_SECONDS = Math.floor((2 ** 31 - 1) / 1000);

/** @throws PredictionError BAD_OPTION for what names neither a runtime nor an endpoint */
export function checkTarget(target: unknown): void {
  const how = 'Pass { url } of a runtime or { endpointName } of an endpoint.';
  if (typeof target !== 'object' || target === null) {
    throw badOption(`the target is ${kindOf(target)}. ${how}`);
  }
  if (!('url' in target)) checkEndpoint(target, how);
}

/** @throws PredictionError BAD_OPTION for what names no endpoint */
export function checkEndpoint(target: unknown, how = 'Pass { endpointName }.'): void {
  if (typeof target !== 'object' || target === null) {
    throw badOption(`the target is ${kindOf(target)}. ${how}`);
  }
  const name = 'endpointName' in target ? target.endpointName : undefined;
  if (typeof name !== 'string' || name === '') {
    throw badOption(
      `endpointName of the target is ${name === '' ? 'empty' : kindOf(name)}. ${how}`,
    );
  }
}

/** @throws PredictionError BAD_OPTION for what is no body, as a bare object that was meant as JSON */
export function checkBody(
  body: Partial<RequestBody> | undefined,
  contentType: string | undefined,
): void {
  const how = 'Pass jsonBody(value), tensorsBody(tensors), imagesBody(images), bytes or text.';
  if (typeof body !== 'object' || body === null || !ArrayBuffer.isView(body.bytes)) {
    throw badOption(`the body is ${kindOf(body)}, and not one that can be sent. ${how}`);
  }
  if (typeof (contentType ?? body.contentType) !== 'string') {
    throw badOption(`contentType of the body is ${kindOf(body.contentType)}. ${how}`);
  }
}

/** @throws PredictionError BAD_OPTION for numbers that cannot be meant */
export function checkNumbers(
  options: RetryOptions & {
    readonly timeoutSeconds?: number;
    readonly wakeSeconds?: number;
    readonly maxAnswerBytes?: number;
  },
): void {
  const { retries = 0, timeoutSeconds = 1, wakeSeconds = 0, maxAnswerBytes = 1 } = options;
  if (!(Number.isInteger(retries) || retries === Number.POSITIVE_INFINITY) || retries < 0) {
    throw badOption(`retries is ${retries}. Pass 0 or a larger whole number.`);
  }
  if (!(timeoutSeconds > 0 && timeoutSeconds <= MAX_SECONDS)) {
    throw badOption(
      `timeoutSeconds is ${timeoutSeconds}. Pass more than 0 and at most ${MAX_SECONDS}.`,
    );
  }
  if (!(maxAnswerBytes > 0)) {
    throw badOption(`maxAnswerBytes is ${maxAnswerBytes}. Pass 1 or more.`);
  }
  if (!(wakeSeconds >= 0)) throw badOption(`wakeSeconds is ${wakeSeconds}. Pass 0 or more.`);
}

function badOption(message: string): PredictionError {
  return new PredictionError('BAD_OPTION', message);
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
