/** Messages of Classify and Regress: the bytes of the generated code, and turns for others while they are written and read. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  ClassificationRequestSchema,
  ClassificationResponseSchema,
  RegressionResponseSchema,
} from '@sagemaker-tfs/tensors/protos';
import { countTurns } from '../../testing/count-turns.ts';
import { decodeClassification, decodeRegression, encodeExamplesRequest } from './examples.ts';

const MANY = 50_000;
const modelSpec = { name: 'm', versionChoice: { case: 'version', value: { value: 7n } } } as const;

async function encoded(examples: readonly Uint8Array[]) {
  const request = { model: { name: 'm' }, method: 'regress', signature: 's', examples } as const;
  const { result, turns } = await countTurns(() => encodeExamplesRequest(request));
  return { message: fromBinary(ClassificationRequestSchema, Buffer.concat(result)), turns };
}

test.each([0, 1, 127, 128, 16_383, 16_384, 2_097_152])(
  'a request with an example of %i bytes',
  async (length) => {
    const features = length < 2 ? new Uint8Array(0) : exampleOf(length);
    const { message } = await encoded([features, features]);
    expect(message.modelSpec).toMatchObject({ name: 'm', signatureName: 's' });
    const { kind } = message.input ?? {};
    expect(kind?.case).toBe('exampleList');
    expect(kind?.value?.examples).toHaveLength(2);
  },
);

/** An unknown field of as many bytes as are left, which every reader skips. */
function exampleOf(length: number): Uint8Array {
  for (let size = length; size >= 0; size--) {
    const head = [0x7a, ...varint(size)];
    if (head.length + size === length)
      return Buffer.concat([Buffer.from(head), Buffer.alloc(size)]);
  }
  // No size has a head that fits: two bytes shorter, with a short field before.
  return Buffer.concat([Buffer.from([0x72, 0]), exampleOf(length - 2)]);
}

function varint(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 0x80))];
}

test('a request of many leaves others their turns', async () => {
  const { message, turns } = await encoded(Array.from({ length: MANY }, () => new Uint8Array(0)));
  expect(message.input?.kind.value?.examples).toHaveLength(MANY);
  expect(turns).toBeGreaterThan(20);
});

test('regressions, as the generated code writes them', async () => {
  const regressions = Array.from({ length: MANY }, (_, value) => ({ value: value / 4 }));
  const message = create(RegressionResponseSchema, { result: { regressions }, modelSpec });
  const bytes = toBinary(RegressionResponseSchema, message);
  const { result, turns } = await countTurns(() => decodeRegression(bytes));
  expect(result).toEqual({ regressions: regressions.map(({ value }) => value), version: '7' });
  expect(turns).toBeGreaterThan(20);
});

const bytes = (text: string) => new TextEncoder().encode(text);

test.each([
  [
    'many rows',
    Array.from({ length: MANY }, (_, at) => [{ label: bytes(`é${at}`), score: at / 4 }]),
  ],
  [
    'one wide row',
    [Array.from({ length: MANY }, (_, at) => ({ label: Uint8Array.of(0xff), score: at }))],
  ],
])('classifications, as the generated code writes them: %s', async (_what, rows) => {
  const classifications = [[], ...rows].map((classes) => ({ classes }));
  const message = create(ClassificationResponseSchema, { result: { classifications }, modelSpec });
  const bytes = toBinary(ClassificationResponseSchema, message);
  const { result, turns } = await countTurns(() => decodeClassification(bytes));
  expect(result).toEqual({ classifications: [[], ...rows], version: '7' });
  expect(turns).toBeGreaterThan(20);
});

test('bytes that are no message, and a client that has gone', async () => {
  await expect(decodeRegression(Buffer.from([0x0a, 0x7f, 1]))).rejects.toThrow();
  const signal = AbortSignal.abort(new Error('gone'));
  const examples = Array.from({ length: MANY }, () => new Uint8Array(0));
  const request = {
    model: { name: 'm' },
    method: 'regress',
    signature: 's',
    examples,
    signal,
  } as const;
  await expect(encodeExamplesRequest(request)).rejects.toThrow('gone');
});
