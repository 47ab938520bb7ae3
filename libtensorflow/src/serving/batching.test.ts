import {
  type AbortSignalLike,
  numericTensor,
  type Signature,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import { BatchThreads } from './batch-queue.ts';
import { type BatchingOptions, BatchingSession } from './batching.ts';
import type { Session } from './session.ts';

const OPTIONS: BatchingOptions = {
  maxBatchSize: 2,
  timeoutMs: 1,
  maxEnqueuedBatches: 100,
  numBatchThreads: 1,
  allowedBatchSizes: [],
  padVariableLengthInputs: false,
  unjoinable: 'run-alone',
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

/** A session that answers its inputs, or never. */
function sessionOf(isStuck = false) {
  const signals: (AbortSignalLike | undefined)[] = [];
  const session: Session = {
    signatures: { serving_default: signature },
    run: (_signature, { x }, _outputs, signal) => {
      signals.push(signal);
      if (isStuck) {
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
  const batching = new BatchingSession(session, OPTIONS, new BatchThreads(1));
  const [first, second] = [new AbortController(), new AbortController()];
  const runs = [first, second].map(({ signal }) =>
    batching.run('serving_default', rows(1), ['y'], signal).catch((error: unknown) => error),
  );
  while (signals.length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
  first.abort(new Error('first gone'));
  expect(signals[0]?.aborted).toBe(false);
  second.abort(new Error('second gone'));
  expect(signals[0]?.aborted).toBe(true);
  expect(await Promise.all(runs)).toMatchObject([
    { message: 'first gone' },
    { message: 'second gone' },
  ]);
});

test('nothing is kept of shapes that nobody waits for', async () => {
  const added = jest.spyOn(Map.prototype, 'set');
  const deleted = jest.spyOn(Map.prototype, 'delete');
  try {
    const { session } = sessionOf();
    const batching = new BatchingSession(session, OPTIONS, new BatchThreads(4));
    await Promise.all(
      Array.from({ length: 50 }, (_, width) =>
        batching.run('serving_default', rows(1, width), ['y']),
      ),
    );
    const keys = (calls: readonly (readonly unknown[])[]) =>
      new Set(calls.map(([key]) => key).filter((key) => String(key).includes('float32')));
    expect(keys(added.mock.calls).size).toBe(50);
    expect(keys(deleted.mock.calls)).toEqual(keys(added.mock.calls));
  } finally {
    added.mockRestore();
    deleted.mockRestore();
  }
});
