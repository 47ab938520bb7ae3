/** One request as the steps between body and body see it. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Manifest, Postprocess, Preprocess } from '@sagemaker-tfs/manifest';
import { DEFAULT_SIGNATURE, own, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
import type { FrameInPicture } from '@sagemaker-tfs/tensors/placement';
import type { Logger } from 'pino';
import type { Backend, BackendRequest } from '../backends/backend.ts';
import type { Backends } from '../backends/backends.ts';
import type { DecodeLimits } from '../decode-limits.ts';
import type { Environment } from '../environment.ts';
import { ServingError } from '../errors.ts';
import type { ModelSelector } from '../models/servable.ts';
import type { Stopwatch } from '../observability/timings.ts';
import { outputsNeeded } from '../postprocess/apply-postprocess.ts';
import type { Labels } from '../postprocess/labels.ts';
import type { RequestSignal } from '../waiting/request-signal.ts';
import {
  type CheckedCall,
  checkCall,
  checkCarried,
  checkOutputs,
  withoutLastOnes,
} from './check-call.ts';
import type { Method, RequestAttributes } from './custom-attributes.ts';
import type { HeldResults } from './held-results.ts';
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

/** What is asked for besides the body. */
interface RequestHead {
  readonly headers: IncomingHttpHeaders;
}

/** A request with its model resolved. */
export interface Inference {
  readonly request: RequestHead;
  readonly model: ModelSelector;
  readonly method: Method;
  readonly backend: Backend;
  readonly manifest: Manifest | undefined;
  /** The signature asked for, else the default. */
  readonly signature: Signature;
  /** The error of a model with several signatures but no default, for requests and bodies that name none. */
  readonly noSignature: ServingError | undefined;
  /** Whether `tfs-signature` asked for it. */
  readonly signatureAsked: boolean;
  /** Another signature of the same model. @throws ServingError UNKNOWN_SIGNATURE */
  signatureNamed(key: string): Promise<Signature>;
  /** `tfs-outputs`, in order. */
  readonly askedOutputs: readonly string[] | undefined;
  /** The media type of the body as sent. */
  readonly contentType: string;
  /** Bytes of the body as announced; undefined if it comes in chunks. */
  readonly contentLength: number | undefined;
  readonly accept: string | undefined;
  readonly decodeLimits: DecodeLimits;
  readonly callLimits: CallLimits;
  readonly preprocess: Preprocess | undefined;
  readonly postprocess: Postprocess | undefined;
  readonly labels: Labels | undefined;
  readonly signal: RequestSignal;
  /** SageMaker's inference id, or one of our own. */
  readonly requestId: string;
  readonly log: Logger;
  /** What the client sees of a handler's exception. */
  readonly handlerErrors: 'message' | 'place' | 'hidden';
  /** Whether a bad record gets an error as its row; else the whole request is refused. */
  readonly answersBadRecords: boolean;
  predict(inputs: TensorMap, options?: PredictOptions): Promise<TensorMap>;
  /** Times a call of the model that goes another way than {@link predict}. */
  timed<T extends { readonly version?: string | undefined } | undefined>(
    call: () => Promise<T>,
  ): Promise<T>;
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
  /** Counts the bytes of tensors. */
  readonly ticket: { hold(bytes: number): void };
}

/** Resolves model, signature and backend of a request. @throws ServingError where one is unknown */
export async function createInference(
  { environment, backends }: InferenceServices,
  options: InferenceOptions,
): Promise<Inference> {
  const { request, archive, attributes, signal, requestId, log } = options;
  const { stopwatch, modelName, results, ticket } = options;
  const { limits } = environment;
  const callLimits = { maxStrings: limits.decode.maxStrings, maxRows: limits.maxRows };
  const backend = await backends.choose(attributes.transport);
  const model = selectorOf(modelName, attributes);
  const signatureNamed = async (key: string) =>
    requireSignature(await backend.signatures(model), key, modelName);
  const { signature, noSignature } =
    attributes.signature === undefined
      ? await defaultSignature(backend, model)
      : { signature: await signatureNamed(attributes.signature), noSignature: undefined };
  const postprocess = archive.manifest?.postprocess;
  const wantedOutputs = attributes.outputs ?? (postprocess && outputsNeeded(postprocess));
  const timed: Inference['timed'] = async (call) => {
    const reply = await stopwatch.predict(call);
    inference.answeredVersion = reply?.version ?? inference.answeredVersion;
    return reply;
  };
  const inference: Inference = {
    request,
    model,
    method: attributes.method ?? 'predict',
    backend,
    manifest: archive.manifest,
    signature,
    noSignature,
    signatureAsked: attributes.signature !== undefined,
    signatureNamed,
    askedOutputs: attributes.outputs,
    contentType: request.headers['content-type'] ?? 'application/json',
    contentLength: options.contentLength,
    accept: request.headers.accept,
    decodeLimits: limits.decode,
    callLimits,
    preprocess: archive.manifest?.preprocess,
    postprocess,
    labels: archive.labels,
    signal,
    requestId,
    log,
    handlerErrors: environment.handlerErrors,
    answersBadRecords: environment.answersBadRecords,
    async predict(inputs, predictOptions = {}) {
      const isNamed = predictOptions.signature !== undefined || predictOptions.model !== undefined;
      if (noSignature && !isNamed) throw noSignature;
      const used =
        predictOptions.signature === undefined || predictOptions.model !== undefined
          ? signature
          : await signatureNamed(predictOptions.signature);
      const call = callOf({ model, signature: signature.key, wantedOutputs }, predictOptions, {
        inputs,
        signal,
      });
      const called = await calledSignature(backend, call, predictOptions, used);
      const checked = called
        ? checkFor(backend, call, called, callLimits)
        : checkRows(inputs, callLimits.maxRows);
      if (called) checkCarried(called, call.outputs);
      signal.throwIfAborted();
      ticket.hold(bytesOf(checked.inputs));
      const run = () => backend.predict({ ...call, inputs: checked.inputs });
      // The version that the answer names is of the request's own model.
      const isOwn = call.model.name === model.name;
      const reply = await (isOwn ? timed(run) : stopwatch.predict(run));
      // A handler may keep what it got over gRPC; that memory is not used again.
      const reusable = archive.handler === undefined || backend.transport === 'in-process';
      ticket.hold(bytesOf(reply.outputs));
      if (reply.release && reusable) results.hold(() => reply.release?.());
      return called && checked.isFlat ? withoutLastOnes(reply.outputs, called) : reply.outputs;
    },
    timed,
    hold: (release) => results.hold(release),
    frames: undefined,
    answeredVersion: undefined,
  };
  return inference;
}

