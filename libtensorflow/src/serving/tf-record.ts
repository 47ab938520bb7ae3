/** Records of a TFRecord file, broken ones in TensorFlow's words. */
import { readTfRecords, TensorError } from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { StatusError } from './status-error.ts';

/** Length and two checksums around each record. */
const FRAMING_BYTES = 16;

/** The records of a file. @throws StatusError DATA_LOSS for a broken length or checksum */
export function* tfRecords(file: Buffer): Generator<Uint8Array> {
  let offset = 0;
  try {
    for (const record of readTfRecords(file)) {
      yield record;
      offset += record.byteLength + FRAMING_BYTES;
    }
  } catch (error) {
    if (!(error instanceof TensorError)) throw error;
    const message = `corrupted record at ${offset}`;
    throw new StatusError(Code.DATA_LOSS, message, { cause: error });
  }
}
