import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { readEnvironment } from '../environment.ts';
import { modelServerFlags, writeModelServerFiles } from './command.ts';
import { idleSettings, missingGpuTeller } from './gpu.ts';
import { modelServerEndpoints } from './ports.ts';
import { tensorFlowVariables } from './tensorflow-variables.ts';
import { unbatchable } from './unbatchable.ts';

const MODEL = { name: 'm "1"', basePath: '/opt/ml/model/größe', versions: ['1', '1538687370'] };

async function prepare(variables: Record<string, string>) {
  const { environment } = readEnvironment(variables);
  const files = await writeModelServerFiles(environment, [{ ...MODEL, labels: { stable: '1' } }]);
  const config = await readFile(files.modelConfig, 'utf8');
  const flags = modelServerEndpoints(environment, process.pid).map((endpoint) =>
    modelServerFlags(environment, files, endpoint),
  );
  const session = files.sessionConfig && (await readFile(files.sessionConfig, 'utf8'));
  await files.remove();
  return { config, session, flags };
}

test('without configuration: the ports of the AWS container, no retries', async () => {
  const { flags } = await prepare({});
  expect(flags).toEqual([
    expect.arrayContaining(['--port=9000', '--rest_api_port=8501', '--max_num_load_retries=0']),
  ]);
  // With it, TensorFlow Serving's REST API answers zeros, or ends (json_tensor.cc, predict_impl.cc).
  expect(flags[0]?.join(' ')).not.toContain('tensor_content');
  expect(
    flags[0]?.filter((flag) => /parallelism|batching|gpu|labels|precision|session/.test(flag)),
  ).toEqual([]);
});

test.each([
  ['grpc_max_threads', {}],
  ['rest_api_num_threads', { SAGEMAKER_TFS_BACKEND: 'rest' }],
])('--%s has a thread for every request that is sent, and some for probes', async (name, own) => {
  const threads = async (variables: Record<string, string>) => {
    const { flags } = await prepare({ ...variables, ...own });
    const flag = flags[0]?.find((text) => text.startsWith(`--${name}=`));
    return Number(flag?.split('=')[1]);
  };
  const atLeast = Math.max(64, 4 * availableParallelism());
  expect(await threads({})).toBeGreaterThan(atLeast);
  expect(await threads({ SAGEMAKER_TFS_MODEL_SERVER_IN_FLIGHT: '20' })).toBe(20 + 16);
  const { flags } = await prepare({});
  expect(flags[0]?.join()).not.toContain('rest_api_num_threads');
});

test('on a multi-model endpoint no other model waits for one that loads or unloads', async () => {
  const threads = ['--num_load_threads=4', '--num_unload_threads=1'];
  const { flags } = await prepare({ SAGEMAKER_MULTI_MODEL: 'true' });
  expect(flags[0]).toEqual(expect.arrayContaining(threads));
  expect((await prepare({})).flags[0]).not.toEqual(expect.arrayContaining(threads.slice(0, 1)));
});

test('instances alternate through the port range, threads are handed on, and batching is not', async () => {
  const { flags } = await prepare({
    SAGEMAKER_TFS_INSTANCE_COUNT: '2',
    SAGEMAKER_SAFE_PORT_RANGE: '4000-4003',
    SAGEMAKER_TFS_INTER_OP_PARALLELISM: '3',
    SAGEMAKER_TFS_INTRA_OP_PARALLELISM: '4',
    SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
    SAGEMAKER_TFS_MAX_BATCH_SIZE: '16',
  });
  const ports = flags.map((list) => list.filter((flag) => /^--(port|rest_api_port)=/.test(flag)));
  expect(ports).toEqual([
    ['--port=4000', '--rest_api_port=4001'],
    ['--port=4002', '--rest_api_port=4003'],
  ]);
  expect(flags[1]).toEqual(
    expect.arrayContaining([
      '--tensorflow_inter_op_parallelism=3',
      '--tensorflow_intra_op_parallelism=4',
    ]),
  );
  // A batch fails whole there; the runtime joins requests itself.
  expect(flags.flat().join()).not.toContain('batching');
});

