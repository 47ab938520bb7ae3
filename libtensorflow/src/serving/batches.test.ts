import { BatchThreads } from './batch-queue.ts';
import { type AfterFailure, Batches, type BatchItem, type RunKind } from './batches.ts';
import { FillLevel } from './fill-level.ts';

const LIMITS = { maxBatchSize: 8, timeoutMs: 5, maxEnqueuedBatches: 100 };

interface Item extends BatchItem {
  readonly name: string;
}

const item = (name: string, more: Partial<Item> = {}): Item => ({
  size: 1,
  signal: undefined,
  name,
  ...more,
});

/** Batches of names, whose runs fail where one begins with `bad`. */
function batchesOfNames(afterFailure: AfterFailure = 'halves', limits = {}, threads = 1) {
  const runs: string[] = [];
  const kinds: RunKind[] = [];
  const batches = new Batches<Item, string>(
    { ...LIMITS, ...limits },
    new BatchThreads(threads),
    () => afterFailure,
  );
  const run = async (items: readonly Item[], kind: RunKind) => {
    const names = items.map(({ name }) => name);
    runs.push(names.join(' '));
    kinds.push(kind);
    await Promise.resolve();
    if (names.some((name) => name.startsWith('bad'))) throw new Error(names.join(' '));
    return names.map((name) => name.toUpperCase());
  };
  const ask = (...names: string[]) =>
    Promise.allSettled(names.map((name) => batches.add('kind', item(name), run)));
  return { batches, run, runs, kinds, ask };
}

test('a kind that nobody waits for is forgotten: the next call brings its own run', async () => {
  const { batches } = batchesOfNames();
  const answers = ['first', 'second'].map((answer) => async () => [answer]);
  for (const [at, run] of answers.entries()) {
    expect(await batches.add('kind', item('a'), run)).toBe(['first', 'second'][at]);
    await new Promise(setImmediate);
  }
});

test('calls of a batch that failed run again in halves, and each has its own answer or error', async () => {
  const { ask, runs } = batchesOfNames();
  const settled = await ask('a', 'b', 'bad', 'c');
  expect(settled).toMatchObject([
    { value: 'A' },
    { value: 'B' },
    { reason: { message: 'bad' } },
    { value: 'C' },
  ]);
  expect(runs).toEqual(['a b bad c', 'a b', 'bad', 'c']);
});

test('calls of a batch that may have ended its process run one by one, and know it', async () => {
  const { ask, runs, kinds } = batchesOfNames('one by one');
  const settled = await ask('a', 'bad', 'b', 'c');
  expect(settled.map(({ status }) => status)).toEqual([
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
  expect(runs).toEqual(['a bad b c', 'a', 'bad', 'b', 'c']);
  expect(kinds.map(({ isAfterLoss }) => isAfterLoss)).toEqual([false, true, true, true, true]);
});

test('without a second chance every call has the error of its batch', async () => {
  const { ask, runs } = batchesOfNames('reject');
  const settled = await ask('a', 'bad');
  expect(settled).toMatchObject([
    { reason: { message: 'a bad' } },
    { reason: { message: 'a bad' } },
  ]);
  expect(runs).toEqual(['a bad']);
});

test('a call whose sender has left does not run again', async () => {
  const { batches, run, runs } = batchesOfNames();
  const gone = new AbortController();
  const leaving = batches.add('kind', item('a', { signal: gone.signal }), (items, kind) => {
    gone.abort();
    return run(items, kind);
  });
  leaving.catch(() => undefined);
  await expect(batches.add('kind', item('bad'), run)).rejects.toThrow('bad');
  expect(runs).toEqual(['a bad', 'bad']);
});

test('where it is known which half fails, that half does not run whole again', async () => {
  const { ask, runs } = batchesOfNames();
  await ask('a', 'b', 'c', 'd', 'e', 'f', 'g', 'bad');
  expect(runs).toEqual(['a b c d e f g bad', 'a b c d', 'e f', 'g', 'bad']);
  runs.length = 0;
  await ask('bad 1', 'b', 'c', 'd', 'e', 'bad 2', 'g', 'h');
  expect(runs.slice(1)).toEqual([
    'bad 1 b c d',
    'bad 1 b',
    'bad 1',
    'b',
    'c d',
    'e bad 2 g h',
    'e bad 2',
    'e',
    'bad 2',
    'g h',
  ]);
});

describe('batches become smaller if many fail', () => {
  const GOOD = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const harness = () => {
    const made = batchesOfNames('halves', { timeoutMs: 0 });
    const size = async () => {
      made.runs.length = 0;
      await made.ask(...GOOD);
      return made.runs[0]?.split(' ').length;
    };
    return { ...made, size };
  };

  test('down to single calls where each fails, and grow again with those that succeed', async () => {
    const { ask, size } = harness();
    const bad = GOOD.map((name) => `bad ${name}`);
    for (let times = 0; times < 40; times++) await ask(...bad);
    expect(await size()).toBe(1);
    for (let times = 0; times < 40; times++) await ask(...GOOD);
    expect(await size()).toBe(8);
  });

  test('but not for one batch in ten', async () => {
    const { ask, size, runs } = harness();
    for (let times = 0; times < 20; times++) {
      await ask('a', 'b', 'c', 'd', 'e', 'f', 'g', 'bad');
      for (let good = 0; good < 9; good++) expect(await size()).toBe(8);
      runs.length = 0;
    }
  });
});

test('after a loss calls run by themselves until many have succeeded', async () => {
  const { ask, runs } = batchesOfNames('one by one', { timeoutMs: 0 });
  await ask('a', 'bad', 'b', 'c');
  runs.length = 0;
  await ask('a', 'b', 'c', 'd');
  expect(runs).toEqual(['a', 'b', 'c', 'd']);
  for (let times = 0; times < 100; times++) await ask('a', 'b', 'c', 'd');
  runs.length = 0;
  await ask('a', 'b', 'c', 'd');
  expect(runs).toEqual(['a b c d']);
});

test('kinds do not know of each other', async () => {
  const { batches, run, runs, ask } = batchesOfNames();
  for (let times = 0; times < 4; times++) await ask('a', 'bad');
  runs.length = 0;
  await Promise.all(['x', 'y'].map((name) => batches.add('other', item(name), run)));
  expect(runs).toEqual(['x y']);
});

test('a batch of several has no more bytes than allowed, one call may have more', async () => {
  const { batches, run, runs } = batchesOfNames('halves', { maxBatchBytes: 10 });
  const calls = [6, 4, 20, 1, 10].map((bytes) =>
    batches.add('kind', item(String(bytes), { bytes }), run),
  );
  await Promise.all(calls);
  expect(runs).toEqual(['6 4', '20', '1', '10']);
});

test('the level follows the share of batches that fail', () => {
  const level = new FillLevel(8);
  const run = (times: number, failsEach: number) => {
    for (let at = 1; at <= times; at++) level.ran(at % failsEach === 0);
    return level.rows;
  };
  expect(run(500, 16)).toBe(8);
  expect(run(500, 2)).toBe(1);
  expect(run(500, 8)).toBe(1);
  expect(run(500, 1_000)).toBe(8);
  level.lost();
  expect(level.rows).toBe(1);
  expect(run(20, 1_000)).toBe(1);
  expect([run(500, 1_000), level.isWhole]).toEqual([8, true]);
});
