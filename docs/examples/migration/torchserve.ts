/** TorchServe's image classifier: `preprocess` and `postprocess`, with names for the classes. */
import {
  decodeImage,
  type HandlerInput,
  numericTensor,
  type TensorMap,
  toNumbers,
} from 'sagemaker-tfs/handler';

const NAMES = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];

export async function inputHandler(data: Uint8Array): Promise<HandlerInput> {
  const picture = await decodeImage(data, { width: 28, height: 28, channels: 'gray' });
  const levels = new Float32Array(picture.data).map((level) => level / 255);
  return { image: numericTensor('float32', [1, 28, 28, 1], levels) };
}

export function outputHandler({ probabilities }: TensorMap) {
  if (probabilities?.dtype !== 'float32') throw new Error('no probabilities');
  const scores = Array.from(toNumbers(probabilities), Number);
  const named = scores.map((score, i) => [NAMES[i], score] as const);
  named.sort(([, a], [, b]) => b - a);
  return Object.fromEntries(named.slice(0, 5));
}
