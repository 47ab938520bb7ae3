import { countTurns } from '../../testing/count-turns.ts';
import type { ExamplesRequest } from '../backend.ts';
import { readExamplesReply } from './examples-json.ts';
import { answerResults, takenResults } from './examples-thread.ts';

const MANY = 50_000;
const results = (value: unknown) => Buffer.from(JSON.stringify({ results: value }));
const rowsOf = (rows: number, classes: number) =>
  Array.from({ length: rows }, (_, row) =>
    Array.from({ length: classes }, (_, at) => [`c${at} ü"\u2028`, (row + at) / 8]),
  );

/** What comes out of the thread, taken over by the main one. */
function read(body: Uint8Array, method: ExamplesRequest['method'], signal?: AbortSignal) {
  const { result } = answerResults({ kind: 'results', body, method });
  return countTurns(() => takenResults(result, method, signal));
}

test.each([
  ['many rows', rowsOf(MANY, 2)],
  ['one row', rowsOf(1, MANY)],
  ['rows without classes', [[], ...rowsOf(MANY, 1), []]],
])('classifications are as they are read at once, in turns: %s', async (_what, rows) => {
  const body = results(rows);
  const { result, turns } = await read(body, 'classify');
  expect(result).toEqual(readExamplesReply(body, 'classify'));
  expect(turns).toBeGreaterThan(20);
});

test('regressions too, also those that JSON has no number for', async () => {
  const text = Array.from({ length: MANY }, (_, at) => (at % 7 ? String(at / 8) : 'NaN')).join();
  const body = Buffer.from(`{"results": [${text}, -Infinity]}`);
  const { result, turns } = await read(body, 'regress');
  expect(result).toEqual(readExamplesReply(body, 'regress'));
  expect(turns).toBeGreaterThan(20);
});

test('none at all', async () => {
  expect((await read(results([]), 'classify')).result).toEqual({ classifications: [] });
  expect((await read(results([]), 'regress')).result).toEqual({ regressions: [] });
});

test('a caller who leaves ends it', async () => {
  const gone = AbortSignal.abort(new Error('gone'));
  await expect(read(results(rowsOf(MANY, 1)), 'classify', gone)).rejects.toThrow('gone');
});
