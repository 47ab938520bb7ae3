import { create } from '@bufbuild/protobuf';
import { findLibrary, SavedModelSession } from '@sagemaker-tfs/libtensorflow';
import {
  type BatchingOptions,
  BatchingSession,
  BatchThreads,
  type Session,
} from '@sagemaker-tfs/libtensorflow/serving';
import { type TensorMap, tensorFromValues, toNested } from '@sagemaker-tfs/tensors';
import { Code } from '@sagemaker-tfs/tensors/protos';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { batchingOptionsOf } from './batching-parameters.ts';
import { BatchingParametersSchema } from './gen/server_config_pb.ts';

const OPTIONS: BatchingOptions = {
  maxBatchSize: 4,
  timeoutMs: 20,
  maxEnqueuedBatches: 100,
  numBatchThreads: 1,
  allowedBatchSizes: [],
  padVariableLengthInputs: false,
};

let model: SavedModelSession;

beforeAll(async () => {
  const library = await findLibrary();
  model = await SavedModelSession.load(fixtureModel('half_plus_two', '1').directory, {
    ...(library && { library }),
  });
});

afterAll(() => model.close());

/** A batching session on the real model, which notes the rows of each run. */
function batching(options: Partial<BatchingOptions> = {}) {
  const runs: (number | undefined)[] = [];
  let released = 0;
  const session: Session = {
    signatures: model.signatures,
    run: async (signature, inputs, outputs) => {
      runs.push(inputs.x?.shape[0]);
      const result = await model.run(signature, inputs, { outputs });
      return {
        outputs: result.outputs,
        release: () => {
          released += 1;
          result.release();
        },
      };
    },
    close: () => model.close(),
  };
  const all = { ...OPTIONS, ...options };
  const batched = new BatchingSession(session, all, new BatchThreads(all.numBatchThreads));
  const run = async (inputs: TensorMap): Promise<unknown> => {
    const result = await batched.run('serving_default', inputs, ['y']);
    const value = result.outputs.y && toNested(result.outputs.y);
    result.release();
    return value;
  };
  return { run, runs, released: () => released };
}

const rows = (...values: number[]): TensorMap => ({
  x: tensorFromValues('float32', [values.length, 1], values),
});

test('concurrent requests run together, and each gets its own rows', async () => {
  const { run, runs, released } = batching({ maxBatchSize: 100 });
  const answers = await Promise.all([run(rows(2)), run(rows(4, 6)), run(rows(8))]);
  expect(answers).toEqual([[[3]], [[4], [5]], [[6]]]);
  expect(runs).toEqual([4]);
  expect(released()).toBe(1);
});

test('a batch holds no more than max_batch_size rows', async () => {
  const { run, runs } = batching();
  const answers = await Promise.all([run(rows(2, 2, 2)), run(rows(4, 4)), run(rows(6))]);
  expect(answers).toEqual([[[3], [3], [3]], [[4], [4]], [[5]]]);
  expect(runs).toEqual([3, 3]);
});

test('batches are filled up to an allowed size', async () => {
  const { run, runs } = batching({ allowedBatchSizes: [2, 4] });
  expect(await Promise.all([run(rows(2)), run(rows(4)), run(rows(6))])).toEqual([
    [[3]],
    [[4]],
    [[5]],
  ]);
  expect(runs).toEqual([4]);
});

test('inputs of different sizes are refused together, or padded where that is asked for', async () => {
  const wide: TensorMap = { x: tensorFromValues('float32', [1, 2], [2, 4]) };
  const strict = batching();
  const refused = await Promise.allSettled([strict.run(rows(2)), strict.run(wide)]);
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const padding = batching({ padVariableLengthInputs: true });
  expect(await Promise.all([padding.run(rows(8)), padding.run(wide)])).toEqual([
    [[6, 6]],
    [[3, 4]],
  ]);
});

