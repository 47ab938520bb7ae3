/** Answers of very many empty rows: they weigh nothing, and are written in turns all the same. */
import { numericTensor } from '@sagemaker-tfs/tensors';
import { encodeResponse } from './registry.ts';
import { signatureOf } from './test-signatures.ts';

const ROWS = 2 ** 20;
const signature = signatureOf({});

test.each([
  ['application/json', ROWS * 3 + 1],
  ['application/jsonlines', ROWS * 3 + 2],
  ['text/csv', ROWS],
])('%s', async (accept, least) => {
  const y = numericTensor('float32', [ROWS, 0], new Float32Array(0));
  const context = { form: 'row', outputOrder: ['y'], signature } as const;
  const { body } = await encodeResponse({ y }, accept, context);
  expect(Array.isArray(body)).toBe(false);
  let turns = 0;
  let handle = setImmediate(function count() {
    turns += 1;
    handle = setImmediate(count);
  });
  let bytes = 0;
  for await (const piece of body as AsyncIterable<Uint8Array>) bytes += piece.byteLength;
  clearImmediate(handle);
  expect(bytes).toBeGreaterThanOrEqual(least);
  expect(turns).toBeGreaterThan(1);
});
