/**
 * The one check between whatever made the tensors (a codec, a handler) and whatever runs the model. TensorFlow
 * trusts its caller in places: a tensor of another rank, or a batch of no rows, can end the whole server with
 * `Check failed`, for everybody. So nothing goes to it that is not what the signature says.
 */
import type { Postprocess } from '@sagemaker-tfs/manifest';
import {
  acceptsShape,
  checkFilled,
  describe,
  dtypeText,
  openShapeText,
  own,
  type Signature,
  type Tensor,
  TensorError,
  type TensorMap,
  type TensorSpec,
} from '@sagemaker-tfs/tensors';
import type { Backend, BackendRequest } from '../backends/backend.ts';
import { checkEmptyInput } from '../codecs/empty-elements.ts';
import {
  besideBoxes,
  namedValues,
  unansweredOutput,
  unansweredSignature,
  unknownInput,
  unknownOutput,
} from '../codecs/input-error.ts';
import { ServingError } from '../errors.ts';
import {
  answeredNames,
  boxesRead,
  isAnswered,
  replacedByBoxes,
} from '../postprocess/asked-outputs.ts';

/** Inputs as the signature has them. */
interface CheckedCall {
  readonly inputs: TensorMap;
  /** Sizes of 1 that the signature has at the end of an input were left out: see {@link withoutLastOnes}. */
  readonly isFlat: boolean;
}

/**
 * Checks names, number, dtypes, ranks, fixed sizes and emptiness of a call's inputs, and that each tensor has the
 * bytes that its shape says. An input of unknown rank takes any shape. The first dimension is the batch: some input
 * has rows (the values of ragged rows may be none), unless the signature itself says 0; other open dimensions may be
 * empty. Sizes of 1 at the end may be left out: `[1.0, 2.0]` for `[N, 1]`, as in TensorFlow Serving's own first example.
 * @param maxEmpty what the other sizes of an empty input may multiply to
 * @throws ServingError UNKNOWN_INPUT, or BAD_INPUT that says what the input takes and what it got
 */
export function checkCall(signature: Signature, inputs: TensorMap, maxEmpty?: number): CheckedCall {
  const names = Object.keys(inputs);
  const unknown = names.find((name) => !own(signature.inputs, name));
  if (unknown !== undefined) throw unknownInput(unknown, signature);
  const hasRows = Object.values(inputs).some(({ shape }) => (shape[0] ?? 0) > 0);
  let checked = inputs;
  for (const name of names) {
    const spec = own(signature.inputs, name) as TensorSpec;
    const given = inputs[name] as Tensor;
    const tensor = withLastOnes(given, spec.shape);
    checkTensor(name, given, tensor, spec, { signature, hasRows });
    checkEmptyInput(name, tensor, maxEmpty);
    if (tensor !== given) checked = { ...checked, [name]: tensor };
  }
  if (names.length < Object.keys(signature.inputs).length) checkMissing(signature, inputs);
  return { inputs: checked, isFlat: checked !== inputs };
}

/**
 * @param postprocess where answers show what the archive declares
 * @throws ServingError UNKNOWN_OUTPUT for one that the signature lacks, that the archive leaves out, or that it does
 *   not answer beside detections; and for any call of a signature whose outputs it all leaves out
 */
export function checkOutputs(
  signature: Signature,
  wanted: readonly string[] = [],
  postprocess?: Postprocess,
): void {
  const answered = answeredNames(signature, postprocess);
  if (postprocess?.outputs && answered.length === 0) {
    const { outputs, rename = {} } = postprocess;
    throw unansweredSignature(
      signature,
      outputs.map((name) => own(rename, name) ?? name),
    );
  }
  const unknown = wanted.find((name) => !isAnswered(name, signature, postprocess));
  if (unknown !== undefined) {
    throw postprocess
      ? unansweredOutput(unknown, signature, answered)
      : unknownOutput(unknown, signature);
  }
  const replaced = replacedByBoxes(wanted, postprocess);
  if (replaced !== undefined) throw besideBoxes(replaced, boxesRead(postprocess) ?? []);
}

/**
 * What is asked for must come back: without names that is every output of the signature.
 * @throws ServingError BAD_INPUT naming the output whose dtype is not carried here
 */
export function checkCarried(
  { key, outputs }: Signature,
  wanted: readonly string[] = Object.keys(outputs),
): void {
  for (const name of wanted) {
    const spec = own(outputs, name);
    if (!spec || spec.dtype !== undefined) continue;
    throw new ServingError(
      'BAD_INPUT',
      `output "${name}" of signature "${key}" is of ${dtypeText(spec)}, which is not supported. Ask for other outputs with tfs-outputs.`,
    );
  }
}

/** The tensor with the sizes of 1 that the signature has beyond its own. */
function withLastOnes(tensor: Tensor, accepted: readonly number[] | undefined): Tensor {
  const rank = tensor.shape.length;
  if (!accepted || rank === 0 || rank >= accepted.length) return tensor;
  const rest = accepted.slice(rank);
  return rest.every((size) => size === 1)
    ? { ...tensor, shape: [...tensor.shape, ...rest] }
    : tensor;
}

