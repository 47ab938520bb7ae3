/** Pictures as bodies: `application/x-image` and `image/*`, one picture a request. */
import { framesOf } from '../images/frame-in-picture.ts';
import { formOfImages, imagesToTensors } from '../images/image-to-tensor.ts';
import type { RequestCodec } from './codec.ts';

/** The body is one encoded picture; its own first bytes say which format, not the media type. */
export const imageRequest: RequestCodec = {
  mediaTypes: ['application/x-image', 'image/*'],
  async decode(body, context) {
    const inputs = await imagesToTensors([body], context, () => '');
    return { inputs, form: formOfImages(context), frames: await framesOf([body], context) };
  },
};
