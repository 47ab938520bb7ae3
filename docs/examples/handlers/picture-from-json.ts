/** `{"picture": "<base64>"}` in, the class with its name out. */
import {
  type Context,
  decodeImage,
  type HandlerInput,
  HttpError,
  isNumeric,
  numericTensor,
  parseJson,
  type TensorMap,
  toNumbers,
} from 'sagemaker-tfs/handler';

const SIDE = 28;
const NAMES = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

export async function inputHandler(data: Uint8Array): Promise<HandlerInput> {
  const { picture } = parseJson(data) as { picture?: string };
  if (!picture) throw new HttpError(422, 'send {"picture": "<base64>"}', { code: 'NO_PICTURE' });
  const size = { width: SIDE, height: SIDE, channels: 'gray', resize: 'contain' } as const;
  const pixels = await decodeImage(Buffer.from(picture, 'base64'), size);
  const levels = new Float32Array(pixels.data).map((level) => level / 255);
  const image = numericTensor('float32', [1, SIDE, SIDE, 1], levels);
  return { inputs: { image }, outputs: ['probabilities'] };
}

export function outputHandler({ probabilities }: TensorMap, context: Context): object {
  if (!probabilities || !isNumeric(probabilities)) throw new Error('no probabilities');
  const scores = Array.from(toNumbers(probabilities), Number);
  const best = scores.indexOf(Math.max(...scores));
  context.log.debug({ scores }, 'scores');
  return { name: NAMES[best], score: scores[best] };
}
