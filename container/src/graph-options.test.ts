/** Graph options take effect wherever TensorFlow runs: in the model server's process and in the runtime's own. */
import { readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { createModelDir } from './testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess } from './testing/runtime-process.ts';

const BODY = JSON.stringify({
  instances: [
    Array.from({ length: 28 }, (_, y) => Array.from({ length: 28 }, (_, x) => [pixel(x, y)])),
  ],
});

/** A slanted stroke with soft edges. */
function pixel(x: number, y: number): number {
  return y > 4 && y < 24 ? Math.max(0, 1 - Math.abs(x - 20 + y / 2) / 3) : 0;
}

// tensorflow/core/grappler/optimizers/auto_mixed_precision.cc leaves the graph alone on others.
const canBfloat16 =
  process.arch === 'x64' && readFileSync('/proc/cpuinfo', 'latin1').includes('avx512f');
const onBfloat16 = canBfloat16 ? test : test.skip;

let models: Awaited<ReturnType<typeof createModelDir>>;
let runtime: RuntimeProcess | undefined;

beforeAll(async () => {
  models = await createModelDir({ copies: { digits: fixtureModel('digits').basePath } });
});
afterAll(() => models.remove());
afterEach(async () => {
  await runtime?.end();
  runtime = undefined;
});

/** What a runtime with these variables answers: numbers in all their digits. */
async function answer(variables: Record<string, string>): Promise<number[]> {
  runtime = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: models.directory,
    TF_ENABLE_ONEDNN_OPTS: undefined,
    ...variables,
  });
  await runtime.ready();
  const headers = { 'content-type': 'application/json' };
  const reply = await fetch(`${runtime.url}/invocations`, { method: 'POST', headers, body: BODY });
  const { predictions } = (await reply.json()) as { predictions: unknown[] };
  await runtime.end();
  return predictions.flatMap(numbersIn);
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value ? Object.values(value).flatMap(numbersIn) : [];
}

/** Other numbers, none of them far off. */
function expectNear(numbers: number[], others: number[], distance: number): void {
  expect(numbers).not.toEqual(others);
  expect(numbers).toHaveLength(others.length);
  for (const [index, number] of others.entries()) {
    expect(Math.abs((numbers[index] as number) - number)).toBeLessThan(distance);
  }
}

describe.each(['grpc', 'in-process'])('%s', (backend) => {
  const common = { SAGEMAKER_TFS_BACKEND: backend };
  let usual: number[];

  beforeAll(async () => {
    usual = await answer(common);
  });

  onBfloat16('bfloat16: answers near those (skipped: a processor without AVX-512)', async () => {
    const rounded = await answer({ ...common, SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16' });
    expectNear(rounded, usual, 0.05);
  });

  test('float16 on processors: the same answers, and a warning', async () => {
    const numbers = await answer({ ...common, SAGEMAKER_TFS_MIXED_PRECISION: 'float16' });
    expect(numbers).toEqual(usual);
    expect(runtime?.output()).toContain('which TensorFlow computes on GPUs only');
  });

  test("oneDNN off: TensorFlow's own operations, which round otherwise", async () => {
    const on = await answer({ ...common, SAGEMAKER_TFS_ONEDNN: 'true' });
    expectNear(await answer({ ...common, SAGEMAKER_TFS_ONEDNN: 'false' }), on, 1e-5);
  });

  test('XLA: clusters are compiled, and TF_XLA_FLAGS of the user count too', async () => {
    const dumps = await mkdtemp(join(tmpdir(), 'xla-dumps-'));
    try {
      const numbers = await answer({
        ...common,
        SAGEMAKER_TFS_XLA: 'true',
        TF_XLA_FLAGS: '--tf_xla_clustering_debug',
        TF_DUMP_GRAPH_PREFIX: dumps,
      });
      for (const [index, number] of usual.entries()) expect(numbers[index]).toBeCloseTo(number, 5);
      const annotated = (await readdir(dumps)).filter((name) => name.includes('annotated'));
      const graphs = await Promise.all(
        annotated.map((name) => readFile(join(dumps, name), 'utf8')),
      );
      expect(graphs.some((graph) => graph.includes('_XlaCluster'))).toBe(true);
    } finally {
      await rm(dumps, { recursive: true });
    }
  });
});
