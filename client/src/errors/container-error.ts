/** The container's own words, from the body of its error answer. */
import { PredictionError, type PredictionErrorOptions } from './prediction-error.ts';

/** Characters of a body that is not ours (a proxy's page, for example) that a message repeats. */
const SHOWN = 500;

/** Characters of an error in the form of ours; the runtime's are shorter. */
const MOST_SHOWN = 10_000;

/** Codes as the catalogues have them; another server's may be anything. */
const CODE = /^[A-Za-z][\w.-]{0,63}$/;

/** What the caller can do, by status, if the message alone does not say it. */
const ADVICE: Readonly<Record<number, string>> = {
  401: 'The address asks for credentials that predict() does not send.',
  403: 'The address refuses this caller.',
  404: 'Is there a serving runtime at this address, and does it have this model?',
  413: 'Send fewer or smaller records in one request.',
  429: 'Send fewer requests at a time, or try again later.',
  502: 'The proxy before the runtime could not reach it.',
  503: 'The model is loading or its server restarts: try again later.',
  504: 'The model took too long: send less at a time, or allow it more time.',
};

/** An error answer's body. */
interface ErrorAnswer {
  readonly status: number;
  readonly body: string;
  /** Who answered, for the message: a URL or an endpoint. */
  readonly from: string;
  /** Code if the body names none. */
  readonly fallbackCode: string;
  /** Added to the message, for example where the log is. */
  readonly hint?: string | undefined;
}

/** The error for `{"error": message, "code": code}`, TensorFlow Serving's `{"error"}` or any other body. */
export function containerError(answer: ErrorAnswer, options?: PredictionErrorOptions) {
  const { status, from, body, fallbackCode, hint } = answer;
  const told = parseError(body);
  const text = told?.message || shorten(body) || 'no explanation';
  const advice = told?.code ? undefined : ADVICE[status];
  const parts = [`${from} answered ${status}: ${text}`, advice, hint];
  return new PredictionError(told?.code ?? fallbackCode, parts.filter(Boolean).join('\n'), {
    ...options,
    status,
  });
}

function parseError(body: string): { message: string; code: string | undefined } | undefined {
  try {
    const { error, code } = JSON.parse(body) as { error?: unknown; code?: unknown };
    if (typeof error !== 'string') return undefined;
    const isCode = typeof code === 'string' && CODE.test(code);
    return { message: shorten(error, MOST_SHOWN), code: isCode ? code : undefined };
  } catch {
    return undefined;
  }
}

function shorten(body: string, most = SHOWN): string {
  // On one line: others are the client's own.
  const text = body.trim().replace(/[\r\n]\s*/g, ' ');
  return text.length > most ? `${text.slice(0, most)}...` : text;
}
