/** Tensors of an answer by its media type. */
import { decodeNpz, type TensorMap } from '@sagemaker-tfs/tensors';
import { type TypedTensor, toTypedTensor } from '../typed-tensor.ts';
import { jsonTensors } from './json-tensors.ts';
import { npyTensors } from './npy-tensors.ts';
import { reading, unreadable } from './reading.ts';
import type { TensorAnswer } from './tensor-answer.ts';
import { tfRecordTensors } from './tfrecord-tensors.ts';

const READERS: Readonly<Record<string, (answer: TensorAnswer) => TensorMap>> = {
  'application/x-npy': npyTensors,
  'application/x-npz': ({ bytes, maxBytes }) => decodeNpz(bytes, { maxBytes }),
  'application/x-tfrecord': tfRecordTensors,
  'application/json': jsonTensors,
  'application/jsonlines': jsonTensors,
  'application/jsons': jsonTensors,
};

/** @throws PredictionError UNREADABLE_ANSWER */
export function readTensors(answer: TensorAnswer): Readonly<Record<string, TypedTensor>> {
  const type = answer.contentType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const read = READERS[type];
  if (!read) {
    throw unreadable(
      `an answer of type '${answer.contentType}' holds no tensors that can be read. Ask with accept for one of ${Object.keys(READERS).join(', ')}`,
    );
  }
  const tensors = reading(type, () => read(answer));
  return Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, toTypedTensor(tensor)]),
  );
}
