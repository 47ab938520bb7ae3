/**
 * What a handler imports from `sagemaker-tfs/handler`. A handler exports either
 * `handler(data, context)`, or `inputHandler(data, context)` and `outputHandler(result, context)`.
 */
import type { DecodeImageOptions } from '../images/decode-options.ts';
import type { Pixels } from '../images/resample.ts';
import { loadOnce } from '../memory/load-once.ts';

export * from '@sagemaker-tfs/tensors';
export type * from './api.ts';
export { HttpError } from './http-error.ts';
// In place of those of the tensors room.
export {
  decodeNpy,
  decodeNpz,
  decodeNpzInTurns,
  decodePredictRequest,
  decodePredictResponse,
  decodePredictResponseInTurns,
  decodeSageMakerRecord,
  decodeTensorProto,
  parseJson,
  parseJsonDocuments,
  parseJsonLiteralDocuments,
  parsePackedJson,
  parsePackedJsonDocuments,
  readLengthPrefixed,
  readRecordIo,
  readTfRecords,
  streamLengthPrefixed,
  streamRecordIo,
  streamTfRecords,
  tensorFromJson,
  tensorFromNested,
} from './readers.ts';

/** Not with the handler, which is loaded before the runtime listens. */
const decoder = loadOnce(() => import('../images/decode-in-handler.ts'));

/**
 * Decodes, resizes and orders the channels of one picture (JPEG, PNG, WebP, TIFF, or the first frame of a
 * GIF), upright by its EXIF orientation.
 * @param out where the pixels go if the size is given: exactly height * width * channels bytes
 * @returns rows of pixels, channels innermost: 1 channel for `gray`, else 3
 * @throws ServingError BAD_IMAGE if the bytes are no whole picture, REQUEST_TOO_LARGE beyond `maxPixels`
 */
export async function decodeImage(
  bytes: Uint8Array,
  options?: DecodeImageOptions,
  out?: Uint8Array,
): Promise<Pixels> {
  const { decodeInHandler } = await decoder();
  return decodeInHandler(bytes, options, out);
}
