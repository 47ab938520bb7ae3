/** TFRecord as body: `application/x-tfrecord`. */
import {
  encodeTfRecord,
  readTfRecords,
  type Tensor,
  type TensorMap,
  typedArray,
} from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { eachRowInTurns } from '../waiting/rows-in-turns.ts';
import type { RequestCodec, ResponseCodec } from './codec.ts';
import { pictureCodec } from './held-pictures.ts';
import { orderedOutputs } from './ordered-outputs.ts';
import { readRecords } from './records.ts';
import { countRows, rowReader } from './rows.ts';
import { type Pieces, textBody } from './text-body.ts';
import { encodeExample } from './tf-example-writer.ts';
import './native-checksums.ts';

const TFRECORD = 'application/x-tfrecord';
const MAX_INT64 = 2n ** 63n - 1n;

/** Records of images, of tf.Examples or of strings, an instance each. */
export const tfRecordRequest: RequestCodec = pictureCodec([TFRECORD], async (body, context) =>
  readRecords(readTfRecords(body), context),
);

/** A tf.Example an instance, a feature an output, flattened. */
export const tfRecordResponse: ResponseCodec = {
  mediaTypes: [TFRECORD],
  async encode(outputs, context) {
    const ordered = orderedOutputs(outputs, context);
    const count = countRows(ordered, TFRECORD, 'record');
    for (const [name, tensor] of Object.entries(ordered)) await checkValues(name, tensor);
    return { contentType: TFRECORD, body: textBody(outputs, records(ordered, count)) };
  },
};

/**
 * float_list holds float32, int64_list int64: what lies beyond them would become infinite or negative. Looked for in
 * turns of the event loop.
 * @throws ServingError NOT_ACCEPTABLE naming the output and the value
 */
async function checkValues(name: string, tensor: Tensor): Promise<void> {
  const { dtype } = tensor;
  if (dtype !== 'float64' && dtype !== 'uint64') return;
  const values = typedArray({ ...tensor, dtype });
  const check = (start: number): void => {
    const beyond = values.subarray(start, start + CHECKED_IN_TURN).find(isBeyond);
    if (beyond === undefined) return;
    const held = dtype === 'float64' ? 'float32' : 'int64';
    throw new ServingError(
      'NOT_ACCEPTABLE',
      `${TFRECORD} holds ${dtype} as ${held}, and output '${name}' has ${beyond}. Accept application/json or application/x-npz, or ask for other outputs with tfs-outputs.`,
    );
  };
  await eachRowInTurns(values.length, CHECKED_IN_TURN, check);
}

const CHECKED_IN_TURN = 2 ** 16;

function isBeyond(value: number | bigint): boolean {
  if (typeof value === 'bigint') return value > MAX_INT64;
  return Number.isFinite(value) && !Number.isFinite(Math.fround(value));
}

function* records(outputs: TensorMap, count: number): Pieces {
  const readers = Object.entries(outputs).map(
    ([name, tensor]) => [name, rowReader(tensor)] as const,
  );
  for (let index = 0; index < count; index++) {
    const row = Object.fromEntries(readers.map(([name, read]) => [name, read(index)]));
    yield* encodeTfRecord(encodeExample(row));
  }
}
