import { decodeImage, numericTensor, type TensorMap, toNumbers } from 'sagemaker-tfs/handler';

export async function inputHandler(picture: Uint8Array) {
  const { data } = await decodeImage(picture, { width: 28, height: 28, channels: 'gray' });
  const image = new Float32Array(data).map((level) => level / 255);
  return { image: numericTensor('float32', [1, 28, 28, 1], image) };
}

export function outputHandler({ probabilities }: TensorMap) {
  if (probabilities?.dtype !== 'float32') throw new Error('no probabilities');
  const scores = Array.from(toNumbers(probabilities), Number);
  return { digit: scores.indexOf(Math.max(...scores)) };
}
