/** Checks a call against the signature before TensorFlow sees it, with messages in the caller's names. */
import {
  DTYPES,
  describe,
  dtypeText,
  elementCount,
  isNumeric,
  own,
  type Signature,
  type Tensor,
  type TensorMap,
  type TensorSpec,
} from '@sagemaker-tfs/tensors';
import { LibTensorFlowError } from './errors.ts';

/**
 * Checks names and, unless `declared` is false, dtypes and shapes of the inputs of one call.
 * @throws LibTensorFlowError UNKNOWN_INPUT, MISSING_INPUT, WRONG_DTYPE or WRONG_SHAPE
 */
export function checkInputs(signature: Signature, inputs: TensorMap, declared = true): void {
  for (const name of Object.keys(inputs)) {
    if (Object.hasOwn(signature.inputs, name)) continue;
    throw new LibTensorFlowError(
      'UNKNOWN_INPUT',
      `signature "${signature.key}" has no input "${name}", only ${listed(signature.inputs)}.`,
    );
  }
  for (const [name, spec] of Object.entries(signature.inputs)) {
    const tensor = own(inputs, name);
    if (tensor === undefined) {
      throw new LibTensorFlowError(
        'MISSING_INPUT',
        `input "${name}" of signature "${signature.key}" is missing. Give ${listed(signature.inputs)}.`,
      );
    }
    checkInput(`input "${name}" of signature "${signature.key}"`, spec, tensor, declared);
  }
}

/**
 * The outputs to fetch: those asked for, else all of the signature's.
 * @throws LibTensorFlowError UNKNOWN_OUTPUT, or WRONG_DTYPE where one cannot be carried
 */
export function checkOutputs(
  signature: Signature,
  wanted: readonly string[] | undefined,
): readonly string[] {
  const names = wanted ?? Object.keys(signature.outputs);
  for (const name of names) {
    const spec = own(signature.outputs, name);
    if (!spec) {
      throw new LibTensorFlowError(
        'UNKNOWN_OUTPUT',
        `signature "${signature.key}" has no output "${name}", only ${listed(signature.outputs)}.`,
      );
    }
    checkSupported(`output "${name}" of signature "${signature.key}"`, spec);
  }
  return names;
}

function checkInput(what: string, spec: TensorSpec, tensor: Tensor, declared: boolean): void {
  checkSupported(what, spec);
  if (declared && tensor.dtype !== spec.dtype) {
    throw new LibTensorFlowError(
      'WRONG_DTYPE',
      `${what} takes ${specified(spec)}, got ${describe(tensor)}`,
    );
  }
  if (declared && !fits(tensor.shape, spec.shape)) {
    throw new LibTensorFlowError(
      'WRONG_SHAPE',
      `${what} takes ${specified(spec)}, got ${describe(tensor)}`,
    );
  }
  checkFilled(what, tensor);
}

function checkSupported(what: string, spec: TensorSpec): void {
  if (spec.dtype === undefined) {
    throw new LibTensorFlowError(
      'WRONG_DTYPE',
      `${what} is of ${dtypeText(spec)}, which is not supported.`,
    );
  }
  if (spec.tensorName === '') {
    throw new LibTensorFlowError(
      'WRONG_DTYPE',
      `${what} is a sparse or composite tensor, which is not supported.`,
    );
  }
}

function fits(shape: readonly number[], accepted: readonly number[] | undefined): boolean {
  if (accepted === undefined) return true;
  if (shape.length !== accepted.length) return false;
  return accepted.every((size, index) => size === -1 || size === shape[index]);
}

/** A tensor made by hand can claim a shape that its elements do not fill; TensorFlow would read past them. */
function checkFilled(what: string, tensor: Tensor): void {
  const count = countOf(what, tensor);
  const [expected, got, unit] = isNumeric(tensor)
    ? [count * DTYPES[tensor.dtype].size, tensor.bytes.byteLength, 'bytes']
    : [count, tensor.values.length, 'values'];
  if (expected !== got) {
    throw new LibTensorFlowError(
      'WRONG_SHAPE',
      `${what}: ${describe(tensor)} needs ${expected} ${unit}, got ${got}`,
    );
  }
}

function countOf(what: string, tensor: Tensor): number {
  try {
    return elementCount(tensor.shape);
  } catch (cause) {
    throw new LibTensorFlowError('WRONG_SHAPE', `${what}: ${(cause as Error).message}`, { cause });
  }
}

function listed(specs: Readonly<Record<string, TensorSpec>>): string {
  const parts = Object.entries(specs).map(([name, spec]) => `"${name}" (${specified(spec)})`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function specified(spec: TensorSpec): string {
  const shape = spec.shape ? `[${spec.shape.join(', ')}]` : 'of any shape';
  return `${dtypeText(spec)} ${shape}`;
}
