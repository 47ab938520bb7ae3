/** Triton's requests and answers (KServe's protocol, version 2), in JSON and in binary, so that its clients can stay. */
import {
  type Context,
  type DType,
  type ElementValue,
  type HandlerResponse,
  HttpError,
  isNumeric,
  numericTensor,
  parseJson,
  stringTensor,
  type Tensor,
  type TensorMap,
  tensorFromValues,
  toNumbers,
} from 'sagemaker-tfs/handler';

/** Type of a body that begins with JSON; the tensors' bytes follow. */
const BINARY = 'application/vnd.sagemaker-triton.binary+json;json-header-size=';

const DTYPES: Readonly<Record<string, DType>> = {
  ...{ BOOL: 'bool', BYTES: 'string', BF16: 'bfloat16', FP16: 'float16' },
  ...{ FP32: 'float32', FP64: 'float64', INT8: 'int8', INT16: 'int16', INT32: 'int32' },
  ...{ INT64: 'int64', UINT8: 'uint8', UINT16: 'uint16', UINT32: 'uint32', UINT64: 'uint64' },
};
const DATATYPES = Object.fromEntries(Object.entries(DTYPES).map(([name, dtype]) => [dtype, name]));

interface InputTensor {
  readonly name: string;
  readonly shape: number[];
  readonly datatype: string;
  /** Flat or nested. */
  readonly data?: readonly unknown[];
  readonly parameters?: { readonly binary_data_size?: number };
}

interface InferRequest {
  readonly id?: string;
  readonly inputs: readonly InputTensor[];
  readonly outputs?: readonly {
    readonly name: string;
    readonly parameters?: { readonly binary_data?: boolean };
  }[];
  readonly parameters?: { readonly binary_data_output?: boolean };
}

export async function handler(data: Uint8Array, context: Context): Promise<HandlerResponse> {
  const headerSize = Number(/json-header-size=(\d+)/.exec(context.requestContentType)?.[1]);
  const end = Number.isNaN(headerSize) ? data.byteLength : headerSize;
  const request = readRequest(data.subarray(0, end));
  const asked = request.outputs?.map(({ name }) => name);
  const inputs = inputsOf(request, data.subarray(end));
  const outputs = await context.predict(inputs, asked && { outputs: asked });
  return answer(request, outputs, context);
}

function readRequest(json: Uint8Array): InferRequest {
  try {
    // Integers beyond 2^53 keep their digits.
    const request = parseJson(json) as InferRequest;
    const isRead = request.outputs?.every(({ name }) => typeof name === 'string') ?? true;
    if (Array.isArray(request.inputs) && isRead) return request;
  } catch {
    // Told below.
  }
  throw new HttpError(
    400,
    `the body is no JSON with 'inputs', and 'outputs' that have names. Send a request of KServe's version 2.`,
  );
}

function inputsOf({ inputs }: InferRequest, binary: Uint8Array): TensorMap {
  let at = 0;
  const entries = inputs.map((input): [string, Tensor] => {
    if (typeof input?.name !== 'string' || !Array.isArray(input.shape)) {
      throw new HttpError(400, 'an input has no name or no shape.');
    }
    const dtype = DTYPES[input.datatype];
    if (!dtype) throw new HttpError(400, `${input.name}: no datatype ${input.datatype}.`);
    const size = input.parameters?.binary_data_size;
    const bytes = size === undefined ? undefined : binary.subarray(at, at + size);
    at += size ?? 0;
    try {
      return [input.name, bytes ? fromBytes(dtype, input, bytes) : fromJson(dtype, input)];
    } catch (error) {
      const { message } = error as Error;
      throw new HttpError(400, `${input.name}: ${message.replace(/\.+$/, '')}.`);
    }
  });
  if (at < binary.byteLength) {
    throw new HttpError(400, `${binary.byteLength - at} bytes follow those of the inputs.`);
  }
  return Object.fromEntries(entries);
}

function fromJson(dtype: DType, { shape, data = [] }: InputTensor): Tensor {
  if (!Array.isArray(data)) throw new Error('its data is no list');
  const flat = data.flat(Number.POSITIVE_INFINITY) as ElementValue[];
  return tensorFromValues(dtype, shape, flat);
}

/** Strings lie behind their lengths, 4 bytes each. */
function fromBytes(dtype: DType, { shape }: InputTensor, bytes: Uint8Array): Tensor {
  if (dtype !== 'string') return numericTensor(dtype, shape, bytes);
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const values: Uint8Array[] = [];
  for (let at = 0; at < view.length; ) {
    const start = at + 4;
    if (start > view.length) throw new Error('ends within a length');
    at = start + view.readUInt32LE(at);
    if (at > view.length) throw new Error('ends within a string');
    values.push(view.subarray(start, at));
  }
  return stringTensor(shape, values);
}

function answer(request: InferRequest, outputs: TensorMap, context: Context): HandlerResponse {
  const blobs: Uint8Array[] = [];
  const described = Object.entries(outputs).map(([name, tensor]) => {
    const common = { name, datatype: DATATYPES[tensor.dtype], shape: tensor.shape };
    const asked = request.outputs?.find((output) => output.name === name)?.parameters;
    const isBinary = asked?.binary_data ?? request.parameters?.binary_data_output ?? false;
    if (!isBinary) return { ...common, data: valuesOf(tensor) };
    const bytes = bytesOf(tensor);
    blobs.push(bytes);
    return { ...common, parameters: { binary_data_size: bytes.byteLength } };
  });
  // Without a version where the request asked for the newest.
  const { modelName: model_name, modelVersion: model_version } = context;
  const json = { id: request.id, model_name, model_version, outputs: described };
  if (blobs.length === 0) return { body: json, contentType: 'application/json' };
  const header = Buffer.from(JSON.stringify(json, withoutLargeIntegers));
  return {
    body: Buffer.concat([header, ...blobs]),
    contentType: `${BINARY}${header.byteLength}`,
  };
}

function valuesOf(tensor: Tensor): unknown[] {
  if (!isNumeric(tensor)) return tensor.values.map((value) => Buffer.from(value).toString());
  const numbers = Array.from<number | bigint>(toNumbers(tensor));
  // As a bigint where a number would lose digits.
  const exact = numbers.map((value) => (isLarge(value) ? value : Number(value)));
  return tensor.dtype === 'bool' ? exact.map(Boolean) : exact;
}

function isLarge(value: number | bigint): boolean {
  return typeof value === 'bigint' && !Number.isSafeInteger(Number(value));
}

/** The JSON before binary outputs is written by JavaScript, which has no large integers there. */
function withoutLargeIntegers(_: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  throw new HttpError(400, 'integers beyond 2^53 beside binary outputs: ask for all in binary.');
}

function bytesOf(tensor: Tensor): Uint8Array {
  if (isNumeric(tensor)) return tensor.bytes;
  const pieces = tensor.values.flatMap((value) => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(value.byteLength);
    return [length, value];
  });
  return Buffer.concat(pieces);
}
