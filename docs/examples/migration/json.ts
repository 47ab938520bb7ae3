/** JSON of one's own in and out. */
import {
  type Context,
  type HandlerInput,
  type HandlerResponse,
  HttpError,
  isNumeric,
  parseJson,
  type TensorMap,
  toNumbers,
} from 'sagemaker-tfs/handler';

export function inputHandler(data: Uint8Array, context: Context): HandlerInput {
  if (context.requestContentType !== 'application/json') {
    throw new HttpError(415, `${context.requestContentType} is not read here`);
  }
  const { values } = Object(parseJson(data)) as { values?: unknown };
  const isList = Array.isArray(values) && values.every((value) => typeof value === 'number');
  if (!isList) throw new HttpError(400, 'values is no list of numbers. Send {"values": [1, 2]}.');
  return { instances: values.map((value) => value / 10) };
}

export function outputHandler(result: TensorMap, context: Context): HandlerResponse {
  if (!result.y || !isNumeric(result.y)) throw new Error('the model gave no y');
  const scores = Array.from(toNumbers(result.y), Number);
  return { body: { scores }, contentType: context.acceptHeader };
}
