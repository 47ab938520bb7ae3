/** Runs a handler of the archive: its steps in order, its result to an answer. */
import type { Signature, TensorMap } from '@sagemaker-tfs/tensors';
import { CUSTOM_ATTRIBUTES_HEADER } from '@sagemaker-tfs/tensors/custom-attributes';
import { isList, namedType } from '@sagemaker-tfs/tensors/media-type';
import type { EncodedResponse } from '../codecs/codec.ts';
import { ServingError } from '../errors.ts';
import { classifyOrRegressTensors } from '../inference/classify-or-regress.ts';
import { decodeBody } from '../inference/decode-body.ts';
import { decodeExamples, encodeOutputs, takingExamples } from '../inference/default-handler.ts';
import type { Inference } from '../inference/inference.ts';
import type { ModelServerEndpoint } from '../model-server/endpoint.ts';
import { plainError } from '../thrown.ts';
import type { RequestSignal } from '../waiting/request-signal.ts';
import { streamedBytes } from './answer-stream.ts';
import type { Context, HandlerInput, HandlerResult, PredictOptions } from './api.ts';
import { attached } from './attached.ts';
import { forClient } from './for-client.ts';
import { handlerJson } from './handler-json.ts';
import { checkedResponse, isHandlerResponse } from './handler-response.ts';
import { handlerTensors, isTensorMap } from './handler-tensors.ts';
import type { LoadedHandler } from './loader.ts';
import { placeInHandler } from './place.ts';

/** An answer as a handler gave it. */
export interface HandlerAnswer extends EncodedResponse {
  readonly status: number;
}

/** What clients see of the handler's failures. */
type ErrorPolicy = Pick<Inference, 'handlerErrors'> & { readonly path?: string };

type Data = Uint8Array | AsyncIterable<Uint8Array>;

/**
 * Calls the handler and turns what it returns into an answer.
 * @throws ServingError HANDLER_FAILED if the handler throws anything but a status of its own
 */
export async function runHandler(
  handler: LoadedHandler,
  data: Data,
  inference: Inference,
  endpoint: ModelServerEndpoint | undefined,
): Promise<HandlerAnswer> {
  const first = createContext(inference, endpoint);
  const policy: ErrorPolicy = { handlerErrors: inference.handlerErrors, path: handler.path };
  const { result, context } = await withHandlerErrors(policy, () =>
    callHandler(handler, data, inference, first),
  );
  return withHandlerErrors(policy, () => answerOf(result, inference, context));
}

/** What a handler returned, and the context of its last step. */
interface Returned {
  readonly result: HandlerResult;
  readonly context: Context;
}

async function callHandler(
  handler: LoadedHandler,
  data: Data,
  inference: Inference,
  context: Context,
): Promise<Returned> {
  if (handler.handler) return { result: await handler.handler(data, context), context };
  if (!handler.inputHandler && inference.method !== 'predict') {
    const { inputs, signature } = await decodeExamples(await wholeBody(data), inference);
    const taking = takingExamples(signature);
    const results = await classifyOrRegressTensors(inputs, taking, inference);
    return outputStep(handler, results, withSignature(context, signature, inference));
  }
  const { inputs, options } = handler.inputHandler
    ? await modelInput(await handler.inputHandler(data, context), inference)
    : await decodedInput(await wholeBody(data), inference);
  const outputs = await context.predict(inputs, options);
  const { model, signature } = options;
  const called =
    signature !== undefined && model === undefined
      ? withSignature(context, await inference.signatureNamed(signature), inference)
      : context;
  return outputStep(handler, outputs, called);
}

async function outputStep(
  { outputHandler }: LoadedHandler,
  outputs: TensorMap,
  context: Context,
): Promise<Returned> {
  return { result: outputHandler ? await outputHandler(outputs, context) : outputs, context };
}

/** A body as the built-in codecs read it, for the signature that it names. */
async function decodedInput(
  body: Uint8Array,
  inference: Inference,
  contentType?: string,
): Promise<{ inputs: TensorMap; options: PredictOptions }> {
  const { inputs, signature } = await decodeBody(body, inference, { contentType });
  return { inputs, options: { signature: signature.key } };
}

/** What `inputHandler` gave, as tensors. JSON is read the way TensorFlow Serving reads it. */
async function modelInput(
  input: HandlerInput,
  inference: Inference,
): Promise<{ inputs: TensorMap; options: PredictOptions }> {
  if (typeof input === 'string' || input instanceof Uint8Array) {
    const bytes = typeof input === 'string' ? Buffer.from(input) : attached(input);
    return decodedInput(bytes, inference, 'application/json');
  }
  if (input === undefined || input === null) {
    throw new Error('its inputHandler returned nothing. Return tensors, text, bytes or an object.');
  }
  if (isTensorMap(input)) return { inputs: input, options: {} };
  const { inputs, ...options } = input as { inputs?: unknown } & PredictOptions;
  if (isTensorMap(inputs)) return { inputs, options };
  return modelInput(handlerJson(input), inference);
}

async function wholeBody(data: Data): Promise<Uint8Array> {
  if (data instanceof Uint8Array) return data;
  const chunks: Uint8Array[] = [];
  for await (const chunk of data) chunks.push(chunk);
  return Buffer.concat(chunks);
}

