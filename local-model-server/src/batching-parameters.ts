/** What a `--batching_parameters_file` says, checked. */
import { availableParallelism } from 'node:os';
import { type BatchingOptions, invalidArgument } from '@sagemaker-tfs/libtensorflow/serving';
import type { BatchingParameters } from './gen/server_config_pb.ts';
import { dieOfCheck } from './log.ts';

/** The options in a `--batching_parameters_file`. @throws StatusError INVALID_ARGUMENT */
export function batchingOptionsOf(parameters: BatchingParameters): BatchingOptions {
  const maxBatchSize = Number(parameters.maxBatchSize ?? 1_000n);
  const sizes = parameters.allowedBatchSizes.map(Number);
  const numBatchThreads = Number(parameters.numBatchThreads ?? availableParallelism());
  if (sizes.some((size, index) => size <= (sizes[index - 1] ?? 0))) {
    throw invalidArgument('allowed_batch_sizes entries must be monotonically increasing');
  }
  if (sizes.length > 0 && sizes.at(-1) !== maxBatchSize) {
    throw invalidArgument(
      `Last entry in allowed_batch_sizes must match max_batch_size; last entry was ${sizes.at(-1)}; expected ${maxBatchSize}`,
    );
  }
  if (maxBatchSize < 1) throw invalidArgument(`max_batch_size must be >= 1; was ${maxBatchSize}`);
  if (numBatchThreads < 1) {
    throw invalidArgument(`num_batch_threads must be >= 1; was ${numBatchThreads}`);
  }
  const splits = parameters.enableLargeBatchSplitting === true;
  const mostAtOnce = Number(parameters.maxExecutionBatchSize ?? maxBatchSize);
  if (splits && (mostAtOnce < 1 || mostAtOnce > maxBatchSize)) {
    throw invalidArgument(
      `When enable_large_batch_splitting is true, max_execution_batch_size (${mostAtOnce}) should be positive and at most input_batch_size_limit (${maxBatchSize})`,
    );
  }
  return {
    maxBatchSize: splits ? mostAtOnce : maxBatchSize,
    ...(splits && { maxInputRows: maxBatchSize }),
    numBatchThreads,
    timeoutMs: Number(parameters.batchTimeoutMicros ?? 0n) / 1_000,
    maxEnqueuedBatches: Number(parameters.maxEnqueuedBatches ?? 10n),
    allowedBatchSizes: sizes,
    padVariableLengthInputs: parameters.padVariableLengthInputs,
    onCheckFailed: dieOfCheck,
  };
}
