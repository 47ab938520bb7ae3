/** TensorFlow Serving's `--batching_parameters_file` (session_bundle_config.proto, BatchingParameters). */
import type { SignatureMap } from '@sagemaker-tfs/tensors';
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

/** Signatures whose requests TensorFlow Serving refuses when it batches, each with the reason. */
export function unbatchable(signatures: SignatureMap): string[] {
  return Object.entries(signatures).flatMap(([key, { inputs, outputs }]) => {
    const tensors = [...Object.entries(inputs), ...Object.entries(outputs)];
    const fixed = tensors.find(([, { shape }]) => shape !== undefined && shape[0] !== -1);
    if (!fixed) return [];
    const [name, { shape = [] }] = fixed;
    return [
      `signature "${key}" cannot be batched: the first dimension of "${name}" [${shape.join(', ')}] is not the number of rows. TensorFlow Serving refuses its requests while SAGEMAKER_TFS_ENABLE_BATCHING is true; with SAGEMAKER_TFS_BACKEND=in-process they run alone`,
    ];
  });
}