test('what a newer GPU compiles is kept in CUDA_CACHE_PATH, a folder that the user of the container may write', () => {
  const { environment } = readEnvironment({});
  const { CUDA_CACHE_PATH: folder = '' } = tensorFlowVariables(environment, {}, true);
  // It has no home to write to: the driver's own place is below it.
  expect(dirname(folder)).toBe(tmpdir());
  const given = { CUDA_CACHE_PATH: '/kept' };
  expect(tensorFlowVariables(environment, given, true)).toMatchObject(given);
  expect(tensorFlowVariables(environment, {}, false)).not.toHaveProperty('CUDA_CACHE_PATH');
});

test('signatures that cannot be batched are named with the tensor', () => {
  const tensor = (shape: number[] | undefined) => ({
    dtype: 'float32' as const,
    shape,
    tensorName: 'x:0',
    dtypeEnum: 1,
  });
  const warnings = unbatchable({
    unknown: { inputs: { x: tensor([-1, 3]) }, outputs: { y: tensor(undefined) }, methodName: '' },
    fixed: { inputs: { x: tensor([1, 3]) }, outputs: { y: tensor([-1]) }, methodName: '' },
    scalar: { inputs: { x: tensor([-1]) }, outputs: { total: tensor([]) }, methodName: '' },
  } as never);
  expect(warnings).toEqual([
    expect.stringContaining('the shape of output "y" is unknown'),
    expect.stringContaining('signature "fixed" cannot be batched: input "x" [1, 3] has 1 row,'),
    expect.stringContaining('signature "scalar" cannot be batched: output "total" is a scalar'),
  ]);
});

test('the model config names models, versions and labels, in protobuf text', async () => {
  const { config, flags } = await prepare({ SAGEMAKER_TFS_VERSION_LABELS: 'stable=1' });
  expect(config).toBe(`model_config_list {
  config {
    name: "m \\"1\\""
    base_path: "/opt/ml/model/gr\\303\\266\\303\\237e"
    model_platform: "tensorflow"
    model_version_policy {
      specific {
        versions: 1
        versions: 1538687370
      }
    }
    version_labels { key: "stable" value: 1 }
  }
}
`);
  expect(flags[0]).toContain('--allow_version_labels_for_unavailable_models=true');
});

