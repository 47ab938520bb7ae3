/** Tensors that a handler made, by hand perhaps: checked before anything is written from them or sent to the model. */
import {
  checkFilled,
  DTYPES,
  type DType,
  elementBytes,
  MAX_RANK,
  type NumericDType,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { readThrown } from '../thrown.ts';

/** True for an object whose every value looks like a tensor. */
export function isTensorMap(value: unknown): value is TensorMap {
  if (typeof value !== 'object' || value === null) return false;
  const tensors = Object.values(value);
  return tensors.length > 0 && tensors.every(isTensor);
}

function isTensor(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const { dtype, shape, bytes, values } = value as Record<string, unknown>;
  return typeof dtype === 'string' && Array.isArray(shape) && (bytes ?? values) !== undefined;
}

/**
 * The same tensors, each read once, over memory that nobody else writes to at the same time.
 * @throws Error that names the tensor whose dtype, shape or elements are not those of a tensor
 */
export function handlerTensors(kind: 'input' | 'output', tensors: TensorMap): TensorMap {
  const entries = Object.entries(tensors).map(([name, tensor]) => {
    try {
      return [name, handlerTensor(tensor)];
    } catch (cause) {
      throw new Error(`its ${kind} "${name}": ${readThrown(cause).message}`);
    }
  });
  return Object.fromEntries(entries) as TensorMap;
}

function handlerTensor(made: Tensor): Tensor {
  const { dtype, shape, bytes, values } = made as unknown as Readonly<Record<string, unknown>>;
  if (!isDType(dtype)) throw new Error(`"${String(dtype)}" is no dtype`);
  const sizes = handlerShape(shape);
  const tensor: Tensor =
    dtype === 'string'
      ? { dtype, shape: sizes, values: byteStrings(values) }
      : { dtype, shape: sizes, bytes: ownBytes(dtype, bytes) };
  checkFilled(tensor);
  return tensor;
}

function isDType(dtype: unknown): dtype is DType {
  return typeof dtype === 'string' && Object.hasOwn(DTYPES, dtype);
}

function handlerShape(shape: unknown): number[] {
  if (!Array.isArray(shape)) throw new Error('its shape is no array');
  if (shape.length > MAX_RANK) {
    throw new Error(`its shape has ${shape.length} sizes. At most ${MAX_RANK} are taken.`);
  }
  return Array.from(shape as unknown[], (size) => {
    if (typeof size === 'number' && Number.isSafeInteger(size) && size >= 0) return size;
    throw new Error(`its shape has the size ${shown(size)}. Sizes are whole numbers >= 0.`);
  });
}

function ownBytes(dtype: NumericDType, given: unknown): Uint8Array {
  if (!ArrayBuffer.isView(given)) {
    throw new Error(`its bytes are ${shown(given)}. Give a Uint8Array of its elements.`);
  }
  const view = elementBytes(dtype, given);
  // Other threads may write to it while the answer is sent.
  return given.buffer instanceof SharedArrayBuffer ? view.slice() : view;
}

function byteStrings(values: unknown): Uint8Array[] {
  if (!Array.isArray(values)) throw new Error('its values are no array of Uint8Arrays');
  const elements: Uint8Array[] = [];
  // Not `map`, which leaves out what a sparse array has no elements for.
  for (let index = 0; index < values.length; index++)
    elements.push(byteString(values[index], index));
  return elements;
}

function byteString(value: unknown, index: number): Uint8Array {
  if (value instanceof Uint8Array) return value;
  if (typeof value === 'string') return Buffer.from(value);
  throw new Error(`its value ${index} is ${shown(value)}. Give text or a Uint8Array.`);
}

function shown(value: unknown): string {
  return typeof value === 'object' && value !== null ? 'an object' : String(value).slice(0, 100);
}
