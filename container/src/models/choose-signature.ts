/** The signature that a request means. */
import { DEFAULT_SIGNATURE, own, type Signature, type SignatureMap } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { ROOT_MODEL_NAME } from './discover.ts';

/** A signature, or why there is none. */
interface ChosenSignature {
  readonly signature: Signature;
  /** The error of a model with several signatures but no default, for requests and bodies that name none. */
  readonly noSignature: ServingError | undefined;
}

/**
 * `serving_default`, or the only signature of a model. If there is neither, a signature without inputs, and the error
 * for a body that names none.
 */
export function defaultSignature(signatures: SignatureMap, model: string): ChosenSignature {
  const [only, ...others] = Object.values(signatures);
  const signature = own(signatures, DEFAULT_SIGNATURE) ?? (others.length === 0 ? only : undefined);
  if (signature) return { signature, noSignature: undefined };
  const none = { key: DEFAULT_SIGNATURE, methodName: '', inputs: {}, outputs: {} };
  return { signature: none, noSignature: unknownSignature(signatures, DEFAULT_SIGNATURE, model) };
}

/** @throws ServingError UNKNOWN_SIGNATURE */
export function requireSignature(signatures: SignatureMap, key: string, model: string): Signature {
  const signature = own(signatures, key);
  if (signature) return signature;
  throw unknownSignature(signatures, key, model);
}

function unknownSignature(signatures: SignatureMap, key: string, model: string): ServingError {
  // TensorFlow Serving has them in another order at every start.
  const names = Object.keys(signatures).sort().join(', ');
  // The name of an only model is nobody's choice, and its user calls it something else.
  const what = model === ROOT_MODEL_NAME ? 'the model' : `model "${model}"`;
  return new ServingError(
    'UNKNOWN_SIGNATURE',
    `${what} has no signature "${key}". It has ${names}.`,
  );
}
