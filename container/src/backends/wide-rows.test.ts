/** With padding one wide row does not make all rows of a batch as wide: beyond the bytes of a batch each runs alone. */
import { numericTensor } from '@sagemaker-tfs/tensors';
import pino from 'pino';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { readEnvironment } from '../environment.ts';
import type { ModelHost } from '../model-host/model-host.ts';
import { startModelHost } from '../model-host/start.ts';
import { chooseModels } from '../models/choose-models.ts';
import type { BatchSample } from '../observability/metrics.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { MODEL_SERVER_BIN } from '../testing/model-server-bin.ts';
import { freePorts } from '../testing/ports.ts';

const MAX_BATCH_SIZE = 6;
const BATCHING = {
  SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
  SAGEMAKER_TFS_BATCH_PADDING: 'true',
  SAGEMAKER_TFS_MAX_BATCH_SIZE: String(MAX_BATCH_SIZE),
  // A batch runs when it is full: what is sent together is joined, however slow the machine.
  SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '10000000',
};

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(transport: string, batches: BatchSample[]): Promise<ModelHost> {
  const { basePath } = fixtureModel('multi_signature');
  const { directory, remove } = await createModelDir({ copies: { multi_signature: basePath } });
  const low = await freePorts(2);
  const { environment } = readEnvironment({
    ...BATCHING,
    SAGEMAKER_TFS_MODEL_DIR: directory,
    SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 1}`,
    SAGEMAKER_TFS_BACKEND: transport,
  });
  const host = await startModelHost({
    environment,
    variables: { ...process.env, PATH: `${MODEL_SERVER_BIN}:${process.env.PATH}` },
    log: pino({ level: 'silent' }),
    listeners: { onBatch: (batch) => batches.push(batch) },
    ...(await chooseModels(environment)),
  });
  cleanups.push(remove, () => host.stop());
  await host.readiness.whenReady();
  return host;
}

/** The column of the largest value of each row, and the sizes of the batches that ran. */
async function largestOf(transport: string, width: number) {
  const batches: BatchSample[] = [];
  const host = await start(transport, batches);
  const backend = await host.backends.choose(undefined);
  const ask = async (rows: number, columns: number, at: number) => {
    const values = new Float32Array(rows * columns);
    for (let row = 0; row < rows; row++) values[row * columns + at] = 1;
    const { outputs, release } = await backend.predict({
      model: { name: 'multi_signature' },
      signature: 'statistics',
      inputs: { values: numericTensor('float32', [rows, columns], values) },
      outputs: ['largest_at'],
    });
    const { bytes } = outputs.largest_at as { bytes: Uint8Array };
    const copy = bytes.slice().buffer;
    release?.();
    return [...new BigInt64Array(copy)].map(Number);
  };
  batches.length = 0;
  const largest = await Promise.all([ask(1, width, width - 1), ask(MAX_BATCH_SIZE - 1, 3, 2)]);
  return { largest, batches: batches.map(({ requests, rows }) => [requests, rows]) };
}

describe.each(['grpc', 'in-process'])('over %s', (transport) => {
  test('rows of few bytes run together', async () => {
    expect(await largestOf(transport, 100)).toEqual({
      largest: [[99], [2, 2, 2, 2, 2]],
      batches: [[2, 6]],
    });
  });

  test('a row that would make the others too wide runs alone', async () => {
    const width = 3_000_000;
    expect(await largestOf(transport, width)).toEqual({
      largest: [[width - 1], [2, 2, 2, 2, 2]],
      batches: [
        [1, 1],
        [1, 5],
      ],
    });
  });
});
