/** Checks a call against the signature before TensorFlow sees it, with messages in the caller's names. */
import {
  checkFilled,
  dtypeText,
  own,
  type Signature,
  type Tensor,
  type TensorMap,
  type TensorSpec,
} from '@sagemaker-tfs/tensors';
import { LibTensorFlowError } from './errors.ts';

/**
 * Checks what would lead TensorFlow astray: the names of the inputs of one call, and that their elements fill their
 * shapes. Dtypes and shapes are left to TensorFlow, which takes what the graph can compute, as TensorFlow Serving does.
 * @throws LibTensorFlowError UNKNOWN_INPUT, MISSING_INPUT, WRONG_DTYPE or WRONG_SHAPE
 */
export function checkInputs(signature: Signature, inputs: TensorMap): void {
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
    checkInput(`input "${name}" of signature "${signature.key}"`, spec, tensor);
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

function checkInput(what: string, spec: TensorSpec, tensor: Tensor): void {
  checkSupported(what, spec);
  try {
    // TensorFlow would read past the elements.
    checkFilled(tensor);
  } catch (cause) {
    throw new LibTensorFlowError('WRONG_SHAPE', `${what}: ${(cause as Error).message}`, { cause });
  }
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

function listed(specs: Readonly<Record<string, TensorSpec>>): string {
  const parts = Object.entries(specs).map(([name, spec]) => `"${name}" (${specified(spec)})`);
  return parts.length === 0 ? 'none' : parts.join(', ');
}

function specified(spec: TensorSpec): string {
  const shape = spec.shape ? `[${spec.shape.join(', ')}]` : 'of any shape';
  return `${dtypeText(spec)} ${shape}`;
}
