/** One function for everything; the model is called by it. */
import {
  type Context,
  type HandlerResponse,
  HttpError,
  numericTensor,
  parseJson,
  typedArray,
} from 'sagemaker-tfs/handler';

export async function handler(data: Uint8Array, context: Context): Promise<HandlerResponse> {
  const { x } = Object(parseJson(data)) as { x?: unknown };
  const isList = Array.isArray(x) && x.every((value) => typeof value === 'number');
  if (!isList) throw new HttpError(400, 'x is no list of numbers. Send {"x": [1, 2]}.');
  const inputs = { x: numericTensor('float32', [x.length], Float32Array.from(x)) };
  const { y } = await context.predict(inputs);
  if (y?.dtype !== 'float32') throw new Error('the model gave no y');
  return { body: { y: typedArray(y) }, contentType: 'application/json' };
}
