/** RecordIO as body: `application/x-recordio`, and SageMaker's `application/x-recordio-protobuf`. */
import { byteLength, decodeSageMakerRecord, readRecordIo } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { type DecodeContext, recordName } from './codec.ts';
import { pictureCodec } from './held-pictures.ts';
import { reading } from './input-error.ts';
import { featureRecords, readBody, readRecords } from './records.ts';

function records(body: Uint8Array, { limits }: DecodeContext): Iterable<Uint8Array> {
  return readRecordIo(body, { maxParts: limits.maxRecordParts });
}

/** Records of images, of tf.Examples or of strings, an instance each. */
export const recordIoRequest = pictureCodec(['application/x-recordio'], async (body, context) =>
  readRecords(records(body, context), context),
);

/** Records of `aialgs.data.Record`: features named after inputs, or `values` for the only input. */
export const protobufRecordIoRequest = pictureCodec(
  ['application/x-recordio-protobuf'],
  async (body, context) => {
    const { limits } = context;
    const { maxDecodedBytes } = limits;
    let decodedBytes = 0;
    // A small body must not take the room of all others.
    const room = { bytes: Math.min(limits.maxSparseBytes, limits.maxOpenSizeBytes) };
    const read = (record: Uint8Array, index: number) => {
      const { features } = reading(
        () => decodeSageMakerRecord(record, limits, room),
        recordName(context, index),
      );
      for (const tensor of Object.values(features)) decodedBytes += byteLength(tensor);
      if (decodedBytes <= maxDecodedBytes) return features;
      throw new ServingError(
        'REQUEST_TOO_LARGE',
        `${recordName(context, index)}: the records so far hold more than ${maxDecodedBytes} bytes (sparse values made dense). Send fewer at a time.`,
      );
    };
    return readBody(records(body, context), context, () => featureRecords(context, read));
  },
);
