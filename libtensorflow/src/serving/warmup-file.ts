/** The file of requests that TensorFlow Serving sends to a version before it is available. */

/** Where a version has it. */
export const WARMUP_PATH = 'assets.extra/tf_serving_warmup_requests';

/** Records that TensorFlow Serving reads at most. */
export const MAX_WARMUP_RECORDS = 1_000;
