/** Tensors between JavaScript and TensorFlow's memory. */
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
import koffi from 'koffi';
import type { CApi, Pointer } from './c-api.ts';
import { LibTensorFlowError } from './errors.ts';

/** Bytes of a `TF_TString` (tensorflow/core/platform/ctstring_internal.h). */
const TSTRING_BYTES = 24;

const NO_BYTES = new Uint8Array(0);

/**
 * Copies a tensor into memory of TensorFlow, once. Its own memory rather than JavaScript's, because a
 * model may keep an input beyond the run, for example in a variable.
 *
 * @returns the `TF_Tensor`, to be given to {@link deleteInput}
 */
export function allocateInput(api: CApi, tensor: Tensor): Pointer {
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
  else fillStrings(api, data, tensor);
  return native;
}

function fillStrings(api: CApi, data: Pointer, tensor: StringTensor): void {
  tensor.values.forEach((value, index) => {
    const string = stringAt(data, index);
    api.TF_StringInit(string);
    if (value.byteLength > 0) api.TF_StringCopy(string, value, value.byteLength);
  });
}

/** String inputs that a model kept beyond their run, for example in a variable: the number of strings. */
const keptByModels = new Map<Pointer, { readonly api: CApi; readonly count: number }>();

/**
 * Frees what {@link allocateInput} made, once the run is over and its string outputs are read. TensorFlow
 * does not free the strings of a tensor that it did not fill itself, so they are freed here; where the
 * model kept the tensor, later, by {@link deleteKeptInputs}.
 */
export function deleteInput(api: CApi, native: Pointer, tensor: Tensor): void {
  if (isNumeric(tensor)) {
    api.TF_DeleteTensor(native);
    return;
  }
  keptByModels.set(native, { api, count: tensor.values.length });
  deleteKeptInputs();
}

/** Frees the string inputs that no model refers to any more. */
export function deleteKeptInputs(): void {
  for (const [native, { api, count }] of keptByModels) {
    // It answers the tensor itself where nobody else refers to its buffer.
    if (api.TF_TensorMaybeMove(native) === null) continue;
    const data = api.TF_TensorData(native);
    for (let index = 0; index < count; index++) api.TF_StringDealloc(stringAt(data, index));
    api.TF_DeleteTensor(native);
    keptByModels.delete(native);
  }
}

/** An output as JavaScript sees it. */
export interface Output {
  readonly tensor: Tensor;
  /** The memory of TensorFlow that the tensor's bytes are, or undefined if they were copied. */
  readonly view: ArrayBuffer | undefined;
}

/**
 * Describes an output: numbers as a view on TensorFlow's memory, strings copied.
 * @throws LibTensorFlowError WRONG_DTYPE for a dtype that this project does not carry
 */
export function readOutput(api: CApi, native: Pointer): Output {
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
  if (dtype === 'string') return { tensor: readStrings(api, native, shape), view: undefined };
  return readNumbers(api, native, dtype, shape);
}

function readNumbers(
  api: CApi,
  native: Pointer,
  dtype: NumericDType,
  shape: readonly number[],
): Output {
  const length = api.TF_TensorByteSize(native);
  if (length === 0) return { tensor: { dtype, shape, bytes: NO_BYTES }, view: undefined };
  const view = koffi.view(api.TF_TensorData(native), length);
  return { tensor: { dtype, shape, bytes: new Uint8Array(view) }, view };
}

function readStrings(api: CApi, native: Pointer, shape: readonly number[]): StringTensor {
  const count = elementCount(shape);
  if (count === 0) return { dtype: 'string', shape, values: [] };
  const data = api.TF_TensorData(native);
  const values = Array.from({ length: count }, (_, index) => {
    const string = stringAt(data, index);
    const bytes = Buffer.allocUnsafe(api.TF_StringGetSize(string));
    if (bytes.length > 0) api.memcpy(bytes, api.TF_StringGetDataPointer(string), bytes.length);
    return bytes;
  });
  return { dtype: 'string', shape, values };
}

function stringAt(data: Pointer, index: number): Pointer {
  return data + BigInt(index * TSTRING_BYTES);
}
