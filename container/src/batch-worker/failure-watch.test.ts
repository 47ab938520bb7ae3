import { BatchError } from '@sagemaker-tfs/batch';
import { FailureWatch } from './failure-watch.ts';

const good = { body: Buffer.from(''), bytes: 0, key: 'a' } as never;
const bad = { failure: { code: 'BAD_INPUT', message: 'no number' } } as never;
const codeOf = (act: () => void) => {
  try {
    act();
    return undefined;
  } catch (error) {
    return error instanceof BatchError ? error.code : error;
  }
};

test('failures in small ranges are counted together: the worker ends before the last', () => {
  const watch = new FailureWatch({ maxFailurePercent: 50 });
  let ranges = 0;
  const act = () => {
    for (; ranges < 64; ranges++) {
      const onRow = watch.range();
      for (let row = 0; row < 50; row++) onRow(bad);
    }
  };
  expect(codeOf(act)).toBe('WORKER_FAILURES');
  expect(ranges).toBe(3);
});

test('a range that fails ends the worker, however many answers it had before', () => {
  const watch = new FailureWatch({ maxFailurePercent: 50 });
  const first = watch.range();
  for (let row = 0; row < 10_000; row++) first(good);
  const second = watch.range();
  expect(codeOf(() => Array.from({ length: 199 }, () => second(bad)))).toBeUndefined();
  expect(codeOf(() => second(bad))).toBe('WORKER_FAILURES');
});

test.each([
  [1, 0, 50, undefined],
  [0, 0, 50, undefined],
  [1, 1, 50, undefined],
  [1, 2, 50, 'WORKER_FAILURES'],
  [0, 1, 50, 'WORKER_FAILURES'],
  [0, 150, 99, 'WORKER_FAILURES'],
  [0, 150, 100, undefined],
  [99, 1, 0, 'WORKER_FAILURES'],
])('at the end, %i answers and %i errors at %i percent: %s', (answers, failures, most, code) => {
  const watch = new FailureWatch({ maxFailurePercent: most });
  expect(codeOf(() => watch.atEnd({ answers, failures, gone: 3 }))).toBe(code);
});
