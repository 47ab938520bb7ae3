/** The file of requests that TensorFlow Serving sends to a version before it is available. */

/** Where a version has it. */
export const WARMUP_PATH = 'assets.extra/tf_serving_warmup_requests';

/** Records that TensorFlow Serving reads at most. */
export const MAX_WARMUP_RECORDS = 1_000;

/** Bytes of the file that are read at most: a megabyte for each record. */
export const MAX_WARMUP_BYTES = MAX_WARMUP_RECORDS * 2 ** 20;
