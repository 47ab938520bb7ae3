/**
 * PredictResponse with values in the typed fields of TensorProto (`float_val`, `int_val`, ...), as TensorFlow
 * Serving answers unless `--enable_serialization_as_tensor_content` is given.
 */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import {
  DTYPES,
  encodeTensorProto,
  encodeVarints,
  isNumeric,
  type NumericTensor,
  type PredictResponseMessage,
  TENSOR_VALUE_FIELD,
  type Tensor,
  typedArray,
} from '@sagemaker-tfs/tensors';

const RESPONSE = { outputs: 1, modelSpec: 2 } as const;
const MODEL_SPEC = { name: 1, version: 2, signatureName: 3 } as const;
const ENTRY = { key: 1, value: 2 } as const;
const TENSOR = { dtype: 1, shape: 2 } as const;

/** The message as chunks; float32, float64 and bool values are views on the tensors. */
export function encodeTypedPredictResponse(response: PredictResponseMessage): Uint8Array[] {
  const { name, version = '0' } = response.model;
  const spec = new BinaryWriter()
    .tag(MODEL_SPEC.name, WireType.LengthDelimited)
    .string(name)
    .tag(MODEL_SPEC.version, WireType.LengthDelimited)
    .fork()
    .tag(1, WireType.Varint)
    .int64(BigInt(version))
    .join()
    .tag(MODEL_SPEC.signatureName, WireType.LengthDelimited)
    .string(response.signature)
    .finish();
  const outputs = Object.entries(response.outputs).flatMap(([key, tensor]) => {
    const head = new BinaryWriter().tag(ENTRY.key, WireType.LengthDelimited).string(key).finish();
    return nested(RESPONSE.outputs, [head, ...nested(ENTRY.value, tensorChunks(tensor))]);
  });
  return [...outputs, ...nested(RESPONSE.modelSpec, [spec])];
}

/** A length-delimited field around chunks. */
function nested(field: number, chunks: Uint8Array[]): Uint8Array[] {
  const length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const head = new BinaryWriter().tag(field, WireType.LengthDelimited).uint32(length).finish();
  return [head, ...chunks];
}

function tensorChunks(tensor: Tensor): Uint8Array[] {
  // Strings have no other form.
  if (!isNumeric(tensor)) return encodeTensorProto(tensor);
  const head = new BinaryWriter()
    .tag(TENSOR.dtype, WireType.Varint)
    .int32(DTYPES[tensor.dtype].enumValue)
    .tag(TENSOR.shape, WireType.LengthDelimited)
    .fork();
  for (const size of tensor.shape) {
    head.tag(2, WireType.LengthDelimited).fork().tag(1, WireType.Varint).int64(size).join();
  }
  const described = head.join().finish();
  if (tensor.bytes.byteLength === 0) return [described];
  return [described, ...nested(TENSOR_VALUE_FIELD[tensor.dtype], [packedValues(tensor)])];
}

function packedValues(tensor: NumericTensor): Uint8Array {
  const { dtype } = tensor;
  if (dtype === 'float32' || dtype === 'float64' || dtype === 'bool') return tensor.bytes;
  return encodeVarints(typedArray({ ...tensor, dtype }));
}
