/** `--pack`: the inputs themselves as the records of larger files. */
import type { PackFormat } from '@sagemaker-tfs/batch';
import { encodeLengthPrefixed, encodeRecordIo, encodeTfRecord } from '@sagemaker-tfs/tensors';
import type { NamedObject } from './row.ts';

const ENCODERS = {
  tfrecord: encodeTfRecord,
  recordio: encodeRecordIo,
  'length-prefixed': encodeLengthPrefixed,
} as const satisfies Record<PackFormat, (record: Uint8Array) => Uint8Array[]>;

/** Makes the record of an object, with its framing. */
export function recordOf(format: PackFormat): (object: NamedObject) => Promise<Uint8Array> {
  const encode = ENCODERS[format];
  return async ({ body }) => Buffer.concat(encode(body));
}
