/** Settings that depend on each other or on the machine. */
import { availableParallelism } from 'node:os';
import { containerMemory } from '../container-memory.ts';
import type { DecodeLimits } from '../decode-limits.ts';
import type { Values } from './values.ts';

/** TensorFlow Serving's batching parameters. */
export interface Batching {
  readonly maxBatchSize: number;
  readonly timeoutMicros: number;
  readonly threads: number;
  readonly maxEnqueued: number;
  /** Rising; the last is `maxBatchSize`. Empty: any size. */
  readonly allowedSizes: readonly number[];
  /** Whether inputs of differing sizes are padded to the largest, with their first element. */
  readonly pads: boolean;
}

/** Batch transform has 64 requests in flight where it is tuned well. */
const MIN_IN_FLIGHT = 64;
/** Each holds a thread of TensorFlow Serving. */
const MAX_IN_FLIGHT = 1024;

/** The answer is often as large as the picture, and others need room beside both. */
const OPEN_SIZE_PART = 1 / 4;

export function decodeLimitsOf(values: Values): DecodeLimits {
  return {
    maxDecodedBytes: values.SAGEMAKER_TFS_MAX_DECODED_BYTES,
    maxOpenSizeBytes: Math.floor(heldBytesOf(values) * OPEN_SIZE_PART),
    maxImagePixels: values.SAGEMAKER_TFS_MAX_IMAGE_PIXELS,
    maxImageSide: values.SAGEMAKER_TFS_MAX_IMAGE_SIDE,
    maxPngChunks: values.SAGEMAKER_TFS_MAX_PNG_CHUNKS,
    maxJpegScans: values.SAGEMAKER_TFS_MAX_JPEG_SCANS,
    maxImageSeconds: values.SAGEMAKER_TFS_MAX_IMAGE_SECONDS,
    maxStrings: values.SAGEMAKER_TFS_MAX_STRINGS,
    maxFeatures: values.SAGEMAKER_TFS_MAX_FEATURES,
    maxNameBytes: values.SAGEMAKER_TFS_MAX_NAME_BYTES,
    maxNpzRatio: values.SAGEMAKER_TFS_MAX_NPZ_RATIO,
    smallNpzBytes: values.SAGEMAKER_TFS_SMALL_NPZ_BYTES,
    maxRecordParts: values.SAGEMAKER_TFS_MAX_RECORD_PARTS,
    maxSparseBytes: values.SAGEMAKER_TFS_MAX_SPARSE_BYTES,
    maxSparseRatio: values.SAGEMAKER_TFS_MAX_SPARSE_RATIO,
    smallSparseBytes: values.SAGEMAKER_TFS_SMALL_SPARSE_BYTES,
    // Counted as held only when it is read.
    maxParquetBytes: heldBytesOf(values),
    parquet: values.SAGEMAKER_TFS_PARQUET,
  };
}

/** Text takes some times its size while it is read, and the model needs memory of its own. */
const HELD_PART_OF_MEMORY = 1 / 8;
/** Some seconds of reading text: more could only wait. */
const HELD_BYTES_PER_CPU = 256 * 1024 * 1024;

export function heldBytesOf(values: Values): number {
  return values.SAGEMAKER_TFS_MAX_HELD_BYTES ?? defaultHeldBytes(values.SAGEMAKER_BATCH);
}

/** A transform job waits for its answers however long they take, and SageMaker bounds how many it sends. */
function defaultHeldBytes(isBatch: boolean): number {
  const ofMemory = Math.floor(containerMemory() * HELD_PART_OF_MEMORY);
  return isBatch ? 2 * ofMemory : Math.min(ofMemory, HELD_BYTES_PER_CPU * availableParallelism());
}

export function defaultProcesses(values: Values): number {
  const inProcess = values.SAGEMAKER_TFS_BACKEND === 'in-process';
  return inProcess && !values.SAGEMAKER_MULTI_MODEL ? values.SAGEMAKER_TFS_INSTANCE_COUNT : 1;
}

/** What keeps a GPU and every batch thread busy; how many more there are makes no difference to TensorFlow. */
export function inFlightOf(values: Values): number {
  const { SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: given } = values;
  if (given !== undefined) return given;
  return Math.min(MAX_IN_FLIGHT, Math.max(MIN_IN_FLIGHT, 4 * availableParallelism()));
}

export function defaultConcurrency(values: Values): number {
  const atATime = 4 * availableParallelism();
  if (values.SAGEMAKER_TFS_BACKEND === 'in-process') return Math.min(64, atATime);
  return Math.min(64, atATime, inFlightOf(values) * values.SAGEMAKER_TFS_INSTANCE_COUNT);
}

export function batchingOf(values: Values): Batching | undefined {
  if (!values.SAGEMAKER_TFS_ENABLE_BATCHING) return undefined;
  const cpus = availableParallelism();
  return {
    maxBatchSize: values.SAGEMAKER_TFS_MAX_BATCH_SIZE,
    timeoutMicros: values.SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS,
    threads: values.SAGEMAKER_TFS_NUM_BATCH_THREADS ?? cpus,
    // The runtime bounds the requests in flight, so the queue need not refuse any.
    maxEnqueued: values.SAGEMAKER_TFS_MAX_ENQUEUED_BATCHES ?? 100_000_000,
    pads: values.SAGEMAKER_TFS_BATCH_PADDING,
    allowedSizes: allowedSizesOf(values),
  };
}

/** Batches that a call without a limit of its own may be split into. */
const BATCHES_A_CALL = 10_000;

export function maxRowsOf(values: Values): number | undefined {
  if (!values.SAGEMAKER_TFS_ENABLE_BATCHING) return undefined;
  return values.SAGEMAKER_TFS_MAX_ROWS ?? BATCHES_A_CALL * values.SAGEMAKER_TFS_MAX_BATCH_SIZE;
}

export function allowedSizesOf({ SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: text }: Values): number[] {
  if (text === undefined) return [];
  return text.split(',').map((size) => (/^\s*\d+\s*$/.test(size) ? Number(size) : Number.NaN));
}
