/** Answers of TensorFlow Serving over REST with strings that are not UTF-8, which it writes as they are. */
import { isUtf8 } from 'node:buffer';
import { DTYPES, type DType, parseJson } from '@sagemaker-tfs/tensors';
import { signatureOf } from '../../codecs/test-signatures.ts';
import { readPredictReply } from './predict-json.ts';
import { utf8Reply } from './utf8-reply.ts';

const withOutput = (dtype: DType) => ({
  ...signatureOf({}),
  outputs: { y: { tensorName: 'y:0', dtype, dtypeEnum: DTYPES[dtype].enumValue, shape: [-1] } },
});
const text = withOutput('string');

/** As RapidJSON does: a byte at a time, with escapes for quotes, backslashes and control characters. */
const written = (values: readonly Buffer[]) =>
  Buffer.from(
    `{"outputs": [${values.map((value) => JSON.stringify(value.toString('latin1'))).join(', ')}]}`,
    'latin1',
  );

test('such strings come in base64, the others as they are', () => {
  const values = ['ff', '22ff5c0a00', 'c3', '', '22', 'f09f9880', '5c5c22', 'c328'].map((hex) =>
    Buffer.from(hex, 'hex'),
  );
  const { outputs } = parseJson(utf8Reply(written(values), text)) as { outputs: unknown[] };
  expect(outputs).toEqual(
    values.map((value) => (isUtf8(value) ? value.toString() : { b64: value.toString('base64') })),
  );
});

test('every pair of bytes comes back', () => {
  const values = Array.from({ length: 2 ** 16 }, (_, pair) => Buffer.of(pair >> 8, pair & 0xff));
  const { outputs } = parseJson(utf8Reply(written(values), text)) as { outputs: unknown[] };
  const bytes = outputs.map((value) =>
    typeof value === 'string'
      ? Buffer.from(value)
      : Buffer.from((value as { b64: string }).b64, 'base64'),
  );
  expect(Buffer.concat(bytes).equals(Buffer.concat(values))).toBe(true);
});

test('an answer that is UTF-8, or has no strings, is passed on as it is', () => {
  const body = written([Buffer.from('é')]);
  expect(utf8Reply(Buffer.from('{"outputs": ["é"]}'), text).toString()).toBe('{"outputs": ["é"]}');
  expect(utf8Reply(body, withOutput('float32'))).toBe(body);
});

test('an answer that ends within a string stays unreadable', () => {
  expect(() => parseJson(utf8Reply(written([Buffer.of(255)]).subarray(0, 14), text))).toThrow();
});

test('a string that is none of JSON is a failure of the model server, not an exception', () => {
  for (const bytes of ['\0', '\n', '\\x', '\\u12']) {
    const body = Buffer.from(`{"outputs": ["${bytes}\xff"]}`, 'latin1');
    const how = { signature: text, outputs: undefined, maxStrings: 10 };
    expect(() => readPredictReply(body, how)).toThrow(
      expect.objectContaining({ code: 'MODEL_FAILED' }),
    );
  }
});
