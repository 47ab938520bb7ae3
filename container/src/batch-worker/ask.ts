/** One inference without HTTP: a body in, the body of the answer out. */
import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import { ServingError } from '../errors.ts';
import { modelOf, prepare } from '../http/prepare.ts';
import type { Services } from '../http/services.ts';
import { parseRequestAttributes } from '../inference/custom-attributes.ts';
import { HeldResults } from '../inference/held-results.ts';
import { Stopwatch } from '../observability/timings.ts';
import { type RequestSignal, timedSignal } from '../waiting/request-signal.ts';

/** What every body of a run is asked with: the headers of a request. */
export interface Question {
  readonly contentType: string;
  readonly accept: string | undefined;
  readonly customAttributes: string;
}

/** An answer, whole. */
export interface WholeAnswer {
  readonly body: Uint8Array;
  readonly contentType: string | undefined;
}

/** Nothing but the worker's own limits counts what it holds. */
const TICKET = { hold: () => undefined, take: () => undefined };

/**
 * What `POST /invocations` answers with 200.
 * @throws ServingError, HttpError for what it would answer otherwise
 */
export async function ask(
  services: Services,
  body: Uint8Array,
  question: Question,
  requestId: string,
): Promise<WholeAnswer> {
  const { signal, timer } = timedSignal(services.environment.limits.requestTimeoutMs);
  const results = new HeldResults();
  const workDone = results.use();
  // What hangs may still read the results, and keeps them.
  const work = answer(services, body, question, { requestId, signal, results }).finally(workDone);
  try {
    return await Promise.race([work, hanging(signal)]);
  } finally {
    clearTimeout(timer);
  }
}

/** Thrown where a handler continues although its signal has aborted. */
export class HandlerHangs extends ServingError {}

/** Milliseconds that a handler has to end after its signal has aborted. */
const END_WITHIN = 1_000;

/** Rejects some time after the signal aborts. */
function hanging(signal: RequestSignal): Promise<never> {
  return new Promise((_, reject) => {
    const late = () => {
      const { message } = signal.reason as ServingError;
      setTimeout(() => reject(new HandlerHangs('REQUEST_TIMEOUT', message)), END_WITHIN);
    };
    signal.addEventListener('abort', late, { once: true });
  });
}

async function answer(
  services: Services,
  body: Uint8Array,
  { contentType, accept, customAttributes }: Question,
  rest: { requestId: string; signal: RequestSignal; results: HeldResults },
): Promise<WholeAnswer> {
  const attributes = parseRequestAttributes(customAttributes);
  const headers = {
    'content-type': contentType,
    ...(accept !== undefined && { accept }),
    ...(customAttributes !== '' && { [CUSTOM_ATTRIBUTES_HEADER.toLowerCase()]: customAttributes }),
  };
  const prepared = await prepare(services, {
    request: { headers },
    contentLength: body.byteLength,
    modelName: modelOf(attributes, services),
    attributes,
    stopwatch: new Stopwatch(),
    ticket: TICKET,
    ...rest,
  });
  const answered = await prepared.answer(body);
  const bytes = await whole(answered.body);
  if (answered.status === 200) return { body: bytes, contentType: answered.contentType };
  throw new ServingError('HANDLER_FAILED', Buffer.from(bytes).toString('utf8').slice(0, 1_000), {
    status: answered.status,
  });
}

/** A copy: the pieces may be the model's memory, which is used again. */
async function whole(
  pieces: readonly Uint8Array[] | AsyncIterable<Uint8Array>,
): Promise<Uint8Array> {
  const all: Uint8Array[] = [];
  for await (const piece of pieces) all.push(Buffer.from(piece));
  return all.length === 1 ? (all[0] as Uint8Array) : Buffer.concat(all);
}
