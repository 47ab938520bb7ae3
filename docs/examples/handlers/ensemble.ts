/** Two versions of a model (or two models) asked at once; the answer is their mean. */
import {
  type Context,
  HttpError,
  isNumeric,
  numericTensor,
  parseJson,
  type TensorMap,
  toNumbers,
} from 'sagemaker-tfs/handler';

export async function handler(data: Uint8Array, context: Context): Promise<object> {
  const { x } = parseJson(data) as { x?: number[] };
  if (!x?.every(Number.isFinite)) throw new HttpError(422, 'send {"x": [numbers]}');
  const inputs = { x: numericTensor('float32', [x.length], Float32Array.from(x)) };
  const answers = await Promise.all(
    ['1', '2'].map((version) => context.predict(inputs, { version, outputs: ['y'] })),
  );
  const [first = [], second = []] = answers.map(numbersOf);
  context.log.info({ count: x.length }, 'ensemble');
  return { y: first.map((value, i) => (value + (second[i] ?? 0)) / 2) };
}

function numbersOf({ y }: TensorMap): number[] {
  if (!y || !isNumeric(y)) throw new Error('the model gave no y');
  return Array.from(toNumbers(y), Number);
}
