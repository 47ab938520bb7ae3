import { availableParallelism } from 'node:os';
import { joinsRequests, readEnvironment } from './environment.ts';
import type { StartError } from './errors.ts';

const read = (variables: Record<string, string>) => readEnvironment(variables).environment;

describe('readEnvironment', () => {
  test('an empty environment gives the defaults of the retired AWS container', () => {
    const environment = read({});
    expect(environment).toMatchObject({
      port: 8080,
      modelDir: '/opt/ml/model',
      defaultModelName: undefined,
      backend: 'grpc',
      multiModel: false,
      modelServer: { instances: 1, ports: undefined, gpuMemoryMargin: 0.2, ompThreads: '1' },
      limits: { waitMs: 300_000 },
    });
    expect(environment.modelServer.batching).toBeUndefined();
  });

  test('batching has its own defaults, and a deep queue', () => {
    const enabled = { SAGEMAKER_TFS_ENABLE_BATCHING: 'True' };
    const cpus = availableParallelism();
    expect(read(enabled).modelServer.batching).toEqual({
      maxBatchSize: 8,
      timeoutMicros: 1000,
      threads: cpus,
      maxEnqueued: 100_000_000,
      pads: false,
      allowedSizes: [],
    });
    expect(read({ ...enabled, SAGEMAKER_BATCH: 'true' }).modelServer.batching?.maxEnqueued).toBe(
      100_000_000,
    );
  });

  test('rows of a call are bounded with batching alone', () => {
    const enabled = { SAGEMAKER_TFS_ENABLE_BATCHING: 'true' };
    expect(read({ SAGEMAKER_TFS_MAX_ROWS: '5' }).limits.maxRows).toBeUndefined();
    expect(read(enabled).limits.maxRows).toBe(80_000);
    expect(read({ ...enabled, SAGEMAKER_TFS_MAX_BATCH_SIZE: '32' }).limits.maxRows).toBe(320_000);
    expect(read({ ...enabled, SAGEMAKER_TFS_MAX_ROWS: '5' }).limits.maxRows).toBe(5);
    expect(() => read({ ...enabled, SAGEMAKER_TFS_MAX_ROWS: '0' })).toThrow(/MAX_ROWS/);
  });

  test('allowed batch sizes rise to the greatest batch', () => {
    const batching = (sizes: string) =>
      read({
        SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
        SAGEMAKER_TFS_MAX_BATCH_SIZE: '8',
        SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: sizes,
      }).modelServer.batching;
    expect(batching('1, 4,8')?.allowedSizes).toEqual([1, 4, 8]);
    for (const wrong of ['4', '8,4', 'a,8', '0,8', '4,,8']) {
      expect(() => batching(wrong)).toThrow(/ALLOWED_BATCH_SIZES .*the last .*8/);
    }
  });

  test('processes: one, or the instances in-process; a multi-model endpoint has no more', () => {
    const instances = { SAGEMAKER_TFS_INSTANCE_COUNT: '3' };
    const inProcess = { ...instances, SAGEMAKER_TFS_BACKEND: 'in-process' };
    expect(read(instances).processes).toBe(1);
    expect(read(inProcess).processes).toBe(3);
    expect(read({ ...inProcess, SAGEMAKER_TFS_PROCESSES: '2' }).processes).toBe(2);
    expect(read({ ...inProcess, SAGEMAKER_MULTI_MODEL: 'true' }).processes).toBe(1);
    expect(() => read({ SAGEMAKER_MULTI_MODEL: 'true', SAGEMAKER_TFS_PROCESSES: '2' })).toThrow(
      /SAGEMAKER_TFS_PROCESSES is "2". A multi-model endpoint/,
    );
  });

  test('graph options: off, in the types of the model, oneDNN as TensorFlow decides', () => {
    const graph = (variables: Record<string, string>) => read(variables).modelServer.graph;
    expect(graph({})).toEqual({
      ...{ xla: false, mixedPrecision: undefined, oneDnn: undefined, gpuAllowGrowth: false },
    });
    const on = {
      SAGEMAKER_TFS_XLA: 'true',
      SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16',
      SAGEMAKER_TFS_ONEDNN: 'true',
    };
    expect(graph(on)).toEqual({
      ...{ xla: true, mixedPrecision: 'bfloat16', oneDnn: true, gpuAllowGrowth: false },
    });
    expect(graph({ SAGEMAKER_TFS_ONEDNN: 'false' }).oneDnn).toBe(false);
    expect(() => graph({ ...on, SAGEMAKER_TFS_ONEDNN: 'false' })).toThrow(
      /MIXED_PRECISION is "bfloat16": it is computed by oneDNN, which SAGEMAKER_TFS_ONEDNN turns/,
    );
    expect(graph({ ...on, TF_ENABLE_ONEDNN_OPTS: '0' }).oneDnn).toBe(true);
    const byHand = { SAGEMAKER_TFS_MIXED_PRECISION: 'bfloat16', TF_ENABLE_ONEDNN_OPTS: '0' };
    expect(() => graph(byHand)).toThrow(/oneDNN, which TF_ENABLE_ONEDNN_OPTS turns off/);
  });

  test('XLA joins the flags in TF_XLA_FLAGS, and cannot join a file of them', () => {
    const xla = { SAGEMAKER_TFS_XLA: 'true' };
    expect(read({ ...xla, TF_XLA_FLAGS: ' --tf_xla_clustering_debug' })).toBeDefined();
    expect(read({ TF_XLA_FLAGS: '/etc/xla-flags' })).toBeDefined();
    expect(() => read({ ...xla, TF_XLA_FLAGS: '/etc/xla-flags' })).toThrow(
      /TF_XLA_FLAGS is "\/etc\/xla-flags". With SAGEMAKER_TFS_XLA it must be flags/,
    );
  });

  test('an empty value counts as unset', () => {
    expect(read({ SAGEMAKER_BIND_TO_PORT: '' }).port).toBe(8080);
  });

  test.each([
    ['SAGEMAKER_TFS_ENABLE_BATCHING', 'yes', 'must be true or false'],
    ['SAGEMAKER_MULTI_MODEL', '1', 'must be true or false'],
    ['SAGEMAKER_TFS_INSTANCE_COUNT', '0', 'at least 1'],
    ['SAGEMAKER_TFS_INSTANCE_COUNT', '1.5', 'a whole number'],
    ['SAGEMAKER_BIND_TO_PORT', '80800', 'at most 65535'],
    ['SAGEMAKER_TFS_WAIT_TIME_SECONDS', '-1', 'at least 0'],
    ['SAGEMAKER_TFS_FRACTIONAL_GPU_MEM_MARGIN', '2', 'at most 0.99'],
    ['SAGEMAKER_SAFE_PORT_RANGE', '9000', 'low-high'],
    ['SAGEMAKER_SAFE_PORT_RANGE', '9100-9000', 'low-high'],
    ['SAGEMAKER_TFS_XLA', 'on', 'must be true or false'],
    ['SAGEMAKER_TFS_ONEDNN', '1', 'must be true or false'],
    ['SAGEMAKER_TFS_MIXED_PRECISION', 'fp16', 'one of off, bfloat16, float16'],
    ['SAGEMAKER_TFS_BACKEND', 'GRPC', 'one of grpc, rest, in-process'],
  ])('%s=%s stops the start', (name, value, message) => {
    const thrown = expect.objectContaining({
      code: 'ENVIRONMENT_INVALID',
      message: expect.stringMatching(new RegExp(`${name} is "${value}".*${message}`)),
    });
    expect(() => read({ [name]: value })).toThrow(thrown);
  });

  test('every wrong value is named at once', () => {
    expect(() =>
      read({ SAGEMAKER_TFS_INSTANCE_COUNT: 'two', SAGEMAKER_MULTI_MODEL: 'maybe' }),
    ).toThrow(/INSTANCE_COUNT[\s\S]*MULTI_MODEL/);
  });

  test('so are those that are wrong only together, but for those with a wrong value by itself', () => {
    const wrong = {
      SAGEMAKER_TFS_VERSION_LABELS: 'stable',
      SAGEMAKER_TFS_ENABLE_BATCHING: 'true',
      SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: '4,2',
      SAGEMAKER_SAFE_PORT_RANGE: '9000-9001',
      SAGEMAKER_TFS_INSTANCE_COUNT: '2',
      SAGEMAKER_TFS_METRICS_PORT: '9000',
      SAGEMAKER_TFS_MODEL_SERVER_TCP: 'false',
      SAGEMAKER_TFS_BACKEND: 'rest',
      SAGEMAKER_TFS_OTLP_ENDPOINT: 'collector:4318',
      SAGEMAKER_TFS_XLA: 'true',
      TF_XLA_FLAGS: '/etc/xla-flags',
    };
    const named = (variables: Record<string, string>) => {
      try {
        read(variables);
        return [];
      } catch (error) {
        return (error as StartError).message.split('\n').map((line) => line.split(' ', 1)[0]);
      }
    };
    const problems = [
      'SAGEMAKER_TFS_VERSION_LABELS',
      'SAGEMAKER_TFS_ALLOWED_BATCH_SIZES',
      'SAGEMAKER_TFS_METRICS_PORT',
      'SAGEMAKER_SAFE_PORT_RANGE',
      'SAGEMAKER_TFS_MODEL_SERVER_TCP',
      'SAGEMAKER_TFS_OTLP_ENDPOINT',
      'TF_XLA_FLAGS',
    ];
    expect(named(wrong)).toEqual(problems);
    expect(named({ ...wrong, SAGEMAKER_SAFE_PORT_RANGE: '9000' })).toEqual([
      'SAGEMAKER_SAFE_PORT_RANGE',
      ...problems.filter((name) => name !== 'SAGEMAKER_SAFE_PORT_RANGE'),
    ]);
  });

  test('a port range must hold two ports for each instance', () => {
    const range = { SAGEMAKER_SAFE_PORT_RANGE: '9000-9003' };
    expect(read({ ...range, SAGEMAKER_TFS_INSTANCE_COUNT: '2' }).modelServer.ports).toEqual({
      low: 9000,
      high: 9003,
    });
    expect(() => read({ ...range, SAGEMAKER_TFS_INSTANCE_COUNT: '3' })).toThrow(/need 6 ports/);
  });

  test.each<[string, Record<string, string>, RegExp | undefined]>([
    ['a label twice', { SAGEMAKER_TFS_VERSION_LABELS: 'a=1,b=1,a=2' }, /has the label "a" twice/],
    ['a version with two labels', { SAGEMAKER_TFS_VERSION_LABELS: 'a=1,b=1' }, undefined],
    [
      'metrics on the port of requests',
      { SAGEMAKER_BIND_TO_PORT: '8081', SAGEMAKER_TFS_METRICS_PORT: '8081' },
      /SAGEMAKER_TFS_METRICS_PORT is "8081", which SAGEMAKER_BIND_TO_PORT is/,
    ],
    [
      'the same in-process',
      { SAGEMAKER_TFS_METRICS_PORT: '8080', SAGEMAKER_TFS_BACKEND: 'in-process' },
      /Take another/,
    ],
    ['metrics on a port of the model server', { SAGEMAKER_TFS_METRICS_PORT: '9000' }, /9000/],
    [
      'a port that the model server leaves free',
      {
        SAGEMAKER_TFS_MODEL_SERVER_TCP: 'false',
        SAGEMAKER_TFS_METRICS_PORT: '9000',
        SAGEMAKER_SAFE_PORT_RANGE: '9000-9000',
      },
      undefined,
    ],
  ])('%s', (_, variables, problem) => {
    if (problem) expect(() => read(variables)).toThrow(problem);
    else expect(() => read(variables)).not.toThrow();
  });

  test('values of batching are ignored without it, each with a warning', () => {
    const set = {
      SAGEMAKER_TFS_MAX_BATCH_SIZE: '4',
      SAGEMAKER_TFS_MAX_ROWS: '5',
      SAGEMAKER_TFS_BATCH_TIMEOUT_MICROS: '10',
      SAGEMAKER_TFS_ALLOWED_BATCH_SIZES: '2,4',
      SAGEMAKER_TFS_NUM_BATCH_THREADS: '2',
      SAGEMAKER_TFS_MAX_ENQUEUED_BATCHES: '9',
      SAGEMAKER_TFS_BATCH_PADDING: 'true',
    };
    const ignored = Object.keys(set).map((name) => expect.stringMatching(`^${name} is ignored: `));
    expect(readEnvironment(set).warnings).toEqual(ignored);
    const on = { ...set, SAGEMAKER_TFS_ENABLE_BATCHING: 'true' };
    expect(readEnvironment(on).warnings).toEqual([]);
  });

  test.each([
    [' True ', true],
    ['false', false],
    ['', false],
    [undefined, false],
  ])('SAGEMAKER_TFS_ENABLE_BATCHING %j joins requests: %s', (value, joins) => {
    expect(joinsRequests({ SAGEMAKER_TFS_ENABLE_BATCHING: value })).toBe(joins);
  });

  test('a name that is nearly ours gets the nearest name', () => {
    const { warnings } = readEnvironment({
      SAGEMAKER_TFS_WAIT_TIME: '5',
      SAGEMAKER_TFS_NGINX_LOGLEVEL: 'info',
      SAGEMAKER_GUNICORN_WORKERS: '4',
      SAGEMAKER_GUNICORN_MAX_REQUESTS: '1000',
      SAGEMAKER_PROGRAM: 'inference.py',
    });
    expect(warnings).toEqual([
      expect.stringContaining('Did you mean SAGEMAKER_TFS_WAIT_TIME_SECONDS?'),
      expect.stringContaining('Use SAGEMAKER_TFS_LOG_LEVEL.'),
      'SAGEMAKER_GUNICORN_WORKERS is ignored: there is no gunicorn. Use SAGEMAKER_TFS_PROCESSES.',
      'SAGEMAKER_GUNICORN_MAX_REQUESTS is ignored: there is no gunicorn',
    ]);
  });
});
