/** Records behind their length as body: `application/octet-stream`, 4 bytes big-endian each. */
import { readLengthPrefixed } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';
import { IMAGE_MEDIA_TYPES, imageFormat } from '../images/image-format.ts';
import { pictureCodec } from './held-pictures.ts';
import { onlyStringInput, readBody, readRecords, stringRecords } from './records.ts';

/** Images or tf.Examples, an instance each; for an only input of DT_STRING always the strings themselves. */
export const lengthPrefixedRequest = pictureCodec(
  ['application/octet-stream'],
  async (body, context) => {
    refuseBareImage(body);
    const records = readLengthPrefixed(body);
    const text = onlyStringInput(context);
    if (text === undefined) return readRecords(records, context);
    return readBody(records, context, () => stringRecords(text, context));
  },
);

/** Every format's first bytes would be a length beyond 1 GB, so this is no guess. */
function refuseBareImage(body: Uint8Array): void {
  const format = imageFormat(body);
  if (!format) return;
  throw new ServingError(
    'BAD_INPUT',
    `application/octet-stream takes each image behind its length (4 bytes, big-endian), but the body begins as ${IMAGE_MEDIA_TYPES[format]}. Send one image alone with that Content-Type.`,
  );
}