/** Elements of strings are not looked at: their bytes are those of the body or of the answer, more or less. */
function bytesOf(tensors: TensorMap): number {
  let bytes = 0;
  for (const tensor of Object.values(tensors)) {
    if ('bytes' in tensor) bytes += tensor.bytes?.byteLength ?? 0;
  }
  return bytes;
}

function selectorOf(name: string, { modelVersion, modelLabel }: RequestAttributes): ModelSelector {
  if (modelVersion !== undefined) return { name, version: modelVersion };
  return modelLabel === undefined ? { name } : { name, label: modelLabel };
}

/**
 * `serving_default`, or the only signature of a model. If there is neither, a signature without inputs, and the error
 * for a body that names none.
 */
async function defaultSignature(
  backend: Backend,
  model: ModelSelector,
): Promise<Pick<Inference, 'signature' | 'noSignature'>> {
  const signatures = await backend.signatures(model);
  const keys = Object.keys(signatures);
  const key =
    Object.hasOwn(signatures, DEFAULT_SIGNATURE) || keys.length !== 1 ? DEFAULT_SIGNATURE : keys[0];
  try {
    const signature = requireSignature(signatures, key ?? DEFAULT_SIGNATURE, model.name);
    return { signature, noSignature: undefined };
  } catch (error) {
    const none = { key: DEFAULT_SIGNATURE, methodName: '', inputs: {}, outputs: {} };
    return { signature: none, noSignature: error as ServingError };
  }
}

function requireSignature(
  signatures: Readonly<Record<string, Signature>>,
  key: string,
  model: string,
): Signature {
  const signature = own(signatures, key);
  if (signature) return signature;
  throw new ServingError(
    'UNKNOWN_SIGNATURE',
    `model "${model}" has no signature "${key}". It has ${Object.keys(signatures).join(', ')}.`,
  );
}

/** The signature that a call means, where the model has one of this name; else the backend says so. */
async function calledSignature(
  backend: Backend,
  call: BackendRequest,
  { model, version }: PredictOptions,
  called: Signature,
): Promise<Signature | undefined> {
  if (model === undefined && version === undefined) return called;
  const signatures = await backend.signatures(call.model);
  return own(signatures, call.signature);
}

/** What a call of the model may hold. */
interface CallLimits {
  /** Elements of one row of an empty input. */
  readonly maxStrings: number;
  /** Rows, where calls are joined in batches. */
  readonly maxRows: number | undefined;
}

/** @throws ServingError as {@link checkCall}, and REQUEST_TOO_LARGE */
export function checkFor(
  backend: Backend,
  { model, inputs, outputs }: Pick<BackendRequest, 'model' | 'inputs' | 'outputs'>,
  signature: Signature,
  { maxStrings, maxRows }: CallLimits,
): CheckedCall {
  let checked: CheckedCall;
  try {
    checkOutputs(signature, outputs);
    checked = checkCall(signature, inputs, maxStrings);
  } catch (error) {
    // Another version may be the newest by now, with another signature.
    backend.doubt?.(model);
    throw error;
  }
  checkRows(checked.inputs, maxRows);
  return checked;
}

/** @throws ServingError REQUEST_TOO_LARGE for more rows than one call may bring into the batches of others */
function checkRows(inputs: TensorMap, maxRows = Number.POSITIVE_INFINITY): CheckedCall {
  const rows = Object.values(inputs).reduce((most, { shape }) => Math.max(most, shape[0] ?? 0), 0);
  if (rows <= maxRows) return { inputs, isFlat: false };
  throw new ServingError(
    'REQUEST_TOO_LARGE',
    `the call has ${rows} rows, with batching the most is ${maxRows} (SAGEMAKER_TFS_MAX_ROWS). Send them in several requests.`,
  );
}

interface CallDefaults {
  readonly model: ModelSelector;
  readonly signature: string;
  readonly wantedOutputs: readonly string[] | undefined;
}

/** The request's own model, signature and outputs are meant only while no other model is named. */
function callOf(
  defaults: CallDefaults,
  options: PredictOptions,
  { inputs, signal }: Pick<BackendRequest, 'inputs' | 'signal'>,
): BackendRequest {
  const same = options.model === undefined || options.model === defaults.model.name;
  const model = same ? defaults.model : { name: options.model as string };
  const outputs = options.outputs ?? (same ? defaults.wantedOutputs : undefined);
  return {
    model: options.version === undefined ? model : { name: model.name, version: options.version },
    signature: options.signature ?? (same ? defaults.signature : DEFAULT_SIGNATURE),
    inputs,
    // Asked for twice, an output is refused by TensorFlow over gRPC, and not over REST.
    outputs: outputs && [...new Set(outputs)],
    signal,
  };
}
