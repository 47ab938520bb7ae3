import {
  type AbortSignalLike,
  numericTensor,
  type Signature,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { BatchThreads } from './batch-queue.ts';
import { BatchingSession } from './batching.ts';
import { JoiningSession, type JoiningSessionOptions } from './joining.ts';
import type { Session } from './session.ts';

const OPTIONS: JoiningSessionOptions = {
  maxBatchSize: 2,
  timeoutMs: 1,
  maxEnqueuedBatches: 100,
  numBatchThreads: 1,
  allowedBatchSizes: [],
  padVariableLengthInputs: false,
};

const spec = { tensorName: 'x:0', dtype: 'float32', dtypeEnum: 1, shape: [-1, -1] } as const;
const signature: Signature = {
  key: 'serving_default',
  methodName: 'tensorflow/serving/predict',
  inputs: { x: spec },
  outputs: { y: spec },
};

const rows = (count: number, width = 1): TensorMap => ({
  x: numericTensor('float32', [count, width], new Float32Array(count * width)),
});

/** A session that answers its inputs; after the first time never, where it is stuck. */
function sessionOf(isStuck = false) {
  const signals: (AbortSignalLike | undefined)[] = [];
  const session: Session = {
    signatures: { serving_default: signature },
    run: (_signature, { x }, _outputs, signal) => {
      signals.push(signal);
      if (isStuck && signals.length > 1) {
        return new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
        });
      }
      return Promise.resolve({ outputs: x ? { y: x } : {}, release: () => undefined });
    },
    close: async () => undefined,
  };
  return { session, signals };
}

test('a batch that nobody waits for any more is given up; one that somebody waits for is not', async () => {
  const { session, signals } = sessionOf(true);
  const batching = new JoiningSession(session, OPTIONS, new BatchThreads(1));
  await batching.run('serving_default', rows(1), ['y']);
  const [first, second] = [new AbortController(), new AbortController()];
  const runs = [first, second].map(({ signal }) =>
    batching.run('serving_default', rows(1), ['y'], signal).catch((error: unknown) => error),
  );
  while (signals.length === 1) await new Promise((resolve) => setTimeout(resolve, 1));
  first.abort(new Error('first gone'));
  expect(signals[1]?.aborted).toBe(false);
  second.abort(new Error('second gone'));
  expect(signals[1]?.aborted).toBe(true);
  expect(await Promise.all(runs)).toMatchObject([
    { message: 'first gone' },
    { message: 'second gone' },
  ]);
});

/** A session whose outputs are as wide as its call has rows, or have twice the rows. */
function oddSession(shapeOf: (count: number) => readonly number[]) {
  const calls: number[] = [];
  const session: Session = {
    signatures: { serving_default: signature },
    run: async (_signature, { x }) => {
      const count = x?.shape[0] ?? 0;
      calls.push(count);
      const shape = shapeOf(count);
      const size = shape.reduce((product, one) => product * one, 1);
      const y = numericTensor('float32', shape, new Float32Array(size));
      return { outputs: { y }, release: () => undefined };
    },
    close: async () => undefined,
  };
  return { session, calls };
}

test.each([
  ['are as wide as the call has rows', (count: number) => [count, count]],
  ['have other rows than the inputs', (count: number) => [2 * count, 1]],
])('a request of several batches whose outputs %s runs whole', async (_, shapeOf) => {
  const { session, calls } = oddSession(shapeOf);
  const options = { ...OPTIONS, maxInputRows: 100 };
  const batching = new JoiningSession(session, options, new BatchThreads(1));
  const { outputs } = await batching.run('serving_default', rows(3), ['y']);
  expect(outputs.y?.shape).toEqual(shapeOf(3));
  expect((await batching.run('serving_default', rows(5), ['y'])).outputs.y?.shape).toEqual(
    shapeOf(5),
  );
  expect((await batching.run('serving_default', rows(6), ['y'])).outputs.y?.shape).toEqual(
    shapeOf(6),
  );
  expect(calls).toEqual([2, 1, 3, 5, 6]);
  const refused = new BatchingSession(session, options, new BatchThreads(1));
  await expect(refused.run('serving_default', rows(3), ['y'])).rejects.toMatchObject({
    code: Code.FAILED_PRECONDITION,
  });
});

