/** TFRecord answers: a tf.Example for each instance, a feature for each output. */
import {
  concat,
  numericTensor,
  own,
  readTfRecords,
  stringTensor,
  type Tensor,
  type TensorMap,
  tensorFromValues,
} from '@sagemaker-tfs/tensors';
import { ExampleSchema, type Feature, readMessage } from '@sagemaker-tfs/tensors/protos';
import { unreadable } from './reading.ts';
import type { TensorAnswer } from './tensor-answer.ts';

/**
 * Features joined along a new first axis: [instances, elements], since a tf.Example holds flat lists. Floats
 * are float32, integers and bool int64.
 */
export function tfRecordTensors({ bytes }: TensorAnswer): TensorMap {
  const rows = [...readTfRecords(bytes)].map(featuresOf);
  const [first] = rows;
  if (!first) throw unreadable('the answer has no record.');
  return Object.fromEntries(
    Object.keys(first).map((name) => {
      const parts = rows.map((row, index) => {
        const part = own(row, name);
        if (!part) throw unreadable(`record ${index} has no feature "${name}".`);
        return part;
      });
      return [name, concat(parts)];
    }),
  );
}

function featuresOf(record: Uint8Array, index: number): TensorMap {
  try {
    const { features } = readMessage(ExampleSchema, record);
    return Object.fromEntries(
      Object.entries(features?.feature ?? {}).map(([name, feature]) => [name, rowOf(feature)]),
    );
  } catch (cause) {
    throw unreadable(`record ${index} of the answer is no tf.Example.`, cause);
  }
}

function rowOf({ kind }: Feature): Tensor {
  switch (kind.case) {
    case 'floatList':
      return numericTensor(
        'float32',
        [1, kind.value.value.length],
        Float32Array.from(kind.value.value),
      );
    case 'int64List':
      return tensorFromValues('int64', [1, kind.value.value.length], kind.value.value);
    case 'bytesList':
      return stringTensor([1, kind.value.value.length], kind.value.value);
    default:
      return numericTensor('float32', [1, 0], new Float32Array(0));
  }
}
