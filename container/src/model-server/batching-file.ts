/** TensorFlow Serving's `--batching_parameters_file` (session_bundle_config.proto, BatchingParameters). */
import type { Batching } from '../environment.ts';

/** Rows of one request at most; what is more than a batch holds is split. */
const MOST_ROWS = 1_000_000;

/**
 * The file's text. `max_batch_size` bounds requests there, `max_execution_batch_size` batches, and the last allowed
 * size must be the former (bundle_factory_util.cc); no batch is ever padded to that.
 */
export function batchingParametersText(batching: Batching): string {
  const sizes = batching.allowedSizes.length > 0 ? [...batching.allowedSizes, MOST_ROWS] : [];
  return [
    `max_batch_size { value: ${MOST_ROWS} }`,
    'enable_large_batch_splitting { value: true }',
    `max_execution_batch_size { value: ${batching.maxBatchSize} }`,
    `batch_timeout_micros { value: ${batching.timeoutMicros} }`,
    `num_batch_threads { value: ${batching.threads} }`,
    `max_enqueued_batches { value: ${batching.maxEnqueued} }`,
    ...sizes.map((size) => `allowed_batch_sizes: ${size}`),
    ...(batching.pads ? ['pad_variable_length_inputs: true'] : []),
    '',
  ].join('\n');
}