test('a request whose batches have outputs that cannot be joined runs again whole, and so do later ones', async () => {
  const { session, calls } = oddSession((count) => [count, count === 2 ? 7 : 1]);
  const options = { ...OPTIONS, maxInputRows: 100 };
  const batching = new JoiningSession(session, options, new BatchThreads(1));
  for (const sizes of [[2, 2, 1, 5], [5]]) {
    calls.length = 0;
    const { outputs } = await batching.run('serving_default', rows(5), ['y']);
    expect([outputs.y?.shape, calls]).toEqual([[5, 1], sizes]);
  }
});

describe('rows that belong together', () => {
  const PADDED = { ...OPTIONS, maxBatchSize: 4, maxInputRows: 100, allowedBatchSizes: [4] };
  const afterFailure = () => 'halves' as const;

  test('a request whose padded outputs have other rows runs without padding, then and later', async () => {
    const { session, calls } = oddSession((count) => [count === 4 ? 8 : count, 1]);
    const batching = new JoiningSession(session, PADDED, new BatchThreads(1));
    for (const sizes of [[4, 3], [3], [3]]) {
      calls.length = 0;
      const { outputs } = await batching.run('serving_default', rows(3), ['y']);
      expect([outputs.y?.shape, calls]).toEqual([[3, 1], sizes]);
    }
  });

  test('a request that fails for its padding, or because it is cut, runs as it was sent', async () => {
    const { session, calls } = oddSession((count) => {
      if (count === 4) throw new Error('rows are missing');
      return [count, 1];
    });
    const options = { ...PADDED, afterFailure };
    const batching = new JoiningSession(session, options, new BatchThreads(1));
    expect((await batching.run('serving_default', rows(3), ['y'])).outputs.y?.shape).toEqual([
      3, 1,
    ]);
    expect(calls).toEqual([4, 3]);
    calls.length = 0;
    expect((await batching.run('serving_default', rows(6), ['y'])).outputs.y?.shape).toEqual([
      6, 1,
    ]);
    expect(calls.at(-1)).toBe(6);
    await expect(batching.run('serving_default', rows(4), ['y'])).rejects.toThrow('are missing');
  });

  test('a signature that answers other rows than its shapes promise is found out by its first batch', async () => {
    const { session, calls } = oddSession(() => [4, 1]);
    const onAlone = jest.fn();
    const options = { ...PADDED, afterFailure, onAlone };
    const batching = new JoiningSession(session, options, new BatchThreads(1));
    const ask = async (count: number) =>
      (await batching.run('serving_default', rows(count), ['y'])).outputs.y?.shape;
    expect(await ask(1)).toEqual([4, 1]);
    expect(await Promise.all([1, 1, 1, 1, 2, 9].map(ask))).toEqual(new Array(6).fill([4, 1]));
    expect(calls).toEqual([4, 1, 1, 1, 1, 1, 2, 9]);
    expect(onAlone.mock.calls).toEqual([['serving_default', 'joined']]);
  });

  test('what is known of an output holds whichever others are asked for', async () => {
    const shapes: Record<string, (count: number) => readonly number[]> = {
      y: (count) => [count, 1],
      labels: () => [4],
    };
    const calls: number[] = [];
    const session: Session = {
      signatures: {
        serving_default: { ...signature, outputs: { y: spec, labels: { ...spec, shape: [-1] } } },
      },
      run: async (_signature, { x }, names) => {
        const count = x?.shape[0] ?? 0;
        calls.push(count);
        const outputs = names.map((name) => {
          const shape = shapes[name]?.(count) ?? [];
          return [name, numericTensor('float32', shape, new Float32Array(shape[0] ?? 0))];
        });
        return { outputs: Object.fromEntries(outputs), release: () => undefined };
      },
      close: async () => undefined,
    };
    const batching = new JoiningSession(session, PADDED, new BatchThreads(1));
    await batching.run('serving_default', rows(1), ['y', 'labels']);
    await batching.run('serving_default', rows(4), ['labels']);
    const { outputs } = await batching.run('serving_default', rows(1), ['labels']);
    expect(outputs.labels?.shape).toEqual([4]);
    expect(calls).toEqual([4, 1, 4, 1]);
    calls.length = 0;
    for (let i = 0; i < 4; i++) await batching.run('serving_default', rows(2), ['y']);
    // `y` is found to be rows by trials, and then only padded.
    expect(calls).toEqual([4, 2, 4, 2, 4, 2, 4]);
  });
});
