/** TFRecord as body: `application/x-tfrecord`. */
import { encodeTfRecord, readTfRecords, type TensorMap } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import type { RequestCodec, ResponseCodec } from './codec.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { recordsToTensors } from './records.ts';
import { instanceCount, rowReader } from './rows.ts';
import { type Pieces, textBody } from './text-body.ts';
import { encodeExample } from './tf-example-writer.ts';
import './native-checksums.ts';

const TFRECORD = 'application/x-tfrecord';

/** Records of images, of tf.Examples or of strings, an instance each. */
export const tfRecordRequest: RequestCodec = {
  mediaTypes: [TFRECORD],
  async decode(body, context) {
    return recordsToTensors(readTfRecords(body), context);
  },
};

/** A tf.Example an instance, a feature an output, flattened. */
export const tfRecordResponse: ResponseCodec = {
  mediaTypes: [TFRECORD],
  async encode(outputs, context) {
    const ordered = orderedOutputs(outputs, context);
    const count = instanceCount(ordered);
    if (typeof count !== 'number') {
      throw new ServingError(
        'NOT_ACCEPTABLE',
        `${TFRECORD} has a record for each instance, but ${count.problem}. Accept application/json or application/x-npz, or ask for fewer outputs with tfs-outputs.`,
      );
    }
    return { contentType: TFRECORD, body: textBody(outputs, records(ordered, count)) };
  },
};

function* records(outputs: TensorMap, count: number): Pieces {
  const readers = Object.entries(outputs).map(
    ([name, tensor]) => [name, rowReader(tensor)] as const,
  );
  for (let index = 0; index < count; index++) {
    const row = Object.fromEntries(readers.map(([name, read]) => [name, read(index)]));
    yield* encodeTfRecord(encodeExample(row));
  }
}
