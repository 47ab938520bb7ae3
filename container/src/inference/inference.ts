/** The state of one inference request. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Manifest, Postprocess, Preprocess } from '@sagemaker-tfs/manifest';
import type { TensorMap } from '@sagemaker-tfs/tensors';
import type { FrameInPicture } from '@sagemaker-tfs/tensors/placement';
import type { Logger } from 'pino';
import type { Backends } from '../backends/backends.ts';
import type { DecodeLimits } from '../decode-limits.ts';
import type { Environment } from '../environment.ts';
import { defaultSignature, requireSignature } from '../models/choose-signature.ts';
import type { ModelSelector } from '../models/servable.ts';
import type { Stopwatch } from '../observability/timings.ts';
import type { Labels } from '../postprocess/labels.ts';
import type { RequestSignal } from '../waiting/request-signal.ts';
import type { Method, RequestAttributes } from './custom-attributes.ts';
import type { HeldResults } from './held-results.ts';
import { type Caller, predict } from './predict.ts';
import type { PredictOptions } from './predict-options.ts';

/** What a request needs to know of the archive that its model came in. */
interface InferenceArchive {
  readonly manifest: Manifest | undefined;
  readonly labels: Labels | undefined;
  /** The archive's own code, which may keep what the model answered; undefined if there is none. */
  readonly handler: object | undefined;
}

/** What every request shares. */
interface InferenceServices {
  readonly environment: Environment;
  readonly backends: Backends;
}

/** Counts the bytes that a request holds. */
interface HeldBytes {
  /** Negative: it has them no more. */
  hold(bytes: number): void;
  /** Before they are held. @throws ServingError OVERLOADED if all requests hold too much */
  take(bytes: number): void;
}

/** What is asked for besides the body. */
interface RequestHead {
  readonly headers: IncomingHttpHeaders;
}

/** A request with its model resolved. */
export interface Inference extends Caller {
  readonly request: RequestHead;
  readonly method: Method;
  readonly manifest: Manifest | undefined;
  /** `tfs-outputs`, in order, by names that answers show or by those of the signature. */
  readonly askedOutputs: readonly string[] | undefined;
  /** The media type of the body as sent. */
  readonly contentType: string;
  /** Bytes of the body as announced; undefined if it comes in chunks. */
  readonly contentLength: number | undefined;
  readonly accept: string | undefined;
  readonly decodeLimits: DecodeLimits;
  readonly preprocess: Preprocess | undefined;
  readonly postprocess: Postprocess | undefined;
  readonly labels: Labels | undefined;
  /** SageMaker's inference id, or one of our own. */
  readonly requestId: string;
  readonly log: Logger;
  /** What the client sees of a handler's exception. */
  readonly handlerErrors: 'message' | 'place' | 'hidden';
  /** Whether a bad record gets an error as its row; else the whole request is refused. */
  readonly answersBadRecords: boolean;
  predict(inputs: TensorMap, options?: PredictOptions): Promise<TensorMap>;
  /** Counts what it holds besides tensors. */
  readonly ticket: HeldBytes;
  /** Calls `release` once the response is done. */
  hold(release: () => void): void;
  /** How the model sees the request's pictures, once they are decoded. */
  frames: readonly FrameInPicture[] | undefined;
  /** Version of the request's model that answered its last call, where it is known. */
  answeredVersion: string | undefined;
}

/** What an inference is made of. */
export interface InferenceOptions {
  readonly request: RequestHead;
  /** Bytes of the body as announced; undefined if it comes in chunks. */
  readonly contentLength: number | undefined;
  readonly archive: InferenceArchive;
  /** The model of the path (`/models/NAME/invoke`) or of the attributes. */
  readonly modelName: string;
  readonly attributes: RequestAttributes;
  readonly signal: RequestSignal;
  readonly requestId: string;
  readonly log: Logger;
  readonly stopwatch: Stopwatch;
  /** Keeps the results of the model until the response is done. */
  readonly results: HeldResults;
  /** Counts the bytes of tensors and streams. */
  readonly ticket: HeldBytes;
}

/** Resolves model, signature and backend of a request. @throws ServingError if one is unknown */
export async function createInference(
  { environment, backends }: InferenceServices,
  options: InferenceOptions,
): Promise<Inference> {
  const { request, archive, attributes, modelName, stopwatch, results, ticket } = options;
  const { limits } = environment;
  const { manifest, labels } = archive;
  const backend = await backends.choose(attributes.transport);
  const model = selectorOf(modelName, attributes);
  const signatureNamed = async (key: string) =>
    requireSignature(await backend.signatures(model), key, modelName);
  const chosen =
    attributes.signature === undefined
      ? defaultSignature(await backend.signatures(model), modelName)
      : { signature: await signatureNamed(attributes.signature), noSignature: undefined };
  const needs = {
    askedOutputs: attributes.outputs,
    postprocess: manifest?.postprocess,
    mayBeKept: archive.handler !== undefined,
    stopwatch,
    results,
    ticket,
  };
  const inference: Inference = {
    request,
    model,
    method: attributes.method ?? 'predict',
    backend,
    manifest,
    ...chosen,
    signatureNamed,
    askedOutputs: attributes.outputs,
    contentType: request.headers['content-type'] ?? 'application/json',
    contentLength: options.contentLength,
    accept: request.headers.accept,
    decodeLimits: limits.decode,
    callLimits: { maxStrings: limits.decode.maxStrings, maxRows: limits.maxRows },
    preprocess: manifest?.preprocess,
    postprocess: manifest?.postprocess,
    labels,
    signal: options.signal,
    requestId: options.requestId,
    log: options.log,
    handlerErrors: environment.handlerErrors,
    answersBadRecords: environment.answersBadRecords,
    predict: (inputs, predictOptions = {}) => predict(inference, needs, inputs, predictOptions),
    async timed(call) {
      const reply = await stopwatch.predict(call);
      inference.answeredVersion = reply?.version ?? inference.answeredVersion;
      return reply;
    },
    ticket,
    hold: (release) => results.hold(release),
    frames: undefined,
    answeredVersion: undefined,
  };
  return inference;
}

function selectorOf(name: string, { modelVersion, modelLabel }: RequestAttributes): ModelSelector {
  if (modelVersion !== undefined) return { name, version: modelVersion };
  return modelLabel === undefined ? { name } : { name, label: modelLabel };
}
