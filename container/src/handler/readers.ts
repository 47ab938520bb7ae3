/**
 * The functions of `sagemaker-tfs/handler` that read what a caller sent. They throw the same TensorErrors as those of the
 * tensors room; one that the handler does not catch is the caller's error (400 BAD_INPUT, 413 REQUEST_TOO_LARGE) and not
 * the handler's.
 */
import * as tensors from '@sagemaker-tfs/tensors';

const ofInput = new WeakSet<tensors.TensorError>();

/** Whether one of the readers threw it about what it was given. */
export function isOfInput(thrown: unknown): thrown is tensors.TensorError {
  return thrown instanceof tensors.TensorError && ofInput.has(thrown);
}

function noted(thrown: unknown): unknown {
  if (thrown instanceof tensors.TensorError) ofInput.add(thrown);
  return thrown;
}

function reader<A extends unknown[], R>(read: (...args: A) => R): (...args: A) => R {
  return (...args) => {
    try {
      return read(...args);
    } catch (error) {
      throw noted(error);
    }
  };
}

function recordReader<A extends unknown[]>(
  read: (...args: A) => Generator<Uint8Array, void>,
): (...args: A) => Generator<Uint8Array, void> {
  return function* (...args) {
    try {
      yield* read(...args);
    } catch (error) {
      throw noted(error);
    }
  };
}

function turningReader<A extends unknown[], R>(
  read: (...args: A) => Promise<R>,
): (...args: A) => Promise<R> {
  return async (...args) => {
    try {
      return await read(...args);
    } catch (error) {
      throw noted(error);
    }
  };
}

function streamReader<A extends unknown[]>(
  read: (...args: A) => AsyncGenerator<Uint8Array, void>,
): (...args: A) => AsyncGenerator<Uint8Array, void> {
  return async function* (...args) {
    try {
      yield* read(...args);
    } catch (error) {
      throw noted(error);
    }
  };
}

export const decodeNpy = reader(tensors.decodeNpy);
export const decodeNpz = reader(tensors.decodeNpz);
export const decodeNpzInTurns = turningReader(tensors.decodeNpzInTurns);
export const decodeTensorProto: typeof tensors.decodeTensorProto = reader(
  tensors.decodeTensorProto,
);
export const decodePredictRequest = reader(tensors.decodePredictRequest);
export const decodePredictResponse = reader(tensors.decodePredictResponse);
export const decodePredictResponseInTurns = turningReader(tensors.decodePredictResponseInTurns);
export const decodeSageMakerRecord = reader(tensors.decodeSageMakerRecord);
export const parseJson = reader(tensors.parseJson);
export const parseJsonDocuments = reader(tensors.parseJsonDocuments);
export const parseJsonLiteralDocuments = reader(tensors.parseJsonLiteralDocuments);
export const parsePackedJson = reader(tensors.parsePackedJson);
export const parsePackedJsonDocuments = reader(tensors.parsePackedJsonDocuments);
export const tensorFromJson = reader(tensors.tensorFromJson);
export const tensorFromNested = reader(tensors.tensorFromNested);
export const readTfRecords = recordReader(tensors.readTfRecords);
export const readRecordIo = recordReader(tensors.readRecordIo);
export const readLengthPrefixed = recordReader(tensors.readLengthPrefixed);
export const streamTfRecords = streamReader(tensors.streamTfRecords);
export const streamRecordIo = streamReader(tensors.streamRecordIo);
export const streamLengthPrefixed = streamReader(tensors.streamLengthPrefixed);
