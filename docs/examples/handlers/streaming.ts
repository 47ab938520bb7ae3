/** A body of any length, a number a line; an answer a line as soon as it is known. */
import {
  type Context,
  type HandlerResponse,
  HttpError,
  isNumeric,
  numericTensor,
  toNumbers,
} from 'sagemaker-tfs/handler';

export const streaming = true;

export function handler(data: AsyncIterable<Uint8Array>, context: Context): HandlerResponse {
  return { body: answers(data, context), contentType: 'application/jsonlines' };
}

async function* answers(data: AsyncIterable<Uint8Array>, context: Context): AsyncGenerator<string> {
  for await (const line of linesOf(data)) {
    const number = Number(line);
    if (!Number.isFinite(Math.fround(number))) throw new HttpError(400, 'a line is no float32');
    const x = numericTensor('float32', [1], Float32Array.of(number));
    const { y } = await context.predict({ x });
    if (!y || !isNumeric(y)) throw new Error('the model gave no y');
    yield `${JSON.stringify({ y: Number(toNumbers(y)[0]) })}\n`;
  }
}

async function* linesOf(data: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of data) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines.filter((line) => line.trim() !== '');
  }
  if (rest.trim() !== '') yield rest;
}
