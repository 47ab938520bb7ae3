/** JSON as TensorFlow Serving reads it, without losing digits. */
import { concatBytes, nameWithoutJson, writeTensorJson } from '@sagemaker-tfs/tensors';
import { PredictionError } from '../errors/prediction-error.ts';
import { toTensor } from '../typed-tensor.ts';
import { badBody } from './bad-body.ts';
import type { RequestBody } from './request-body.ts';
import { isTensorValue } from './tensors-body.ts';

const encoder = new TextEncoder();

/**
 * Any value as `application/json`, for example `{ instances: [...] }` or `{ inputs: { image: tensor } }`.
 *
 * Beyond JSON.stringify: bigint has all its digits; tensors (`{ dtype, shape, data }`) are nested arrays,
 * floats with the shortest digits of their dtype; typed arrays are arrays, but for Uint8Array, which is bytes
 * and becomes `{"b64": "..."}`; NaN and infinities are bare, as TensorFlow Serving reads them. Members that
 * are undefined are left out.
 * @throws PredictionError BAD_OPTION for functions, symbols, a Date, a Map and others without members, and tensors that do
 * not fit
 */
export function jsonBody(value: unknown): RequestBody {
  const chunks = [...gathered(pieces(value))];
  return { bytes: concatBytes(chunks), contentType: 'application/json' };
}

type Pieces = Generator<string | Uint8Array, void>;

function* pieces(value: unknown): Pieces {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') {
    yield JSON.stringify(value);
  } else if (typeof value === 'number' || typeof value === 'bigint') {
    yield Object.is(value, -0) ? '-0' : String(value);
  } else if (typeof value === 'object') {
    yield* objectPieces(value);
  } else {
    throw new PredictionError('BAD_OPTION', `JSON cannot hold a ${typeof value}.`);
  }
}

function* objectPieces(value: object): Pieces {
  if (value instanceof Uint8Array) yield `{"b64":"${base64(value)}"}`;
  else if (isTensorValue(value)) {
    yield* badBody('a tensor', () => writeTensorJson(toTensor(value)));
  } else if (Array.isArray(value)) yield* listPieces(value);
  else if (ArrayBuffer.isView(value) && !(value instanceof DataView)) yield* viewPieces(value);
  else yield* memberPieces(value);
}

function* listPieces(list: readonly unknown[]): Pieces {
  if (list.every(isPlain)) {
    yield JSON.stringify(list);
    return;
  }
  yield '[';
  for (const [index, element] of list.entries()) {
    if (index > 0) yield ',';
    yield* pieces(element);
  }
  yield ']';
}

/** True if JSON.stringify loses nothing. */
function isPlain(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value) && !Object.is(value, -0);
  return typeof value === 'string' || typeof value === 'boolean';
}

/** A Float32Array has float32's shortest digits. */
function* viewPieces(view: ArrayBufferView): Pieces {
  if (view instanceof Float32Array) {
    yield* writeTensorJson(toTensor({ dtype: 'float32', shape: [view.length], data: view }));
  } else yield* listPieces(Array.from(view as unknown as ArrayLike<unknown>));
}

function* memberPieces(value: object): Pieces {
  const name = nameWithoutJson(value);
  if (name !== undefined) throw new PredictionError('BAD_OPTION', `JSON cannot hold a ${name}.`);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  yield '{';
  for (const [index, [name, member]] of members.entries()) {
    yield `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`;
    yield* pieces(member);
  }
  yield '}';
}

/** Neighboring text is encoded together. */
function* gathered(all: Pieces): Generator<Uint8Array, void> {
  let text = '';
  for (const piece of all) {
    if (typeof piece === 'string') text += piece;
    else {
      if (text) yield encoder.encode(text);
      text = '';
      yield piece;
    }
  }
  if (text) yield encoder.encode(text);
}

/** In parts, because the number of arguments of a call is limited; a part's bytes are a multiple of three. */
function base64(bytes: Uint8Array): string {
  const part = 3 * 8192;
  let text = '';
  for (let at = 0; at < bytes.byteLength; at += part) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + part)));
  }
  return text;
}
