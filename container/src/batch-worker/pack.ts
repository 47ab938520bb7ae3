/** `--pack`: the inputs themselves as the records of larger files. */
import type { PackFormat } from '@sagemaker-tfs/batch';
import { encodeLengthPrefixed, encodeRecordIo, encodeTfRecord } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import type { NamedObject } from './row.ts';

const ENCODERS = {
  tfrecord: encodeTfRecord,
  recordio: encodeRecordIo,
  'length-prefixed': encodeLengthPrefixed,
} as const satisfies Record<PackFormat, (record: Uint8Array) => Uint8Array[]>;

/** Makes the record of an object, with its framing. @returns a function that throws ServingError BAD_INPUT for an empty one */
export function recordOf(format: PackFormat): (object: NamedObject) => Promise<Uint8Array> {
  const encode = ENCODERS[format];
  return async ({ body }) => {
    // A model refuses it, and a request of many records with it.
    if (body.length === 0) throw new ServingError('BAD_INPUT', 'the object is empty.');
    return Buffer.concat(encode(body));
  };
}
