/** Predict: checks a call against its signature with TensorFlow Serving's texts, and runs it. */
import {
  type AbortSignalLike,
  DEFAULT_SIGNATURE,
  METHOD_NAMES,
  own,
  type Signature,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { dataTypeString, dataTypeStringOfEnum } from './dtype-names.ts';
import type { Servable } from './servable.ts';
import type { RunResult } from './session.ts';
import { failedPrecondition, invalidArgument, StatusError } from './status-error.ts';

/** One call of a signature. */
export interface PredictCall {
  /** Key of the signature; empty for `serving_default`. */
  readonly signature: string;
  readonly inputs: TensorMap;
  /** Outputs wanted; empty or undefined for all. */
  readonly outputs?: readonly string[] | undefined;
  readonly signal?: AbortSignalLike | undefined;
}

/** Checks the call and runs it (servables/tensorflow/predict_util.cc). @throws StatusError */
export async function predict(
  servable: Servable,
  call: PredictCall,
  checkMethodName: boolean,
): Promise<RunResult> {
  const key = call.signature || DEFAULT_SIGNATURE;
  const signature = findSignature(servable, key);
  if (!signature) throw failedPrecondition(`Serving signature key "${key}" not found.`);
  if (checkMethodName) checkPredictMethod(signature);
  const inputs = { ...missingDefaults(servable, signature, call.inputs), ...call.inputs };
  checkCount(servable, signature, call.inputs);
  checkInputs(signature, call.inputs, inputs, servable.defaultInputs(key));
  return servable.session.run(key, inputs, outputsOf(signature, call.outputs ?? []), call.signal);
}

/** The signature of this key, or undefined. */
export function findSignature(servable: Servable, key: string): Signature | undefined {
  const { signatures } = servable.session;
  return own(signatures, key);
}

/** The SignatureDef's default values for inputs that a call leaves out. */
function missingDefaults(servable: Servable, signature: Signature, inputs: TensorMap): TensorMap {
  const missing = Object.entries(servable.defaultInputs(signature.key)).filter(
    ([name]) => !Object.hasOwn(inputs, name),
  );
  return Object.fromEntries(missing);
}

function checkPredictMethod({ methodName }: Signature): void {
  const { predict, classify, regress } = METHOD_NAMES;
  if ([predict, classify, regress].some((name) => name === methodName)) return;
  throw new StatusError(
    Code.INTERNAL,
    `Expected prediction signature method_name to be one of {${predict}, ${classify}, ${regress}}. Was: ${methodName}`,
  );
}

/** VerifyRequestInputsSize: too few are looked at one by one where the signature has defaults. */
function checkCount(servable: Servable, signature: Signature, request: TensorMap): void {
  const given = Object.keys(request).sort();
  const wanted = Object.keys(signature.inputs).sort();
  const hasDefaults = Object.keys(servable.defaultInputs(signature.key)).length > 0;
  if (hasDefaults ? given.length <= wanted.length : given.length === wanted.length) return;
  const extra = given.filter((name) => !wanted.includes(name));
  const missing = wanted.filter((name) => !given.includes(name));
  throw invalidArgument(
    `input size does not match signature: ${given.length}!=${wanted.length} len({${given.join(',')}}) != len({${wanted.join(',')}}). ` +
      `Sent extra: {${extra.join(',')}}. Missing but required: {${missing.join(',')}}.`,
  );
}

function checkInputs(
  signature: Signature,
  request: TensorMap,
  inputs: TensorMap,
  defaultInputs: TensorMap,
): void {
  const given = Object.keys(request).sort();
  const wanted = Object.keys(signature.inputs).sort();
  const missing = wanted.find((name) => !Object.hasOwn(inputs, name));
  if (missing !== undefined) {
    const feed = signature.inputs[missing]?.tensorName;
    const defaults = Object.keys(defaultInputs).sort();
    throw invalidArgument(
      `Signature input alias: ${missing}(feed name: ${feed}) not found in request and no default value provided. Inputs expected to be in the request {${given.join(',')}}, or default input alias set: ${defaults.join(',')}`,
    );
  }
  wanted.forEach((name, index) => {
    checkDtype(signature, inputs, name, index);
  });
}

/** The text of TensorFlow's function runtime, which counts a signature's inputs in alphabetical order. */
function checkDtype(signature: Signature, inputs: TensorMap, name: string, index: number): void {
  const spec = signature.inputs[name];
  const tensor = own(inputs, name);
  if (!spec || !tensor || spec.dtype === tensor.dtype) return;
  throw invalidArgument(
    `Expects arg[${index}] to be ${dataTypeStringOfEnum(spec.dtypeEnum)} but ${dataTypeString(tensor.dtype)} is provided`,
  );
}

function outputsOf(signature: Signature, filter: readonly string[]): string[] {
  const known = Object.keys(signature.outputs).sort();
  if (filter.length === 0) return known;
  const seen = new Set<string>();
  for (const name of filter) {
    if (!known.includes(name)) {
      throw invalidArgument(
        `output tensor alias not found in signature: ${name} Outputs expected to be in the set {${known.join(',')}}.`,
      );
    }
    if (seen.has(name)) throw invalidArgument(`duplicate output tensor alias: ${name}`);
    seen.add(name);
  }
  return [...filter];
}