test('bfloat16 is a flag of TensorFlow Serving, float16 a session config', async () => {
  const bfloat16 = await prepare({ SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16' });
  expect(bfloat16.flags[0]).toContain('--mixed_precision=bfloat16');
  expect(bfloat16.session).toBeUndefined();
  const float16 = await prepare({ SAGEMAKER_TFS_MIXED_PRECISION: 'float16' });
  expect(float16.session).toBe('graph_options { rewrite_options { auto_mixed_precision: ON } }\n');
  expect(float16.flags[0]?.filter((flag) => /precision|session/.test(flag))).toEqual([
    expect.stringMatching(/^--tensorflow_session_config_file=.*session-config\.cfg$/),
  ]);
});

test('float16 without a GPU is said to change nothing', () => {
  const idle = (precision: string) =>
    idleSettings(readEnvironment({ SAGEMAKER_TFS_MIXED_PRECISION: precision }).environment);
  const warning = expect.stringMatching(/float16.*GPUs only/);
  expect(idle('float16')).toEqual(existsSync('/usr/bin/nvidia-smi') ? [] : [warning]);
  expect(idle('bfloat16')).toEqual([]);
});

test('a library for GPUs that finds none is said once, with what to do', () => {
  const folder = mkdtempSync(join(tmpdir(), 'library-'));
  const library = join(folder, 'libtensorflow');
  const cpu = { name: 'CPU:0', type: 'CPU', memoryBytes: 1 };
  const told: string[] = [];
  const tell = missingGpuTeller(library, (reason) => told.push(reason));
  tell([cpu]);
  mkdirSync(join(folder, 'nvidia'));
  tell([cpu, { ...cpu, type: 'GPU' }]);
  expect(told).toEqual([]);
  tell([cpu]);
  // Of another model.
  tell([cpu]);
  expect(told).toEqual([
    expect.stringMatching(/found CPU:0; NVIDIA's driver .*\. Use an instance type/),
  ]);
  rmSync(folder, { recursive: true });
});

describe('the variables that TensorFlow reads', () => {
  const SYSTEM_ALLOCATOR = { TF_ONEDNN_USE_SYSTEM_ALLOCATOR: 'true' };
  const variables = (own: Record<string, string>, given = {}) =>
    tensorFlowVariables(readEnvironment(own).environment, given);

  test("are OpenMP's and the allocator's only, unless more is set", () => {
    expect(variables({})).toEqual({ OMP_NUM_THREADS: '1', ...SYSTEM_ALLOCATOR });
    expect(variables({ OMP_NUM_THREADS: '4' })).toMatchObject({ OMP_NUM_THREADS: '4' });
  });

  test("leave batches oneDNN's allocator, and keep a value of the user's own", () => {
    const batch = { SAGEMAKER_BATCH: 'true' };
    expect(variables(batch, batch)).toEqual({ OMP_NUM_THREADS: '1' });
    const own = { TF_ONEDNN_USE_SYSTEM_ALLOCATOR: 'false' };
    expect(variables({}, own)).toMatchObject(own);
  });

  test("let a GPU's memory grow", () => {
    expect(variables({ SAGEMAKER_TFS_GPU_ALLOW_GROWTH: 'true' })).toMatchObject({
      TF_FORCE_GPU_ALLOW_GROWTH: 'true',
    });
  });

  test('turn oneDNN on or off', () => {
    expect(variables({ SAGEMAKER_TFS_ONEDNN: 'false' })).toMatchObject({
      TF_ENABLE_ONEDNN_OPTS: '0',
    });
    expect(variables({ SAGEMAKER_TFS_ONEDNN: 'true' })).toMatchObject({
      TF_ENABLE_ONEDNN_OPTS: '1',
    });
  });

  test('turn oneDNN on for bfloat16, which is its own', () => {
    expect(variables({ SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16' })).toMatchObject({
      TF_ENABLE_ONEDNN_OPTS: '1',
    });
    expect(variables({ SAGEMAKER_TFS_MIXED_PRECISION: 'float16' })).toEqual(variables({}));
  });

  test.each([
    [undefined, '--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit'],
    [
      ' --tf_xla_min_cluster_size=8',
      '--tf_xla_min_cluster_size=8 --tf_xla_auto_jit=2 --tf_xla_cpu_global_jit',
    ],
    ['--tf_xla_auto_jit=1', '--tf_xla_auto_jit=1 --tf_xla_cpu_global_jit'],
    [
      '--tf_xla_cpu_global_jit=false --tf_xla_auto_jit=fusible',
      '--tf_xla_cpu_global_jit=false --tf_xla_auto_jit=fusible',
    ],
  ])('turn XLA on, after the flags that are set: %s', (given, flags) => {
    const xla = { SAGEMAKER_TFS_XLA: 'true' };
    expect(variables(xla, { TF_XLA_FLAGS: given }).TF_XLA_FLAGS).toBe(flags);
    expect(variables({}, { TF_XLA_FLAGS: given }).TF_XLA_FLAGS).toBeUndefined();
  });
});

test('XLA may compile in TensorFlow Serving, which otherwise refuses what asks for it', async () => {
  const { flags } = await prepare({});
  expect(flags[0]).toContain('--xla_cpu_compilation_enabled=true');
});
