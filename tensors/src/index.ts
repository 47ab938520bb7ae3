export { type AbortSignalLike, deadlineIn, withDeadline } from './abort-signal-like.ts';
export { elementBytes } from './array-kinds.ts';
export * from './batch.ts';
export * from './cast.ts';
export { type Checksums, provideChecksums } from './checksums.ts';
export { crc32c, maskedCrc32c } from './crc32c.ts';
export * from './dtype.ts';
export * from './error-mask.ts';
export * from './errors.ts';
export * from './half.ts';
export * from './json-reader.ts';
export * from './json-text.ts';
export * from './json-writer.ts';
export {
  encodeLengthPrefixed,
  readLengthPrefixed,
  streamLengthPrefixed,
} from './length-prefixed.ts';
export { MEDIA_TYPE_ENDINGS, mediaTypeOf } from './media-types.ts';
export { isNear, type Nearness } from './nearness.ts';
export { indexed, type PlaceName, tensorFromNested } from './nested.ts';
export {
  type DecodeNpyOptions,
  decodeNpy,
  dtypeAsItLies,
  encodeNpy,
  encodeNpyInTurns,
} from './npy.ts';
export * from './npz.ts';
export { own } from './own.ts';
export { listLength, PackedNumbers } from './packed-numbers.ts';
export { encodeVarints } from './packed-varints.ts';
export * from './predict-message.ts';
export type { ReadRecordsOptions, StreamRecordsOptions } from './record-format.ts';
export { encodeRecordIo, readRecordIo, streamRecordIo } from './recordio.ts';
export * from './sagemaker-record.ts';
export * from './signature.ts';
export * from './signature-def.ts';
export * from './tensor.ts';
export { decodeTensorProto, encodeTensorProto, TENSOR_VALUE_FIELD } from './tensor-proto.ts';
export { concatBytes } from './text.ts';
export { encodeTfRecord, readTfRecords, streamTfRecords } from './tfrecord.ts';
export * from './typed-array.ts';
export { type ElementValue, tensorFromValues } from './values.ts';
