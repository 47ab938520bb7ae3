/** Answers of very many rows that weigh next to nothing: they are written in turns all the same. */
import { numericTensor, stringTensor } from '@sagemaker-tfs/tensors';
import { countTurns } from '../testing/count-turns.ts';
import { encodeResponse } from './registry.ts';
import { bodyOf, signatureOf } from './test-signatures.ts';

const signature = signatureOf({});

async function written(y: Parameters<typeof encodeResponse>[0][string], accept: string) {
  const context = { form: 'row', outputOrder: ['y'], signature } as const;
  return countTurns(async () => {
    const reply = await encodeResponse({ y }, accept, context);
    return { isWhole: Array.isArray(reply.body), bytes: (await bodyOf(reply)).byteLength };
  });
}

const ROWS = 2 ** 20;

test.each([
  ['application/json', ROWS * 3 + 1],
  ['application/jsonlines', ROWS * 3 + 2],
  ['text/csv', ROWS],
])('empty rows as %s', async (accept, least) => {
  const y = numericTensor('float32', [ROWS, 0], new Float32Array(0));
  const { turns, result } = await written(y, accept);
  expect(result.isWhole).toBe(false);
  expect(result.bytes).toBeGreaterThanOrEqual(least);
  expect(turns).toBeGreaterThan(1);
});

const STRINGS = 2 ** 17;

describe.each([
  ['empty strings', new Uint8Array(0)],
  ['strings of a byte', Buffer.from('a')],
])('%s', (_, text) => {
  test.each([
    ['application/json', [STRINGS]],
    ['application/json', [STRINGS / 2, 2]],
    ['application/jsonlines', [STRINGS]],
    ['text/csv', [STRINGS]],
    ['application/x-npz', [STRINGS]],
  ])('as %s of shape %j', async (accept, shape) => {
    const y = stringTensor(shape, new Array<Uint8Array>(STRINGS).fill(text));
    const { turns, result } = await written(y, accept);
    expect(result.bytes).toBeGreaterThanOrEqual(text.byteLength * STRINGS);
    expect(turns).toBeGreaterThan(1);
  });
});