function createContext(inference: Inference, endpoint: ModelServerEndpoint | undefined): Context {
  const { request, model, method, signature, signal, requestId } = inference;
  const attributes = request.headers[CUSTOM_ATTRIBUTES_HEADER.toLowerCase()];
  const version = model.version === undefined ? '' : `/versions/${model.version}`;
  const label = model.label === undefined ? '' : `/labels/${model.label}`;
  const rest = endpoint?.restPort ? `http://${endpoint.host}:${endpoint.restPort}` : '';
  return Object.assign(new LazySignal(signal), {
    modelName: model.name,
    modelVersion: model.version,
    method,
    restUri: `${rest}/v1/models/${model.name}${version}${label}:${method}`,
    grpcPort: endpoint?.grpcPort ? String(endpoint.grpcPort) : '',
    customAttributes: typeof attributes === 'string' ? attributes : '',
    requestContentType: inference.contentType,
    acceptHeader: inference.accept ?? 'application/json',
    contentLength: inference.contentLength,
    signature,
    log: inference.log.child({ requestId }),
    predict: async (inputs: TensorMap, options?: PredictOptions) =>
      inference.predict(handlerTensors('input', inputs), options),
  });
}

/** The context once the input has named a signature, which further calls of the request's model then mean. */
function withSignature(context: Context, signature: Signature, inference: Inference): Context {
  if (signature.key === context.signature.key && !inference.noSignature) return context;
  const predict: Context['predict'] = (inputs, options = {}) => {
    const isOwn = options.model === undefined || options.model === context.modelName;
    return context.predict(inputs, isOwn ? { signature: signature.key, ...options } : options);
  };
  return Object.assign(new LazySignal(inference.signal), context, { signature, predict });
}

/** The signal of a context, made only if the handler asks for it. */
class LazySignal {
  readonly #signal: RequestSignal;

  constructor(signal: RequestSignal) {
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal.standard;
  }
}

async function answerOf(
  result: HandlerResult,
  inference: Inference,
  context: Context,
): Promise<HandlerAnswer> {
  if (isHandlerResponse(result)) {
    const { body, contentType, status, customAttributes } = checkedResponse(result);
    const pieces = bodyOf(body, inference) ?? [Buffer.from(handlerJson(body))];
    const type = responseType(contentType, body);
    return {
      status,
      contentType: type,
      body: pieces,
      ...(customAttributes ? { customAttributes } : {}),
    };
  }
  if (isTensorMap(result)) {
    const { signature } = context;
    const outputs = handlerTensors('output', result);
    return {
      status: 200,
      ...(await encodeOutputs(outputs, inference, { form: 'row', signature })),
    };
  }
  const asked = namedType(context.acceptHeader);
  const body = bodyOf(result, inference);
  if (body) {
    const usual = typeof result === 'string' ? 'application/json' : 'application/octet-stream';
    return { status: 200, contentType: asked ?? usual, body };
  }
  if (result === undefined || result === null) {
    throw new Error('it returned nothing. Return text, bytes, tensors, an object or a response.');
  }
  return { status: 200, contentType: 'application/json', body: [Buffer.from(handlerJson(result))] };
}

/** Text, bytes and streams as bytes; undefined for anything else. */
function bodyOf(value: unknown, inference: Inference): HandlerAnswer['body'] | undefined {
  if (typeof value === 'string') return [Buffer.from(value)];
  if (value instanceof Uint8Array) return [attached(value)];
  return isStream(value) ? bytesOf(value, inference) : undefined;
}

function isStream(value: unknown): value is AsyncIterable<Uint8Array | string> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}

async function* bytesOf(
  stream: AsyncIterable<Uint8Array | string>,
  inference: Inference,
): AsyncGenerator<Uint8Array> {
  try {
    yield* streamedBytes(stream, inference.ticket);
  } catch (error) {
    throw handlerError(error, inference);
  }
}

/** What an Accept header may hold and a Content-Type not: a wildcard, a weight. */
const WILDCARD_OR_WEIGHT = /\*|;\s*q=/i;

/**
 * The response's media type. Handlers from the Python container answer with `context.acceptHeader`, which may be a
 * wildcard or a list: then the best of its types that is no wildcard, or what the body is.
 */
function responseType(contentType: string, body: unknown): string {
  const isOneType = !WILDCARD_OR_WEIGHT.test(contentType) && !isList(contentType);
  if (isOneType) return contentType;
  const isBinary = body instanceof Uint8Array || isStream(body);
  return namedType(contentType) ?? (isBinary ? 'application/octet-stream' : 'application/json');
}

async function withHandlerErrors<T>(policy: ErrorPolicy, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw handlerError(error, policy);
  }
}

/** A handler's own statuses and the model's errors pass; anything else is the handler's failure. */
function handlerError(thrown: unknown, { handlerErrors, path }: ErrorPolicy): unknown {
  const own = forClient(thrown);
  if (own) return own;
  const cause = plainError(thrown);
  if (handlerErrors === 'hidden') {
    const hidden = 'the handler failed. The log of the container says why.';
    return new ServingError('HANDLER_FAILED', hidden, { cause });
  }
  const stack = cause.stack ?? '';
  const place = handlerErrors === 'place' && path ? placeInHandler(stack, path) : undefined;
  const where = place === undefined ? '' : ` (at ${place})`;
  return new ServingError('HANDLER_FAILED', `the handler failed: ${cause.message}${where}`, {
    cause,
  });
}