/**
 * The outputs of a call whose inputs left out sizes of 1 at their end: what the signature has as `[N, 1]` comes back
 * as `[N]`, as TensorFlow computes it for most graphs where it is asked so.
 */
export function withoutLastOnes(outputs: TensorMap, signature: Signature): TensorMap {
  const entries = Object.entries(outputs).map(([name, tensor]) => {
    const { shape } = tensor;
    const accepted = signature.outputs[name]?.shape;
    const isOne = accepted && accepted.length === shape.length && accepted.at(-1) === 1;
    if (!isOne || shape.length < 2 || shape.at(-1) !== 1) return [name, tensor] as const;
    return [name, { ...tensor, shape: shape.slice(0, -1) }] as const;
  });
  return Object.fromEntries(entries);
}

/** @throws ServingError if an input without a default is missing */
function checkMissing({ key, inputs: specs }: Signature, inputs: TensorMap): void {
  const missing = Object.keys(specs).filter(
    (name) => !Object.hasOwn(inputs, name) && !specs[name]?.hasDefault,
  );
  if (missing.length === 0) return;
  const takes = missing.map((name) => `'${name}' (${specified(specs[name] as TensorSpec)})`);
  throw new ServingError(
    'BAD_INPUT',
    `signature '${key}' also takes ${takes.join(', ')}, which the request leaves out. It has ${Object.keys(inputs).join(', ') || 'no inputs'}.`,
  );
}

function checkTensor(
  name: string,
  given: Tensor,
  tensor: Tensor,
  spec: TensorSpec,
  { signature, hasRows }: { readonly signature: Signature; readonly hasRows: boolean },
): void {
  const { dtype, shape } = tensor;
  const isEmpty = !hasRows && shape[0] === 0 && spec.shape?.[0] !== 0;
  if (dtype === spec.dtype && !isEmpty && acceptsShape(spec, shape)) {
    checkElements(name, tensor);
    return;
  }
  const isRow = !isEmpty && spec.shape?.length === 0 && shape.length === 1;
  const scalar = isRow
    ? ` It takes one value for a request, in JSON {"inputs": ${namedValues(Object.keys(signature.inputs))}}; instances make rows.`
    : '';
  const what = isEmpty ? ', which has no rows. Send at least one instance.' : `.${scalar}`;
  throw new ServingError(
    'BAD_INPUT',
    `input '${name}' of signature '${signature.key}' takes ${specified(spec)}, got ${describe(given)}${what}`,
  );
}

/** @throws ServingError BAD_INPUT if its elements do not fill its shape */
function checkElements(name: string, tensor: Tensor): void {
  try {
    checkFilled(tensor);
  } catch (cause) {
    if (!(cause instanceof TensorError)) throw cause;
    throw new ServingError('BAD_INPUT', `input '${name}': ${cause.message}`, { cause });
  }
}

/** What a signature takes: `float32 [N, 28, 28]`. */
function specified(spec: TensorSpec): string {
  const { dtype, shape } = spec;
  const sizes = shape ? openShapeText(shape) : 'of any shape';
  return `${dtypeText(spec)} ${sizes}${dtype ? '' : ', which is not carried here'}`;
}

/** What a call of the model may hold. */
export interface CallLimits {
  /** Elements of one row of an empty input. */
  readonly maxStrings: number;
  /** Rows, where calls are joined in batches. */
  readonly maxRows: number | undefined;
}

/**
 * @param postprocess where outputs are named by the request, not by a handler
 * @throws ServingError as {@link checkOutputs} and {@link checkCall}, and REQUEST_TOO_LARGE
 */
export function checkFor(
  backend: Backend,
  { model, inputs, outputs }: Pick<BackendRequest, 'model' | 'inputs' | 'outputs'>,
  signature: Signature,
  { maxStrings, maxRows }: CallLimits,
  postprocess?: Postprocess,
): CheckedCall {
  let checked: CheckedCall;
  try {
    checkOutputs(signature, outputs, postprocess);
    checked = checkCall(signature, inputs, maxStrings);
  } catch (error) {
    // Another version may be the newest by now, with another signature.
    backend.doubt?.(model);
    throw error;
  }
  checkMostRows(checked.inputs, maxRows);
  return checked;
}

/** @throws ServingError REQUEST_TOO_LARGE for more rows than one call may bring into the batches of others */
export function checkMostRows(inputs: TensorMap, maxRows = Number.POSITIVE_INFINITY): void {
  const rows = Object.values(inputs).reduce((most, { shape }) => Math.max(most, shape[0] ?? 0), 0);
  if (rows <= maxRows) return;
  throw new ServingError(
    'REQUEST_TOO_LARGE',
    `the call has ${rows} rows, with batching the most is ${maxRows} (SAGEMAKER_TFS_MAX_ROWS). Send them in several requests.`,
  );
}
