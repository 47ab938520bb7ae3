/** A runtime at a plain URL, by fetch. */
import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import { containerError } from '../errors/container-error.ts';
import { answerCut, answerTooLarge, networkError } from '../errors/network-error.ts';
import { PredictionError } from '../errors/prediction-error.ts';
import { retryAfter } from '../errors/service-error.ts';
import { appended } from './appended.ts';
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

/** Bytes of an error that are read. */
const MAX_ERROR_BYTES = 1024 * 1024;

async function send(address: string, request: OutgoingRequest): Promise<IncomingAnswer> {
  const response = await post(address, request);
  const { maxAnswerBytes } = request;
  const bytes = await readBody(response, address, request.signal, maxAnswerBytes + 1);
  if (bytes.length > maxAnswerBytes) throw answerTooLarge(address, maxAnswerBytes);
  return { ...headOf(response), bytes };
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
      ...PLAIN,
      ...(request.accept && { Accept: request.accept }),
      ...(request.customAttributes && { [CUSTOM_ATTRIBUTES_HEADER]: request.customAttributes }),
    },
    // fetch takes any view, shared memory aside.
    body: request.body as Uint8Array<ArrayBuffer>,
    // The caller trusts this address, and not whatever it names.
    redirect: 'manual',
    signal,
  }).catch((cause: unknown) => {
    throw signal.aborted ? signal.reason : networkError(cause, address);
  });
  // Browsers hide the status of a redirect.
  if (response.type === 'opaqueredirect' || (response.status >= 300 && response.status < 400)) {
    await response.body?.cancel().catch(() => undefined);
    throw redirected(response, address);
  }
  if (!response.ok) {
    throw errorOf(response, await readBody(response, address, signal, MAX_ERROR_BYTES), address);
  }
  await refuseCompressed(response, address);
  return response;
}

/** fetch takes the beginning of a compressed body for all of it, so none is asked for. */
const PLAIN = { 'Accept-Encoding': 'identity' };

/** @throws PredictionError UNREADABLE_ANSWER for one that is compressed all the same; browsers ask as they like */
async function refuseCompressed(response: Response, address: string): Promise<void> {
  const encoding = response.headers.get('content-encoding') ?? '';
  if (/^(identity)?$/i.test(encoding.trim())) return;
  if (!new Request(address, { headers: PLAIN }).headers.has('accept-encoding')) return;
  await response.body?.cancel().catch(() => undefined);
  throw new PredictionError(
    'UNREADABLE_ANSWER',
    `the answer of ${address} is compressed (${encoding.slice(0, MAX_ENCODING)}) though Accept-Encoding: identity was sent, and fetch does not say whether all of it came. Let the proxy before the runtime heed that header.`,
    { status: response.status },
  );
}

/** Characters of a content encoding that a message repeats. */
const MAX_ENCODING = 100;

function headOf(response: Response): AnswerHead {
  return {
    status: response.status,
    contentType: response.headers.get('content-type') ?? '',
    customAttributes: response.headers.get(CUSTOM_ATTRIBUTES_HEADER) ?? '',
  };
}

/** At most `maxBytes`, decompressed; of a longer body, its beginning. */
async function readBody(
  response: Response,
  address: string,
  signal: AbortSignal,
  maxBytes: number,
): Promise<Uint8Array> {
  const expected = Math.min(Number(response.headers.get('content-length')) || 0, maxBytes);
  let array: Uint8Array = new Uint8Array();
  let length = 0;
  for await (const chunk of chunksOf(response, address, signal)) {
    const part = chunk.subarray(0, maxBytes - length);
    array = appended(array, length, part, expected);
    length += part.length;
    if (length === maxBytes) break;
  }
  return array.subarray(0, length);
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

function redirected({ status, headers }: Response, address: string): PredictionError {
  const location = headers.get('location')?.slice(0, MAX_LOCATION);
  const where = location === undefined ? '' : ` to ${location}`;
  return new PredictionError(
    'REDIRECTED',
    `${address} redirects${where}. Requests are not sent on: give the address that answers.`,
    status === 0 ? {} : { status },
  );
}

/** Characters of another address that a message repeats. */
const MAX_LOCATION = 500;

function errorOf(response: Response, bytes: Uint8Array, address: string): PredictionError {
  const { status } = response;
  const body = new TextDecoder().decode(bytes);
  return containerError(
    { status, body, from: address, fallbackCode: `HTTP_${status}` },
    { retryAfterSeconds: retryAfter(response.headers.get('retry-after')) },
  );
}
