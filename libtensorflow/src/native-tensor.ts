/** Tensors between JavaScript and TensorFlow's memory. */
import { constants } from 'node:buffer';
import { setImmediate } from 'node:timers/promises';
import {
  DTYPES,
  dtypeOfEnum,
  elementCount,
  enumName,
  isNumeric,
  type NumericDType,
  type StringTensor,
  type Tensor,
} from '@sagemaker-tfs/tensors';
import { stepsInTurns } from '@sagemaker-tfs/tensors/steps';
import koffi from 'koffi';
import type { CApi, Pointer } from './c-api.ts';
import { LibTensorFlowError } from './errors.ts';
import { freeStrings, readStrings, TSTRING_BYTES, writeStrings } from './native-strings.ts';

const NO_BYTES = new Uint8Array(0);
/** Up to this many bytes of numbers are copied: to watch over a view of TensorFlow's memory costs more. */
const COPIED_BYTES = 16_384;

/**
 * Copies a tensor into memory of TensorFlow, once. Its own memory rather than JavaScript's, because a
 * model may keep an input beyond the run, for example in a variable.
 *
 * @returns the `TF_Tensor`, to be given to {@link deleteInput}
 */
export async function allocateInput(api: CApi, tensor: Tensor): Promise<Pointer> {
  const { shape } = tensor;
  const { enumValue } = DTYPES[tensor.dtype];
  const bytes = isNumeric(tensor) ? tensor.bytes.byteLength : tensor.values.length * TSTRING_BYTES;
  // One place more than the rank: koffi needs memory behind a pointer, scalars have no sizes.
  const dims = new BigInt64Array(shape.length + 1);
  shape.forEach((size, index) => {
    dims[index] = BigInt(size);
  });
  const native = api.TF_AllocateTensor(enumValue, dims, shape.length, bytes);
  if (native === null) {
    throw new LibTensorFlowError('RUN_FAILED', `TensorFlow could not allocate ${bytes} bytes.`);
  }
  if (bytes === 0) return native;
  const data = api.TF_TensorData(native);
  if (isNumeric(tensor)) api.memcpy(data, tensor.bytes, bytes);
  else await stepsInTurns(writeStrings(api, data, tensor.values), setImmediate);
  return native;
}

/** String inputs that a model kept beyond their run, for example in a variable: the number of strings. */
const keptByModels = new Map<Pointer, { readonly api: CApi; readonly count: number }>();

/**
 * Frees what {@link allocateInput} made, once the run is over and its string outputs are read. TensorFlow
 * does not free the strings of a tensor that it did not fill itself, so they are freed here; where the
 * model kept the tensor, later, by {@link deleteKeptInputs}.
 */
export async function deleteInput(api: CApi, native: Pointer, tensor: Tensor): Promise<void> {
  if (isNumeric(tensor)) {
    api.TF_DeleteTensor(native);
    return;
  }
  keptByModels.set(native, { api, count: tensor.values.length });
  await deleteKeptInputs();
}

/** Frees the string inputs that no model refers to any more. */
export async function deleteKeptInputs(): Promise<void> {
  for (const [native, { api, count }] of [...keptByModels]) {
    // Another call may be at it, or done, since the list was made. It answers the tensor itself where nobody else
    // refers to its buffer.
    if (!keptByModels.has(native) || api.TF_TensorMaybeMove(native) === null) continue;
    keptByModels.delete(native);
    if (count > 0) {
      await stepsInTurns(freeStrings(api, api.TF_TensorData(native), count), setImmediate);
    }
    api.TF_DeleteTensor(native);
  }
}

/** What the outputs of a run may hold, all together. */
export interface OutputLimits {
  readonly maxStrings: number;
  /** Bytes of numbers. */
  readonly maxBytes: number;
}

/** An output as JavaScript sees it. */
export interface Output {
  readonly tensor: Tensor;
  /** The memory of TensorFlow that the tensor's bytes are, or undefined if they were copied. */
  readonly view: ArrayBuffer | undefined;
}

/**
 * Describes an output: many numbers as a view on TensorFlow's memory, few copied; strings copied, in turns.
 * @param left looked at before anything is read
 * @throws LibTensorFlowError WRONG_DTYPE for a dtype that this project does not carry; TOO_MANY_STRINGS; TOO_MANY_BYTES
 */
export async function readOutput(api: CApi, native: Pointer, left: OutputLimits): Promise<Output> {
  const dtypeEnum = api.TF_TensorType(native);
  const dtype = dtypeOfEnum(dtypeEnum);
  if (dtype === undefined) {
    throw new LibTensorFlowError(
      'WRONG_DTYPE',
      `outputs of ${enumName(dtypeEnum)} are not supported.`,
    );
  }
  const shape = Array.from({ length: api.TF_NumDims(native) }, (_, index) =>
    api.TF_Dim(native, index),
  );
  if (dtype === 'string') {
    return { tensor: await readText(api, native, shape, left.maxStrings), view: undefined };
  }
  return readNumbers(api, native, dtype, shape, left.maxBytes);
}

function readNumbers(
  api: CApi,
  native: Pointer,
  dtype: NumericDType,
  shape: readonly number[],
  maxBytes: number,
): Output {
  const length = api.TF_TensorByteSize(native);
  // Beyond Node's own limit a view ends the process.
  if (length > Math.min(maxBytes, constants.MAX_LENGTH)) {
    const message = `the outputs hold more than ${Math.min(maxBytes, constants.MAX_LENGTH)} bytes. Ask for fewer outputs or rows.`;
    throw new LibTensorFlowError('TOO_MANY_BYTES', message);
  }
  if (length === 0) return { tensor: { dtype, shape, bytes: NO_BYTES }, view: undefined };
  if (length <= COPIED_BYTES) {
    const bytes = new Uint8Array(length);
    api.memcpy(bytes, api.TF_TensorData(native), length);
    return { tensor: { dtype, shape, bytes }, view: undefined };
  }
  const view = koffi.view(api.TF_TensorData(native), length);
  return { tensor: { dtype, shape, bytes: new Uint8Array(view) }, view };
}

async function readText(
  api: CApi,
  native: Pointer,
  shape: readonly number[],
  maxStrings: number,
): Promise<StringTensor> {
  const count = elementCount(shape);
  if (count > maxStrings) {
    const message = `the outputs hold more than ${maxStrings} strings. Ask for fewer outputs or rows, or raise the limit.`;
    throw new LibTensorFlowError('TOO_MANY_STRINGS', message);
  }
  if (count === 0) return { dtype: 'string', shape, values: [] };
  const steps = readStrings(api, api.TF_TensorData(native), count);
  return { dtype: 'string', shape, values: await stepsInTurns(steps, setImmediate) };
}
