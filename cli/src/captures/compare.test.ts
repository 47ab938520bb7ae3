/** Which captures are compared with which. */
import type { Capture } from '@sagemaker-tfs/container/captures';
import { compareVariants } from './compare.ts';

const json = (value: unknown) => ({
  contentType: 'application/json',
  bytes: Buffer.from(JSON.stringify(value)),
});

async function* answers(
  ...given: readonly (readonly [unknown, unknown])[]
): AsyncGenerator<Capture> {
  for (const [input, output] of given) {
    yield { id: undefined, input: json(input), output: json({ predictions: [output] }) };
  }
}

test('captures of one body are compared each once, in their order', async () => {
  const compared = await compareVariants(
    answers(['a', 1], ['a', 2], ['b', 5], ['a', 3]),
    answers(['a', 1], ['b', 5], ['a', 2], ['a', 4], ['a', 1]),
    { absolute: 0, relative: 0 },
  );
  expect(compared).toMatchObject({ production: 4, shadow: 5, pairs: 4, agreement: { count: 3 } });
});

// Each with all the others it would take minutes.
test('very many captures of one body are compared', async () => {
  const many = Array.from({ length: 100_000 }, () => ['a', 1] as const);
  const tolerance = { absolute: 0, relative: 0 };
  const compared = await compareVariants(answers(...many), answers(...many), tolerance);
  expect(compared).toMatchObject({ pairs: 100_000, agreement: { count: 100_000 } });
}, 60_000);
