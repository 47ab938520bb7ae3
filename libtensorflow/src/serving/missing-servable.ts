/** What TensorFlow Serving answers of models, versions and labels that it does not have. */
import type { StatusError } from '@sagemaker-tfs/tensors/status-error';
import { invalidArgument, notFound } from './status-error.ts';

/** No servable for a request; without a version the newest was asked for. */
export function noServable(name: string, version?: bigint | string): StatusError {
  const request = version === undefined ? `Latest(${name})` : `Specific(${name}, ${version})`;
  return notFound(`Servable not found for request: ${request}`);
}

/** No state of a version, or of any version of a model. */
export function noVersion(name: string, version?: bigint | string): StatusError {
  const what = version === undefined ? 'any versions' : `version ${version}`;
  return notFound(`Could not find ${what} of model ${name}`);
}

export function noLabel(label: string): StatusError {
  return invalidArgument(`Unrecognized servable version label: ${label}`);
}
