/** Failures without an answer: what Node's fetch, the AWS SDK and browsers throw, explained. */
import { type ClientCode, PredictionError } from './prediction-error.ts';

const REFUSED = ['ECONNREFUSED'];
const LOST = ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET'];
const NO_HOST = ['ENOTFOUND', 'EAI_AGAIN', 'EAI_NONAME'];
const TIMEOUTS = ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_HEADERS_TIMEOUT'];

/**
 * The error for a request to `address` that failed before an answer came.
 * @param unknownHost what to do if its host is not known
 */
export function networkError(
  cause: unknown,
  address: string,
  unknownHost = 'Check its name and the network.',
): PredictionError {
  const [code, message] = explain(cause, address, unknownHost);
  return new PredictionError(code, message, { cause });
}

/** The error for an incomplete answer. */
export function answerCut(cause: unknown, address: string): PredictionError {
  return new PredictionError(
    'ANSWER_CUT',
    `the connection to ${address} ended within the answer. The server's log may say why.`,
    { cause },
  );
}

/** The error for an answer beyond the caller's limit. */
export function answerTooLarge(from: string, maxBytes: number): PredictionError {
  return new PredictionError(
    'ANSWER_TOO_LARGE',
    `the answer of ${from} holds more than ${maxBytes} bytes. Ask for fewer outputs, raise maxAnswerBytes, or read it with predictStream.`,
  );
}

/** The error for no answer in time. */
export function timedOut(address: string, timeoutSeconds: number): PredictionError {
  return new PredictionError(
    'TIMEOUT',
    `${address} did not answer within ${timeoutSeconds} s. Send less in one request, or raise timeoutSeconds.`,
  );
}

function explain(cause: unknown, address: string, unknownHost: string): [ClientCode, string] {
  const codes = systemCodes(cause);
  const has = (list: readonly string[]) => list.some((code) => codes.includes(code));
  if (has(REFUSED)) {
    return ['CONNECTION_REFUSED', `nothing listens at ${address}. Is the runtime started?`];
  }
  if (has(LOST)) {
    return ['CONNECTION_LOST', `the connection to ${address} ended before an answer came.`];
  }
  if (has(NO_HOST)) {
    const host = hostOf(cause);
    const named = host === undefined || address.includes(host) ? 'the host' : `the host ${host}`;
    return ['HOST_NOT_FOUND', `${named} of ${address} is not known. ${unknownHost}`];
  }
  if (has(TIMEOUTS)) return ['TIMEOUT', `${address} cannot be reached in time.`];
  return [
    'NETWORK_FAILED',
    `the request to ${address} failed (${rootMessage(cause)}). Check that the server is up; from a browser, that it allows this page's origin (CORS).`,
  ];
}

function rootMessage(error: unknown): string {
  if (typeof error !== 'object' || error === null) return String(error);
  const { message, cause } = error as { message?: unknown; cause?: unknown };
  return cause === undefined ? String(message) : rootMessage(cause);
}

/** The name that was looked up. */
function hostOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { hostname, cause } = error as { hostname?: unknown; cause?: unknown };
  return typeof hostname === 'string' ? hostname : hostOf(cause);
}

/** System codes of the error, of what caused it, and of each address that was tried. */
function systemCodes(error: unknown): string[] {
  if (typeof error !== 'object' || error === null) return [];
  const { code, cause, errors } = error as { code?: unknown; cause?: unknown; errors?: unknown };
  const own = typeof code === 'string' ? [code] : [];
  const tried = Array.isArray(errors) ? errors.flatMap(systemCodes) : [];
  return [...own, ...systemCodes(cause), ...tried];
}
