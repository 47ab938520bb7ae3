/** A state that calls the function behind a batch transform. */

import type { RunError } from '../errors.ts';
import { jsonata } from './jsonata.ts';
import { statesArn } from './states-arn.ts';

/**
 * Errors that say the same the next time; all others, Lambda's and S3's own among them, are tried again. A broken
 * connection and a failed lookup of a name arrive as plain `Error`.
 */
const LASTING_ERRORS = [
  'ConstructError',
  'BatchError',
  'TypeError',
  'SyntaxError',
  'ZodError',
  'NoSuchBucket',
  'NoSuchKey',
  'AccessDenied',
];

/** Up to six more tries, within about two minutes. */
export const BACK_OFF = {
  IntervalSeconds: 2,
  BackoffRate: 2,
  MaxAttempts: 6,
  JitterStrategy: 'FULL',
} as const;

/**
 * Lambda's own: the function was not called. All functions of an account share its concurrency, so others may take it for
 * longer than one call lasts.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/bp-lambda-serviceexception.html
 * @see https://docs.aws.amazon.com/lambda/latest/dg/lambda-concurrency.html
 */
const NOT_CALLED = [
  'Lambda.TooManyRequestsException',
  'Lambda.ServiceException',
  'Lambda.AWSLambdaException',
  'Lambda.SdkClientException',
];

/** Up to 60 more tries, within about two hours. */
const PATIENCE = { ...BACK_OFF, MaxDelaySeconds: 300, MaxAttempts: 60 };

/**
 * Time-outs, memory and throttling of Lambda, and throttling by S3.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html
 */
const RETRY = [
  { ErrorEquals: LASTING_ERRORS, MaxAttempts: 0 },
  { ErrorEquals: NOT_CALLED, ...PATIENCE },
  { ErrorEquals: ['States.ALL'], ...BACK_OFF },
];

/** JSONata of the message of an error that the function threw. */
export const FUNCTION_ERROR = `(
  $cause := $states.errorOutput.Cause;
  $thrown := $substring($trim($cause), 0, 1) = "{" ? $parse($cause) : {};
  $exists($thrown.errorMessage) ? $thrown.errorMessage : $cause
)`;

/**
 * Calls the function; the answer is `$states.result.Payload`.
 * @param payload JSONata of the request
 * @param Output JSONata of the state's output
 */
export function callFunction(functionArn: string, payload: string, Output: string, Next: string) {
  return {
    Type: 'Task',
    Resource: statesArn('lambda:invoke'),
    Arguments: { FunctionName: functionArn, Payload: jsonata(payload) },
    Retry: RETRY,
    Output: jsonata(Output),
    Next,
  };
}

/**
 * JSONata of `{error, reason}`, which the machine fails with.
 * @param reason JSONata
 */
export function runFailure(error: RunError, reason: string): string {
  return `{ "error": "${error}", "reason": ${reason} }`;
}

/** `Catch` that fails the execution with the function's message. */
export function failWith(error: RunError, Next: string) {
  const Output = jsonata(runFailure(error, FUNCTION_ERROR));
  return { Catch: [{ ErrorEquals: ['States.ALL'], Output, Next }] };
}
