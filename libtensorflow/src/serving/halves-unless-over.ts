import { Code } from '@sagemaker-tfs/tensors/protos';
import { LibTensorFlowError } from '../errors.ts';
import type { AfterFailure } from './batches.ts';
import { StatusError } from './status-error.ts';

/**
 * For a session in this process: all but a run that was cancelled, or whose session is gone, may fare better in
 * smaller batches.
 */
export function halvesUnlessOver(error: unknown): AfterFailure {
  const isOver =
    error instanceof LibTensorFlowError
      ? error.code === 'SESSION_CLOSED' || error.tfCode === Code.CANCELLED
      : error instanceof StatusError && error.code === Code.CANCELLED;
  return isOver ? 'reject' : 'halves';
}
