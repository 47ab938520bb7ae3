/** Which captures are compared with which. */
import type { Capture } from '@sagemaker-tfs/container/captures';
import { jsonText } from '@sagemaker-tfs/tensors';
import { compareVariants } from './compare.ts';
import { shareOf } from './share.ts';

const json = (value: unknown) => ({
  contentType: 'application/json',
  bytes: Buffer.from(jsonText(value)),
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

test('NaN and infinities are disagreements, and hide no difference beside them', async () => {
  const { NaN: nan, POSITIVE_INFINITY: infinite } = Number;
  const compared = await compareVariants(
    answers(['a', [1, infinite]], ['b', [1, nan]], ['c', [infinite]], ['d', [1e308]]),
    answers(['a', [3, 3]], ['b', [2, 3]], ['c', [infinite]], ['d', [-1e308]]),
    { absolute: 0, relative: 0 },
  );
  expect(compared).toMatchObject({ agreement: { count: 1, of: 4 }, largestDifference: 2 });
});

// Each with all the others it would take minutes.
test('very many captures of one body are compared', async () => {
  const many = Array.from({ length: 100_000 }, () => ['a', 1] as const);
  const tolerance = { absolute: 0, relative: 0 };
  const compared = await compareVariants(answers(...many), answers(...many), tolerance);
  expect(compared).toMatchObject({ pairs: 100_000, agreement: { count: 100_000 } });
}, 60_000);

test('places, ids and answers that callers choose stay few', async () => {
  const places = Array.from({ length: 300 }, (_, i) => i);
  const named = (extra: number) =>
    (async function* (): AsyncGenerator<Capture> {
      for (const i of places) {
        const id = `${i}${'x'.repeat(1000)}`;
        yield { id, input: json(i), output: json([{ [`place${i}`]: extra }]) };
      }
    })();
  const tolerance = { absolute: 0, relative: 0 };
  const { disagreements, examples, leftOut } = await compareVariants(named(1), named(2), tolerance);
  expect(Object.keys(disagreements)).toHaveLength(101);
  expect(disagreements['other places']).toBe(200);
  expect(examples[0]).toHaveLength(128);
  expect(leftOut).toBe(0);
  // Answers of about 15 bytes.
  const few = await compareVariants(named(1), named(1), tolerance, 1000);
  expect(few.leftOut).toBeGreaterThan(200);
  expect(few).toMatchObject({ production: 300, pairs: 300 - few.leftOut });
});

test('a share has the interval that SciPy computes', () => {
  // scipy.stats.binomtest(95, 100).proportion_ci(method="wilson")
  const { low, high } = shareOf(95, 100);
  expect(low).toBeCloseTo(0.8882, 4);
  expect(high).toBeCloseTo(0.9785, 4);
});
