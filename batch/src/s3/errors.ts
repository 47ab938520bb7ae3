/** What errors of the AWS SDK say about the next try. */

/** HTTP status of an error of the AWS SDK; undefined for any other error, and if no answer came. */
export function httpStatusOf(error: unknown): number | undefined {
  return (error as { $metadata?: { httpStatusCode?: number } } | undefined)?.$metadata
    ?.httpStatusCode;
}

/**
 * Whether S3 says that the object of a GET is not there, though its bucket is. Status 404 alone may be a proxy's, or that
 * of a server which is not S3.
 */
export function isAbsent(error: unknown): boolean {
  return (error as { name?: unknown } | undefined)?.name === 'NoSuchKey';
}

/**
 * Codes of S3 for a request that it would refuse for any object: of credentials, clock, signature or account.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html#ErrorCodeList
 */
const OF_CALLER: ReadonlySet<unknown> = new Set([
  'AccountProblem',
  'AllAccessDisabled',
  'AuthorizationHeaderMalformed',
  'ExpiredToken',
  'InvalidAccessKeyId',
  'InvalidSecurity',
  'InvalidToken',
  'NotSignedUp',
  'RequestExpired',
  'RequestTimeTooSkewed',
  'SignatureDoesNotMatch',
  'TokenRefreshRequired',
]);

/** Whether S3 refuses the caller, and not what was asked. */
export function isOfCaller(error: unknown): boolean {
  return OF_CALLER.has((error as { name?: unknown } | undefined)?.name);
}

/** Codes of Node for a connection that breaks, also within a body, or whose host was not resolved in time. */
const BROKEN: ReadonlySet<unknown> = new Set([
  'ECONNRESET',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'ERR_STREAM_PREMATURE_CLOSE',
]);

/** Whether the connection broke or fell silent, so that the same call may work at once. */
export function isBrokenConnection(error: unknown): boolean {
  const { code, name } = (error ?? {}) as { code?: unknown; name?: unknown };
  return BROKEN.has(code) || name === 'TimeoutError';
}

/** Whether KMS, which S3 asks for the key of an object, is asked too often. S3 answers it with 400. */
export function isThrottledByKms(error: unknown): boolean {
  return (error as { name?: unknown } | undefined)?.name === 'KMS.ThrottlingException';
}

/**
 * Codes for too many calls, of all services. Those other than S3 answer them with 400.
 * @see https://github.com/smithy-lang/smithy-typescript/blob/main/packages/service-error-classification/src/constants.ts
 */
const THROTTLED =
  /^(SlowDown|Throttl|RequestThrottled|TooManyRequests|RequestLimitExceeded|BandwidthLimitExceeded)/;

/** Whether a service is asked too often. */
export function isThrottled(error: unknown): boolean {
  const { name } = (error ?? {}) as { name?: unknown };
  return httpStatusOf(error) === 429 || isThrottledByKms(error) || THROTTLED.test(String(name));
}

/** Whether an error is about a service or the way to it, and not about what was asked: the same call may work later. */
export function isPassing(error: unknown): boolean {
  const status = httpStatusOf(error);
  if (status !== undefined) return status >= 500 || isThrottled(error);
  const { syscall } = (error ?? {}) as { syscall?: string };
  return isBrokenConnection(error) || syscall !== undefined;
}
