/** The tabular example: text and numbers as CSV and as JSON get the answers of Python TensorFlow. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { predict } from 'sagemaker-tfs/client';
import { type ModelUnderTest, startModel } from 'sagemaker-tfs/testing';
import answers from './answers.json';

const sample = (name: string) => readFileSync(join(__dirname, 'samples', name));

jest.setTimeout(120_000);

let model: ModelUnderTest;
beforeAll(async () => {
  model = await startModel({ model: join(__dirname, 'model') });
});
afterAll(() => model?.stop());

test.each([
  ['trips.csv', 'text/csv; header=present'],
  ['trips.json', 'application/json'],
])('%s', async (name, contentType) => {
  const answer = await predict({ url: model.url }, sample(name), {
    contentType,
    accept: 'application/x-npz',
  });
  const { price, tariff } = answer.tensors();
  const decoder = new TextDecoder();
  const prices = Array.from(price?.data as Float32Array);
  expect(prices).toHaveLength(answers.price.length);
  for (const [at, value] of answers.price.entries()) expect(prices[at]).toBeCloseTo(value, 4);
  const tariffs = Array.from(tariff?.data as readonly Uint8Array[], (text) => decoder.decode(text));
  expect(tariffs).toEqual(answers.tariff);
});

test('columns in another order mean the same; a column that the model lacks is refused by name', async () => {
  const ask = (body: string) =>
    predict({ url: model.url }, body, { contentType: 'text/csv; header=present' });
  const turned = await ask('parcels,district,kilometers\n1,center,1.2\n');
  const { predictions } = turned.json() as { predictions: { price: number; tariff: string }[] };
  expect(predictions[0]?.price).toBeCloseTo(answers.price[0] as number, 4);
  expect(predictions[0]?.tariff).toBe('small');
  await expect(ask('district,kilometres,parcels\ncenter,1.2,1\n')).rejects.toThrow(/kilometres/);
});
