/** Many encoded images in one request, which become one batch. */
import {
  concatBytes,
  encodeLengthPrefixed,
  encodeRecordIo,
  encodeTfRecord,
} from '@sagemaker-tfs/tensors';
import { PredictionError } from '../errors/prediction-error.ts';
import { badBody } from './bad-body.ts';
import type { RequestBody } from './request-body.ts';

/** How the runtime separates images. */
export interface ImagesBodyOptions {
  /**
   * `length-prefixed` (each behind its length, 4 bytes big-endian), `tfrecord` (TensorFlow's, with checksums)
   * or `recordio` (MXNet's). Default: `length-prefixed`.
   */
  readonly format?: 'length-prefixed' | 'tfrecord' | 'recordio';
}

const FORMATS = {
  'length-prefixed': { contentType: 'application/octet-stream', encode: encodeLengthPrefixed },
  tfrecord: { contentType: 'application/x-tfrecord', encode: encodeTfRecord },
  recordio: { contentType: 'application/x-recordio', encode: encodeRecordIo },
} as const;

/**
 * Images (JPEG, PNG, ...: encoded bytes, each as it is) as one body.
 * @throws PredictionError BAD_OPTION for an unknown format, or an image larger than the format can hold
 */
export function imagesBody(
  images: readonly Uint8Array[],
  { format = 'length-prefixed' }: ImagesBodyOptions = {},
): RequestBody {
  if (!Object.hasOwn(FORMATS, format)) {
    const known = Object.keys(FORMATS).join(', ');
    throw new PredictionError(
      'BAD_OPTION',
      `there is no format ${JSON.stringify(format)} of images. Pass one of ${known}.`,
    );
  }
  const { contentType, encode } = FORMATS[format];
  const chunks = images.flatMap((image, index) => badBody(`image ${index}`, () => encode(image)));
  return { bytes: concatBytes(chunks), contentType };
}
