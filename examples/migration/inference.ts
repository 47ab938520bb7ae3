/** `inference.py` beside this file, in TypeScript: a picture in, the likeliest digit and the scores of all out. */
import {
  type Context,
  decodeImage,
  type HandlerInput,
  type HandlerResponse,
  HttpError,
  isNumeric,
  numericTensor,
  type TensorMap,
  toNumbers,
} from 'sagemaker-tfs/handler';

export async function inputHandler(data: Uint8Array, context: Context): Promise<HandlerInput> {
  if (context.requestContentType !== 'application/x-image') {
    throw new HttpError(415, 'send a picture as application/x-image');
  }
  const picture = await decodeImage(data, {
    width: 28,
    height: 28,
    channels: 'gray',
    interpolation: 'bicubic',
    antialias: true,
  });
  const levels = new Float32Array(picture.data).map((level) => level / 255);
  return { image: numericTensor('float32', [1, 28, 28, 1], levels) };
}

export function outputHandler({ probabilities }: TensorMap): HandlerResponse {
  if (!probabilities || !isNumeric(probabilities))
    throw new Error('the model gave no probabilities');
  const scores = Array.from(toNumbers(probabilities), Number);
  const digit = scores.indexOf(Math.max(...scores));
  return { body: { digit, scores }, contentType: 'application/json' };
}
