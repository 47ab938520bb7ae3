/** What a large answer of Classify and Regress costs others. */
import { countTurns } from '../testing/count-turns.ts';
import { resultsJson } from './classify-or-regress.ts';

const ROWS = 50_000;
const { signal } = new AbortController();

async function written(reply: Parameters<typeof resultsJson>[0]) {
  const { result, turns } = await countTurns(() => resultsJson(reply, ']}', signal));
  return { turns, ...(JSON.parse(Buffer.concat(result).toString()) as { results: unknown }) };
}

test('values', async () => {
  const regressions = Array.from({ length: ROWS }, (_, at) => at / 8);
  const { turns, results } = await written({ regressions });
  expect(results).toEqual(regressions);
  expect(turns).toBeGreaterThan(4);
});

test.each([
  [
    'rows of classes',
    Array.from({ length: ROWS }, (_, at) => [{ label: Buffer.from(`"${at}`), score: at / 8 }]),
  ],
  [
    'one wide row',
    [Array.from({ length: ROWS }, (_, at) => ({ label: Buffer.from('a'), score: at / 8 }))],
  ],
  ['rows without classes', Array.from({ length: ROWS }, () => [])],
])('%s', async (_what, classifications) => {
  const { turns, results } = await written({ classifications });
  expect(results).toEqual(
    classifications.map((row) => row.map(({ label, score }) => [label.toString(), score])),
  );
  expect(turns).toBeGreaterThan(4);
});

test('few', async () => {
  expect((await written({ regressions: [] })).results).toEqual([]);
  expect((await written({ classifications: [] })).results).toEqual([]);
  expect((await written({ regressions: [0.1] })).results).toEqual([0.1]);
});
