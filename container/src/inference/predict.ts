/** One call of a model for a request: what is called, the check before it, and what becomes of its results. */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import { DEFAULT_SIGNATURE, own, type Signature, type TensorMap } from '@sagemaker-tfs/tensors';
import type { Backend, BackendRequest } from '../backends/backend.ts';
import type { ServingError } from '../errors.ts';
import type { ModelSelector } from '../models/servable.ts';
import type { Stopwatch } from '../observability/timings.ts';
import { ownNames, usualOutputs } from '../postprocess/asked-outputs.ts';
import type { RequestSignal } from '../waiting/request-signal.ts';
import {
  type CallLimits,
  checkCarried,
  checkFor,
  checkMostRows,
  withoutLastOnes,
} from './check-call.ts';
import { withRowsHint } from './differing-rows.ts';
import type { HeldResults } from './held-results.ts';
import type { PredictOptions } from './predict-options.ts';

/** A request, as far as its calls of models see it. */
export interface Caller {
  readonly model: ModelSelector;
  readonly backend: Backend;
  /** The signature asked for, else the default. */
  readonly signature: Signature;
  /** The error of a model with several signatures but no default, for requests and bodies that name none. */
  readonly noSignature: ServingError | undefined;
  /** Another signature of the same model. @throws ServingError UNKNOWN_SIGNATURE */
  signatureNamed(key: string): Promise<Signature>;
  readonly callLimits: CallLimits;
  readonly signal: RequestSignal;
  /** Times a call of the request's own model. */
  timed<T extends { readonly version?: string | undefined } | undefined>(
    call: () => Promise<T>,
  ): Promise<T>;
}

/** What a call takes, and what it reports to. */
interface CallNeeds {
  /** `tfs-outputs`. */
  readonly askedOutputs: readonly string[] | undefined;
  /** Of the request's archive. */
  readonly postprocess: Postprocess | undefined;
  /** Whether the archive's own code may keep what the model answered. */
  readonly mayBeKept: boolean;
  readonly stopwatch: Stopwatch;
  /** Keeps the results of the model until the response is done. */
  readonly results: HeldResults;
  /** Counts the bytes of tensors. */
  readonly ticket: { hold(bytes: number): void };
}

/** Calls a model. @throws ServingError */
export async function predict(
  caller: Caller,
  needs: CallNeeds,
  inputs: TensorMap,
  options: PredictOptions,
): Promise<TensorMap> {
  const { backend, model, signal, callLimits } = caller;
  const { mayBeKept, stopwatch, results, ticket } = needs;
  const target = targetOf(caller, inputs, options);
  const called = await calledSignature(caller, target, options);
  const { outputs, shownBy } = wantedOutputs(caller, needs, called, options);
  // Asked for twice, an output is refused by TensorFlow over gRPC, and not over REST.
  const call = { ...target, outputs: outputs && [...new Set(outputs)] };
  const checked = called
    ? checkFor(backend, call, called, callLimits, shownBy)
    : { inputs, isFlat: false };
  if (called) checkCarried(called, call.outputs);
  else checkMostRows(inputs, callLimits.maxRows);
  signal.throwIfAborted();
  ticket.hold(bytesOf(checked.inputs));
  const run = () => {
    const answer = backend.predict({ ...call, inputs: checked.inputs });
    return called ? withRowsHint(answer, called, checked.inputs) : answer;
  };
  // The version that the answer names is of the request's own model.
  const reply = await (call.model.name === model.name ? caller.timed(run) : stopwatch.predict(run));
  ticket.hold(bytesOf(reply.outputs));
  // A handler may keep what it got over gRPC; that memory is not used again.
  const reusable = !mayBeKept || backend.transport === 'in-process';
  if (reply.release && reusable) results.hold(() => reply.release?.());
  return called && checked.isFlat ? withoutLastOnes(reply.outputs, called) : reply.outputs;
}

/** The request's own model, signature and outputs are meant only while no other model is named. */
function isOwnModel({ model }: Caller, options: PredictOptions): boolean {
  return options.model === undefined || options.model === model.name;
}

/** @returns the outputs that the model computes, undefined for all; and the declaration if it bounds what may be named */
function wantedOutputs(
  caller: Caller,
  { askedOutputs, postprocess }: CallNeeds,
  called: Signature | undefined,
  options: PredictOptions,
): {
  readonly outputs?: readonly string[] | undefined;
  readonly shownBy?: Postprocess | undefined;
} {
  if (options.outputs) return { outputs: options.outputs };
  if (!isOwnModel(caller, options)) return {};
  if (!called) return { outputs: askedOutputs };
  if (askedOutputs) {
    return { outputs: ownNames(askedOutputs, called, postprocess), shownBy: postprocess };
  }
  const usual = [...usualOutputs(called, postprocess).values()];
  const isPart = usual.length < Object.keys(called.outputs).length;
  return { outputs: isPart ? usual : undefined, shownBy: postprocess };
}

function targetOf(
  caller: Caller,
  inputs: TensorMap,
  options: PredictOptions,
): Omit<BackendRequest, 'outputs'> {
  const { model: own, signature, signal } = caller;
  const isOwn = isOwnModel(caller, options);
  const model = isOwn ? own : { name: options.model as string };
  return {
    model: options.version === undefined ? model : { name: model.name, version: options.version },
    signature: options.signature ?? (isOwn ? signature.key : DEFAULT_SIGNATURE),
    inputs,
    signal,
  };
}

/** The signature that a call means, where the model has one of this name; else the backend says so. */
async function calledSignature(
  { backend, signature, noSignature, signatureNamed }: Caller,
  call: Pick<BackendRequest, 'model' | 'signature'>,
  { model, version, signature: key }: PredictOptions,
): Promise<Signature | undefined> {
  if (model === undefined) {
    if (noSignature && key === undefined) throw noSignature;
    // Refused by name also where another version is called.
    const named = key === undefined ? signature : await signatureNamed(key);
    if (version === undefined) return named;
  }
  return own(await backend.signatures(call.model), call.signature);
}

/** Elements of strings are not looked at: their bytes are those of the body or of the answer, more or less. */
function bytesOf(tensors: TensorMap): number {
  let bytes = 0;
  for (const tensor of Object.values(tensors)) {
    if ('bytes' in tensor) bytes += tensor.bytes?.byteLength ?? 0;
  }
  return bytes;
}
