/** Decodes the pictures of a body that was taken apart. */
import { PREPROCESS_DEFAULTS } from '@sagemaker-tfs/manifest';
import type { Tensor } from '@sagemaker-tfs/tensors';
import { loadOnce } from '../memory/load-once.ts';
import {
  type DecodeContext,
  type DecodedRequest,
  type ReadRequest,
  type RequestCodec,
  recordName,
} from './codec.ts';

/** What reads text needs none of them. */
const imageLibraries = loadOnce(() =>
  Promise.all([import('../images/image-to-tensor.ts'), import('../images/frame-in-picture.ts')]),
);

/** The request with its pictures as tensors. @throws ServingError 4xx naming the record */
export async function withPictures(
  { pictures = [], ...request }: ReadRequest,
  context: DecodeContext,
): Promise<DecodedRequest> {
  if (pictures.length === 0) return request;
  const [{ formOfImages, imagesToTensors }, { framesOf }] = await imageLibraries();
  const inputs: [string, Tensor][] = Object.entries(request.inputs);
  for (const { input, images } of pictures) {
    if (input === undefined) {
      const tensors = await imagesToTensors(images, context, (index) => recordName(context, index));
      const frames = await framesOf(images, context);
      return { ...request, inputs: tensors, form: formOfImages(context), frames };
    }
    const preprocess = { ...PREPROCESS_DEFAULTS, ...context.preprocess, input };
    const name = (index: number) => `${recordName(context, index)}, '${input}'`;
    const tensors = await imagesToTensors(images, { ...context, preprocess }, name);
    inputs.push([input, tensors[input] as Tensor]);
  }
  return { ...request, inputs: Object.fromEntries(inputs) };
}

/** A codec of bodies that may hold pictures. */
export function pictureCodec(
  mediaTypes: readonly string[],
  read: NonNullable<RequestCodec['read']>,
): RequestCodec {
  return {
    mediaTypes,
    read,
    decode: async (body, context) => withPictures(await read(body, context), context),
  };
}
