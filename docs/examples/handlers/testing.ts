/** A handler in the real runtime, and one step of it alone. Run it with `npx tsx --test`. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { numericTensor } from 'sagemaker-tfs/handler';
import { fakeContext, type ModelUnderTest, startModel } from 'sagemaker-tfs/testing';
import { outputHandler } from './picture-from-json.ts';

let model: ModelUnderTest;
before(async () => {
  model = await startModel({
    model: 'examples/digits/model',
    handler: 'docs/examples/handlers/picture-from-json.ts',
  });
});
after(() => model?.stop());

test('a picture gets its name', async () => {
  const picture = await readFile('examples/digits/samples/00000-7.jpg', 'base64');
  const answer = await model.post(JSON.stringify({ picture }), { contentType: 'application/json' });
  assert.equal((answer.json() as { name: string }).name, 'seven');
});

test('the highest score names it', () => {
  const probabilities = numericTensor('float32', [1, 3], Float32Array.of(0.1, 0.2, 0.7));
  assert.deepEqual(outputHandler({ probabilities }, fakeContext()), {
    name: 'two',
    score: Math.fround(0.7),
  });
});
