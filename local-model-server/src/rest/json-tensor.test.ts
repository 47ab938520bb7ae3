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
  return readInputs(parsedFor(signature, body, parseBody(body)), signature).inputs.x;
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
  ['-0 is the integer 0', 'float32', '{"inputs": [-0, -0.0]}', floats(0, -0)],
  ['10e308 is infinite', 'float32', '{"inputs": [10e308]}', floats(INF)],
  [
    'none of the numbers that are not read',
    'float16',
    '{"inputs": []}',
    numericTensor('float16', [0], new Uint16Array()) as never,
  ],
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
  ['0e400', 'float32', '{"inputs": [0e400]}', 'Number too big to be stored in double.'],
  [
    'a row that is not read',
    'uint16',
    '{"instances": [[], [1]]}',
    "Failed to process element: 1 of 'instances' list. Error: UNIMPLEMENTED: Conversion of JSON Value: 1 to type: uint16",
  ],
  [
    'the first row with an error, before later keys',
    'int32',
    '{"instances": [{"x": "a"}, {"y": 1}]}',
    'Failed to process element: 0 key: x',
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

test('a number of many digits is the nearest; lists beyond 512 deep are refused', () => {
  const text = '{"inputs": [9.8765432109876543e-27]}';
  expect(read('float64', text)).toMatchObject(
    numericTensor('float64', [1], Float64Array.of(9.876543210987654e-27)),
  );
  const deep = `{"inputs": [1], "deep": ${'['.repeat(600)}${']'.repeat(600)}}`;
  expect(errorOf(() => parseBody(Buffer.from(deep))).message).toContain('more than 512 deep');
});

test('bytes that are not UTF-8 are refused', () => {
  const body = Buffer.from('{"inputs": ["\xff"]}', 'latin1');
  expect(errorOf(() => parseBody(body)).message).toContain('JSON Parse error');
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

test('a string of very many escapes, and quotes behind backslashes', () => {
  const count = 12_000_000;
  const values = (text: string) => {
    const tensor = read('string', text);
    return tensor?.dtype === 'string' ? tensor.values : [];
  };
  expect(values(`{"inputs": ["${'\\u0000'.repeat(count)}"]}`)[0]?.length).toBe(count);
  expect(
    values(String.raw`{"inputs": ["a\"b", "\\", "\\\"", ""]}`).map((value) =>
      String(Buffer.from(value)),
    ),
  ).toEqual(['a"b', '\\', '\\"', '']);
});
