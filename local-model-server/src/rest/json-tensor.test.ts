/** Documents at the edge of TensorFlow Serving's JSON, read as its sources read them. */
import { StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { DTYPES, type DType, numericTensor, type Signature } from '@sagemaker-tfs/tensors';
import { parseBody, parsedFor, signatureNameOf } from './json-body.ts';
import { readInputs } from './predict-request.ts';

function signatureOf(dtype: DType): Signature {
  const x = { tensorName: 'x:0', dtype, dtypeEnum: DTYPES[dtype].enumValue, shape: undefined };
  return { key: 'serving_default', methodName: '', inputs: { x }, outputs: {} };
}

function read(dtype: DType, text: string) {
  const body = Buffer.from(text);
  const signature = signatureOf(dtype);
  return readInputs(parsedFor(signature, body, parseBody(body)), signature, new Set()).inputs.x;
}

function errorOf(work: () => unknown): StatusError {
  try {
    work();
  } catch (error) {
    if (error instanceof StatusError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

const floats = (...values: number[]) =>
  numericTensor('float32', [values.length], Float32Array.from(values));
const INF = Number.POSITIVE_INFINITY;

test.each<[string, DType, string, ReturnType<typeof floats>]>([
  [
    'float32 beyond its range is infinite',
    'float32',
    '{"inputs": [1e39, -1e39, 1]}',
    floats(INF, -INF, 1),
  ],
  [
    'Inf, Infinity and NaN, with a minus too',
    'float32',
    '{"inputs": [Inf, -Inf, Infinity, NaN, -NaN]}',
    floats(INF, -INF, INF, Number.NaN, Number.NaN),
  ],
  ['text after the document', 'float32', '{"inputs": [1]} and more', floats(1)],
  ['of equal keys the first', 'float32', '{"inputs": [1], "inputs": [2]}', floats(1)],
  ['integers for floats', 'float32', '{"inputs": [1, 18446744073709551616]}', floats(1, 2 ** 64)],
  [
    'small integers wrap',
    'uint8',
    '{"inputs": [300, -1]}',
    numericTensor('uint8', [2], Uint8Array.of(44, 255)) as never,
  ],
  [
    'int16 wraps',
    'int16',
    '{"inputs": [65537]}',
    numericTensor('int16', [1], Int16Array.of(1)) as never,
  ],
])('%s', (_name, dtype, text, expected) => {
  expect(read(dtype, text)).toEqual(expected);
});

test.each<[string, DType, string, string]>([
  ['1.0 for an integer', 'int32', '{"inputs": [1.0]}', 'is not of expected type: int32'],
  ['1e2 for an integer', 'int64', '{"inputs": [1, 1e2]}', 'is not of expected type: int64'],
  ['beyond int32', 'int32', '{"inputs": [2147483648]}', 'is not of expected type: int32'],
  ['a negative uint32', 'uint32', '{"inputs": [-1]}', 'is not of expected type: uint32'],
  ['float16', 'float16', '{"inputs": [1]}', 'to type: half'],
  ['bfloat16', 'bfloat16', '{"inputs": [1]}', 'to type: bfloat16'],
  ['uint16', 'uint16', '{"inputs": [1]}', 'to type: uint16'],
  ['beyond float64', 'float32', '{"inputs": [1e400]}', 'Number too big to be stored in double.'],
  [
    'half a surrogate pair',
    'string',
    '{"inputs": ["\\ud800"]}',
    'The surrogate pair in string is invalid.',
  ],
  [
    'the other half',
    'string',
    '{"inputs": ["\\udc00x"]}',
    'The surrogate pair in string is invalid.',
  ],
  ['url-safe base64', 'string', '{"inputs": [{"b64": "-_-_"}]}', 'Unable to base64 decode'],
  ['wrong padding', 'string', '{"inputs": [{"b64": "YQ="}]}', 'Unable to base64 decode'],
  [
    'a comma too many',
    'float32',
    '{"inputs": [1,]}',
    'JSON Parse error: Invalid value. at offset: 14',
  ],
  [
    'no comma',
    'float32',
    '{"inputs": [1 2]}',
    'Missing a comma or ] after an array element. at offset: 14',
  ],
  ['nothing but space', 'float32', '  ', 'JSON Parse error: The document is empty.'],
])('%s is refused', (_name, dtype, text, message) => {
  expect(errorOf(() => read(dtype, text)).message).toContain(message);
});

test('a signature_name of null is refused', () => {
  const error = errorOf(() => signatureNameOf(parseBody(Buffer.from('{"signature_name": null}'))));
  expect(error.message).toContain("'signature_name' key must be a string value.");
});

test('base64 with and without padding', () => {
  for (const b64 of ['YQ==', 'YQ', 'Y Q', 'YQ..']) {
    expect(read('string', JSON.stringify({ inputs: [{ b64 }] }))).toMatchObject({
      values: [Buffer.from('a')],
    });
  }
});