test('a request larger than a batch, or without rows to join, is refused alone', async () => {
  const { run, runs } = batching();
  const scalar: TensorMap = { x: tensorFromValues('float32', [], [1]) };
  const [large, single, fine] = await Promise.allSettled([
    run(rows(1, 2, 3, 4, 5)),
    run(scalar),
    run(rows(2)),
  ]);
  expect(large).toMatchObject({
    reason: {
      code: Code.INVALID_ARGUMENT,
      message: 'Task size 5 is larger than maximum input batch size 4',
    },
  });
  expect(single).toMatchObject({
    reason: { message: 'Batching Run() input tensors must have at least one dimension' },
  });
  expect(fine).toMatchObject({ value: [[3]] });
  expect(runs).toEqual([1]);
});

test('a request of more rows than a batch is split where that is asked for, up to its own limit', async () => {
  const { run, runs } = batching({ maxInputRows: 9 });
  expect(await run(rows(2, 4, 6, 8, 10, 12, 14, 16, 18))).toEqual(
    [3, 4, 5, 6, 7, 8, 9, 10, 11].map((value) => [value]),
  );
  expect(runs.map(Number).sort()).toEqual([1, 4, 4]);
  await expect(run(rows(...Array(10).fill(1)))).rejects.toThrow('larger than maximum');
});

test('requests beyond max_enqueued_batches are refused', async () => {
  const { run } = batching({ maxBatchSize: 1, maxEnqueuedBatches: 1 });
  const settled = await Promise.allSettled([
    run(rows(1)),
    run(rows(1)),
    run(rows(1)),
    run(rows(1)),
  ]);
  const refused = settled.filter(({ status }) => status === 'rejected');
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]).toMatchObject({
    reason: {
      code: Code.UNAVAILABLE,
      message: 'The batch scheduling queue to which this task was submitted is full',
    },
  });
});

test('a run that fails fails all of its requests, and the next batch runs', async () => {
  const { run } = batching();
  const bad: TensorMap = { z: tensorFromValues('float32', [1, 1], [1]) };
  const [a, b] = await Promise.allSettled([run(bad), run(bad)]);
  expect([a.status, b.status]).toEqual(['rejected', 'rejected']);
  expect(await run(rows(2))).toEqual([[3]]);
});

describe('parameters', () => {
  test('are read with the defaults of TensorFlow', () => {
    const options = batchingOptionsOf(
      create(BatchingParametersSchema, {
        maxBatchSize: 8n,
        batchTimeoutMicros: 1500n,
        allowedBatchSizes: [2n, 8n],
      }),
    );
    expect(options).toMatchObject({
      maxBatchSize: 8,
      timeoutMs: 1.5,
      maxEnqueuedBatches: 10,
      allowedBatchSizes: [2, 8],
      padVariableLengthInputs: false,
    });
  });

  test('with splitting, max_batch_size bounds requests and max_execution_batch_size batches', () => {
    const options = batchingOptionsOf(
      create(BatchingParametersSchema, {
        maxBatchSize: 1000n,
        enableLargeBatchSplitting: true,
        maxExecutionBatchSize: 8n,
        allowedBatchSizes: [2n, 8n, 1000n],
      }),
    );
    expect(options).toMatchObject({ maxBatchSize: 8, maxInputRows: 1000 });
  });

  test.each([
    [
      { maxBatchSize: 8n, allowedBatchSizes: [2n, 4n] },
      'Last entry in allowed_batch_sizes must match max_batch_size',
    ],
    [{ maxBatchSize: 8n, allowedBatchSizes: [4n, 2n, 8n] }, 'must be monotonically increasing'],
    [{ maxBatchSize: 0n }, 'max_batch_size must be >= 1'],
    [{ numBatchThreads: 0n }, 'num_batch_threads must be >= 1'],
  ])('%p are refused', (parameters, message) => {
    expect(() => batchingOptionsOf(create(BatchingParametersSchema, parameters))).toThrow(message);
  });
});
