/** A runtime at a plain URL, by fetch. */
import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import { containerError } from '../errors/container-error.ts';
import { answerCut, networkError } from '../errors/network-error.ts';
import { PredictionError } from '../errors/prediction-error.ts';
import { retryAfter } from '../errors/service-error.ts';
import type {
  AnswerHead,
  IncomingAnswer,
  IncomingStream,
  OutgoingRequest,
  Transport,
  UrlTarget,
} from './target.ts';

/** @throws PredictionError BAD_OPTION for what is no http or https URL */
export function urlTransport({ url }: UrlTarget, targetModel: string | undefined): Transport {
  const address = invocationsUrl(url, targetModel);
  return {
    address,
    retriesItself: false,
    send: (request) => send(address, request),
    stream: (request) => stream(address, request),
  };
}

function invocationsUrl(url: string, targetModel: string | undefined): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (!parsed || !/^https?:$/.test(parsed.protocol)) {
    throw new PredictionError(
      'BAD_OPTION',
      `"${url}" is not an http or https URL. Write it like http://127.0.0.1:8080.`,
    );
  }
  if (parsed.pathname === '/') {
    parsed.pathname = targetModel
      ? `/models/${encodeURIComponent(targetModel)}/invoke`
      : '/invocations';
  }
  return parsed.href;
}

async function send(address: string, request: OutgoingRequest): Promise<IncomingAnswer> {
  const response = await post(address, request);
  return { ...headOf(response), bytes: await readBody(response, address, request.signal) };
}

async function stream(address: string, request: OutgoingRequest): Promise<IncomingStream> {
  const response = await post(address, request);
  return { ...headOf(response), chunks: chunksOf(response, address, request.signal) };
}

/** The answer's head, with its body still to be read. */
async function post(address: string, request: OutgoingRequest): Promise<Response> {
  const { signal } = request;
  const response = await fetch(address, {
    method: 'POST',
    headers: {
      'Content-Type': request.contentType,
      ...(request.accept && { Accept: request.accept }),
      ...(request.customAttributes && { [CUSTOM_ATTRIBUTES_HEADER]: request.customAttributes }),
    },
    // fetch takes any view, shared memory aside.
    body: request.body as Uint8Array<ArrayBuffer>,
    signal,
  }).catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : networkError(cause, address);
  });
  if (!response.ok) throw errorOf(response, await readBody(response, address, signal), address);
  return response;
}

function headOf(response: Response): AnswerHead {
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    customAttributes: response.headers.get(CUSTOM_ATTRIBUTES_HEADER) ?? '',
  };
}

async function readBody(
  response: Response,
  address: string,
  signal: AbortSignal,
): Promise<Uint8Array> {
  const bytes = await response.arrayBuffer().catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : answerCut(cause, address);
  });
  return new Uint8Array(bytes);
}

/** By a reader, as not every browser iterates streams. */
async function* chunksOf(
  response: Response,
  address: string,
  signal: AbortSignal,
): AsyncGenerator<Uint8Array, void> {
  const reader = response.body?.getReader();
  if (!reader) return;
  try {
    for (let step = await reader.read(); !step.done; step = await reader.read()) yield step.value;
  } catch (cause) {
    throw signal.aborted ? signal.reason : answerCut(cause, address);
  } finally {
    // Ends the request where the caller stops early; after the end it does nothing.
    await reader.cancel().catch(() => undefined);
  }
}

function errorOf(response: Response, bytes: Uint8Array, address: string): PredictionError {
  const { status } = response;
  const body = new TextDecoder().decode(bytes);
  return containerError(
    { status, body, from: address, fallbackCode: `HTTP_${status}` },
    { retryAfterSeconds: retryAfter(response.headers.get('retry-after')) },
  );
}
