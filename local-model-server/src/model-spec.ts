/** Model specs of requests, as the manager takes them. */

import { invalidArgument } from '@sagemaker-tfs/libtensorflow/serving';
import type { ModelSpec as ModelSpecMessage } from '@sagemaker-tfs/tensors/protos';
import type { ModelSpec } from './model-manager.ts';

/** @throws StatusError INVALID_ARGUMENT if the request has none */
export function modelSpecOf(message: ModelSpecMessage | undefined): ModelSpec {
  if (!message) throw invalidArgument('Missing ModelSpec');
  const { name, versionChoice: choice } = message;
  return {
    name,
    version: choice.case === 'version' ? choice.value.value : undefined,
    label: choice.case === 'versionLabel' ? choice.value : undefined,
  };
}
