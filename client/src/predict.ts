/** `predict`: one request to a runtime or an endpoint, and its answer. */
import { parseCustomAttributes } from '@sagemaker-tfs/tensors/custom-attributes';
import { type Answer, readAnswer } from './answer/answer.ts';
import type { RequestBody } from './body/request-body.ts';
import { checkBody, checkNumbers, checkTarget } from './checks.ts';
import {
  checkCustomAttributes,
  formatCustomAttributes,
  type RequestAttributes,
} from './custom-attributes.ts';
import { timedOut } from './errors/network-error.ts';
import { type RetryOptions, withRetries } from './retry.ts';
import { endpointTransport } from './targets/endpoint.ts';
import type { OutgoingRequest, Target, Transport } from './targets/target.ts';
import { urlTransport } from './targets/url.ts';
import { whenAwake } from './when-awake.ts';

/** How a prediction is asked for. */
export interface PredictOptions extends RetryOptions {
  /** Media type of the body. Default: the body builder's; `application/json` for text, else `application/octet-stream`. */
  readonly contentType?: string;
  /** Media type of the answer, for example `application/x-npz`. Default: the server's choice, usually JSON. */
  readonly accept?: string;
  /** What to ask of the runtime; text is sent as it is. */
  readonly customAttributes?: RequestAttributes | string;
  /** The model of a multi-model endpoint. */
  readonly targetModel?: string;
  /** A production variant; endpoints only. */
  readonly targetVariant?: string;
  /** SageMaker's name of an inference component; endpoints only. */
  readonly inferenceComponent?: string;
  /**
   * Seconds to wait for a component that sleeps: the request is sent again every 15 seconds until there is a copy. Default:
   * 0, which throws ASLEEP at once.
   */
  readonly wakeSeconds?: number;
  /** Ends the call; its reason is then thrown. */
  readonly signal?: AbortSignal;
  /**
   * Bytes that an answer may hold, decompressed, and so may the arrays of its npz. More is ANSWER_TOO_LARGE; `predictStream` holds
   * nothing, and has no limit. Default: 1 GiB.
   */
  readonly maxAnswerBytes?: number;
  /** Seconds that each try may take. Default: 70, as SageMaker allows 60 for real-time answers. */
  readonly timeoutSeconds?: number;
}

const TIMEOUT_SECONDS = 70;
const MAX_ANSWER_BYTES = 1024 ** 3;

/**
 * Sends one request and reads the answer.
 * @param body from `tensorsBody`, `jsonBody` or `imagesBody`, or bytes or text with `contentType`
 * @throws PredictionError with the container's own message if it answered with an error, BAD_OPTION for what cannot
 *   be sent; the signal's reason if the caller ended the call
 */
export async function predict(
  target: Target,
  body: RequestBody | Uint8Array | string,
  options: PredictOptions = {},
): Promise<Answer> {
  const answer = await call(target, body, options, (transport, request, deadline) =>
    transport.send(request).finally(deadline.end),
  );
  const asked = options.customAttributes;
  const outputs = typeof asked === 'object' ? asked.outputs : undefined;
  return readAnswer(answer, { outputs, maxBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES });
}

/** An answer whose body is still coming. */
export interface StreamedAnswer
  extends Pick<Answer, 'status' | 'contentType' | 'customAttributes'> {
  /**
   * The body as it arrives, for an answer too large to hold or a handler that answers bit by bit. Iterate it
   * once; leaving the loop ends the request. It throws as `predict` does, ANSWER_CUT if a part is missing.
   */
  readonly chunks: AsyncIterable<Uint8Array>;
}

/**
 * As {@link predict}, with the answer's body in chunks; `timeoutSeconds` counts until its end. An endpoint is
 * called by InvokeEndpointWithResponseStream.
 */
export async function predictStream(
  target: Target,
  body: RequestBody | Uint8Array | string,
  options: PredictOptions = {},
): Promise<StreamedAnswer> {
  const answer = await call(target, body, options, async (transport, request, deadline) => {
    const stream = await transport.stream(request).catch((error: unknown) => {
      deadline.end();
      throw error;
    });
    return { ...stream, chunks: closing(stream.chunks, deadline.end) };
  });
  return { ...answer, customAttributes: parseCustomAttributes(answer.customAttributes) };
}

/** What a transport is asked to do with a request. */
type Use<T> = (transport: Transport, request: OutgoingRequest, deadline: Deadline) => Promise<T>;

async function call<T>(
  target: Target,
  body: RequestBody | Uint8Array | string,
  options: PredictOptions,
  use: Use<T>,
): Promise<T> {
  checkTarget(target);
  checkNumbers(options);
  const request = requestOf(body, options);
  const transport =
    'url' in target ? urlTransport(target, options.targetModel) : await endpointTransport(target);
  const retry = transport.retriesItself ? { ...options, retries: 0 } : options;
  return whenAwake(
    () => withRetries(() => attempt(transport, request, options, use), retry),
    options,
  );
}

function requestOf(
  body: RequestBody | Uint8Array | string,
  options: PredictOptions,
): Omit<OutgoingRequest, 'signal'> {
  const { bytes, contentType } = bodyOf(body, options.contentType);
  const asked = options.customAttributes ?? {};
  if (typeof asked === 'string') checkCustomAttributes(asked);
  return {
    body: bytes,
    contentType: options.contentType ?? contentType,
    accept: options.accept,
    customAttributes: typeof asked === 'string' ? asked : formatCustomAttributes(asked),
    targetModel: options.targetModel,
    targetVariant: options.targetVariant,
    inferenceComponent: options.inferenceComponent,
    maxAnswerBytes: options.maxAnswerBytes ?? MAX_ANSWER_BYTES,
  };
}

function bodyOf(
  body: RequestBody | Uint8Array | string,
  contentType: string | undefined,
): RequestBody {
  if (typeof body === 'string') {
    return { bytes: new TextEncoder().encode(body), contentType: 'application/json' };
  }
  if (body instanceof Uint8Array) return { bytes: body, contentType: 'application/octet-stream' };
  checkBody(body, contentType);
  return body;
}

async function attempt<T>(
  transport: Transport,
  request: Omit<OutgoingRequest, 'signal'>,
  { signal: callers, timeoutSeconds = TIMEOUT_SECONDS }: PredictOptions,
  use: Use<T>,
): Promise<T> {
  callers?.throwIfAborted();
  const deadline = startDeadline(timeoutSeconds, transport.address);
  const signal = callers ? AbortSignal.any([callers, deadline.signal]) : deadline.signal;
  return use(transport, { ...request, signal }, deadline);
}

/** A limit of time. */
interface Deadline {
  /** Aborts with TIMEOUT when the time is over. */
  readonly signal: AbortSignal;
  /** Stops the timer: the work is done. */
  readonly end: () => void;
}

function startDeadline(seconds: number, address: string): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(timedOut(address, seconds)), seconds * 1000);
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}

async function* closing<T>(items: AsyncIterable<T>, close: () => void): AsyncGenerator<T, void> {
  try {
    yield* items;
  } finally {
    close();
  }
}
