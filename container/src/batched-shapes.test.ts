/** With batching every request has the answer that it has without, whatever its shapes, over every transport. */
import { TRANSPORTS } from '@sagemaker-tfs/tensors/custom-attributes';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { type RuntimeProcess, until } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';

const MODELS = ['half_plus_two', 'multi_signature', 'shapes', 'ragged_rows'];
const BATCHING = {
  SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
  SAGEMAKER_TFS_MAX_BATCH_SIZE: '6',
  SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '100000',
};

const start = useRuntimes();
let alone: RuntimeProcess;
const batched: Record<string, Record<(typeof TRANSPORTS)[number], RuntimeProcess>> = {};

beforeAll(async () => {
  const copies = Object.fromEntries(MODELS.map((name) => [name, fixtureModel(name).basePath]));
  const named = { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two' };
  const inProcess = { SAGEMAKER_TFS_BACKEND: 'in-process' };
  alone = await start({ copies }, named);
  for (const [name, padding] of [
    ['as they are', {}],
    ['padded', { SAGEMAKER_TFS_BATCH_PADDING: 'true' }],
  ] as const) {
    const served = await start({ copies }, { ...named, ...BATCHING, ...padding });
    const own = await start({ copies }, { ...named, ...BATCHING, ...padding, ...inProcess });
    batched[name] = { grpc: served, rest: served, 'in-process': own };
  }
});

async function ask({ url }: RuntimeProcess, transport: string, attributes: string, body: string) {
  const response = await fetch(`${url}/invocations`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'X-Amzn-SageMaker-Custom-Attributes': `tfs-transport=${transport},${attributes}`,
    },
  });
  return { status: response.status, body: (await response.json()) as unknown };
}

const column = (rows: number) => Array.from({ length: rows }, (_, row) => [row * 0.5]);
const inputs = (values: object) => JSON.stringify({ inputs: values });
const matrix = (rows: number, columns: number) =>
  Array.from({ length: rows }, (_, row) =>
    Array.from({ length: columns }, (_, at) => (row * 7 + at * 3) % 5),
  );

/** Custom attributes, bodies that come at the same time, and the status of all their answers. */
const KINDS: Record<string, readonly [string, readonly string[], number]> = {
  'more rows than a batch': [
    'tfs-model-name=half_plus_two',
    [1, 20, 3, 31, 6].map((rows) => inputs(column(rows))),
    200,
  ],
  'rows of several lengths': [
    'tfs-model-name=multi_signature,tfs-signature=statistics,tfs-outputs=largest_at',
    [3, 5, 3, 1, 2].map((columns) => inputs(matrix(2, columns))),
    200,
  ],
  'outputs without the rows': [
    'tfs-model-name=multi_signature,tfs-signature=statistics',
    [1, 2, 3].map((rows) => inputs(matrix(rows, 4))),
    200,
  ],
  'rows behind the first dimension': [
    'tfs-model-name=shapes,tfs-signature=dynamic,tfs-outputs=transposed',
    [1, 2].map((rows) => inputs([matrix(rows, 3), matrix(rows, 3)])),
    200,
  ],
  'fixed sizes': [
    'tfs-model-name=shapes,tfs-signature=fixed',
    [1, 2].map(() => inputs(matrix(2, 3))),
    200,
  ],
  scalars: [
    'tfs-model-name=shapes,tfs-signature=scalar',
    [1, 2, 3].map((base) => inputs({ base, exponent: 2 })),
    200,
  ],
  'inputs of unequal rows': [
    'tfs-model-name=ragged_rows',
    [
      inputs({ values: [1, 2, 3], row_splits: [0, 2, 3] }),
      inputs({ values: [], row_splits: [0, 0] }),
      inputs({ values: [4, 5, 6], row_splits: [0, 3] }),
    ],
    200,
  ],
  'no rows': ['tfs-model-name=half_plus_two', [inputs([]), '{"instances": []}'], 400],
};

describe.each(['as they are', 'padded'])('rows %s', (rows) => {
  describe.each(TRANSPORTS)('over %s', (transport) => {
    test.each(Object.entries(KINDS))('%s', async (_name, [attributes, bodies, status]) => {
      const runtime = batched[rows]?.[transport] as RuntimeProcess;
      const expected = await Promise.all(
        bodies.map((body) => ask(alone, 'grpc', attributes, body)),
      );
      const answers = await Promise.all(
        bodies.map((body) => ask(runtime, transport, attributes, body)),
      );
      expect(answers).toEqual(expected);
      for (const answer of answers) expect(answer.status).toBe(status);
    });
  });
});

test.each(['grpc', 'in-process'] as const)(
  'requests of one shape are joined over %s',
  async (transport) => {
    const runtime = batched['as they are']?.[transport] as RuntimeProcess;
    const total = (page: string, name: string) =>
      Number(
        new RegExp(`^sagemaker_tfs_${name}_total{model="half_plus_two"} (.*)$`, 'm').exec(
          page,
        )?.[1],
      );
    await until(async () => {
      const bodies = Array.from({ length: 6 }, () => inputs([[1]]));
      await Promise.all(
        bodies.map((body) => ask(runtime, transport, 'tfs-model-name=half_plus_two', body)),
      );
      const page = await (await fetch(`${runtime.url}/metrics`)).text();
      return total(page, 'batched_requests') > total(page, 'batches');
    });
  },
);
