/** Runs on the event loop: which they are, and that they answer the same. */
import {
  isNumeric,
  numericTensor,
  stringTensor,
  type TensorMap,
  toNumbers,
} from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { signatureCostsInTurns } from './graph/index.ts';
import { type RunResult, SavedModelSession } from './index.ts';
import { quickRuns } from './quick-runs.ts';

const floats = (...values: number[]) =>
  numericTensor('float32', [values.length], Float32Array.from(values));
const rows = (...values: number[]): TensorMap => ({ x: floats(...values) });

describe('a run', () => {
  const courses = () => {
    const courseOf = quickRuns(new Set(['loops']));
    return (inputs: TensorMap, outputs = ['y']) => courseOf('one', inputs, outputs);
  };

  test('is quick after one of the same shapes and outputs took half a millisecond at most', () => {
    const of = courses();
    of(rows(1))?.took(0.6);
    expect(of(rows(1))?.isQuick).toBe(false);
    of(rows(1))?.took(0.5);
    expect(of(rows(2))?.isQuick).toBe(true);
    expect(of(rows(1, 2))?.isQuick).toBe(false);
    expect(of(rows(1), ['y', 'z'])?.isQuick).toBe(false);
  });

  test('is never quick with strings, or where values decide the cost', () => {
    expect(courses()({ x: stringTensor([1], ['a']) })).toBeUndefined();
    expect(quickRuns(new Set(['loops']))('loops', rows(1), ['y'])).toBeUndefined();
  });

  test('that takes long on the event loop ends it for the signature, as many do that take a little too long', () => {
    for (const [ms, most] of [
      [60, 1],
      [2, 70],
    ] as const) {
      const of = courses();
      of(rows(1))?.took(0.1);
      let runs = 0;
      while (of(rows(1)) && runs <= most) {
        of(rows(1))?.took(ms);
        runs++;
      }
      expect(runs).toBeLessThanOrEqual(most);
    }
  });

  test('that is late now and then is forgiven', () => {
    const of = courses();
    of(rows(1))?.took(0.1);
    for (let run = 0; run < 10_000; run++) of(rows(1))?.took(run % 50 === 0 ? 8 : 0.05);
    expect(of(rows(1))?.isQuick).toBe(true);
  });

  test('of more shapes than are remembered is not quick for ever', () => {
    const of = courses();
    for (let size = 0; size <= 64; size++) of(rows(...Array<number>(size).fill(1)))?.took(0.1);
    expect([of(rows(1))?.isQuick, of(rows(...Array<number>(64).fill(1)))?.isQuick]).toEqual([
      false,
      true,
    ]);
  });
});

test.each([
  ['multi_signature', ['serving_default', 'linear']],
  ['keras_functional', ['serving_default']],
  // A loop, sizes from values, texts.
  ['busy', []],
  ['strings', []],
])('%s: the signatures whose cost the shapes decide', async (name, steady) => {
  const { directory } = fixtureModel(name);
  const session = await SavedModelSession.load(directory);
  const { signatures } = session;
  await session.close();
  const { varying } = await signatureCostsInTurns(directory, signatures);
  const others = Object.keys(signatures).filter((key) => !varying.has(key));
  expect(others).toEqual(expect.arrayContaining(steady));
  if (steady.length === 0) expect(others).toEqual([]);
});

/** Whether a promise settles before the event loop turns. */
async function settlesAtOnce(promise: Promise<unknown>): Promise<boolean> {
  let settled = false;
  promise.then(() => {
    settled = true;
  });
  for (let turn = 0; turn < 200; turn++) await undefined;
  return settled;
}

describe.each([
  ['one thread', { interOpThreads: -1, intraOpThreads: 1 }, true],
  ['threads of its own', { interOpThreads: 2, intraOpThreads: 1 }, false],
])('TensorFlow with %s', (_, threads, isQuick) => {
  let session: SavedModelSession;
  beforeAll(async () => {
    session = await SavedModelSession.load(fixtureModel('multi_signature').directory, threads);
  });
  afterAll(() => session.close());

  async function answer(run: Promise<RunResult>): Promise<number[]> {
    const { outputs, release } = await run;
    const { sum } = outputs;
    const values = sum && isNumeric(sum) ? Array.from(toNumbers(sum), Number) : [];
    release();
    return values;
  }

  test('answers are the same, and no turn is waited for where there is one thread', async () => {
    // A clock that stands still: however busy the machine is, no run takes long.
    const clock = jest.spyOn(performance, 'now').mockReturnValue(0);
    const quick: boolean[] = [];
    for (let value = 0; value < 100; value++) {
      const run = session.run('serving_default', { a: floats(value, 2), b: floats(1, 0.5) });
      quick.push(await settlesAtOnce(run));
      expect(await answer(run)).toEqual([value + 1, 2.5]);
    }
    clock.mockRestore();
    expect(quick).toEqual([false, ...Array<boolean>(99).fill(isQuick)]);
  });

  test('errors are the same', async () => {
    // Two sizes that cannot be added.
    const wrong = { a: floats(1, 2, 3), b: floats(1, 2) };
    const run = () => session.run('serving_default', wrong);
    for (let count = 0; count < 20; count++) {
      await expect(run()).rejects.toMatchObject({ code: 'RUN_FAILED' });
    }
  });
});
