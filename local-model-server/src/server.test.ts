import { readFileSync } from 'node:fs';
/** The server's life: starting, versions coming and going, configurations, ending. */
import { cp, mkdir, rename, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { status } from '@grpc/grpc-js';
import {
  encodePredictRequest,
  numericTensor,
  type Tensor,
  tensorFromValues,
  toNested,
} from '@sagemaker-tfs/tensors';
import { GRPC_METHODS, ModelVersionStatus_State as State } from '@sagemaker-tfs/tensors/protos';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { modelConfigText } from '../test/model-config-text.ts';
import {
  freePort,
  GrpcClient,
  grpcError,
  type ServerProcess,
  spawnServer,
  startServerProcess,
} from '../test/server-process.ts';
import { temporaryDirectory, temporaryFile } from '../test/temporary.ts';

const half = fixtureModel('half_plus_two', '1');
const newHalf = fixtureModel('half_plus_two', '2');
const busy = fixtureModel('busy');
const broken = fixtureModel('custom_op');

/** About what the original does not do, or does otherwise each time. */
const ownTest = process.env.TEST_MODEL_SERVER_BIN === undefined ? test : test.skip;

let server: ServerProcess | undefined;
let client: GrpcClient | undefined;

afterEach(async () => {
  client?.close();
  await server?.stop();
  server = client = undefined;
});

async function start(...flags: string[]): Promise<GrpcClient> {
  server = await startServerProcess(flags);
  client = new GrpcClient(server);
  return client;
}

/** Starts with one model and batching. @param parameters as `--batching_parameters_file` takes them */
async function startBatching(parameters: string, ...flags: string[]): Promise<GrpcClient> {
  const file = await temporaryFile('batching.config', parameters);
  return start(
    `--model_base_path=${half.basePath}`,
    '--enable_batching',
    `--batching_parameters_file=${file}`,
    ...flags,
  );
}

/** A base path with the given version directories; each appears at once, as a whole. */
async function basePath(versions: Readonly<Record<string, string>> = {}): Promise<string> {
  const path = await temporaryDirectory();
  for (const [version, directory] of Object.entries(versions)) {
    await addVersion(path, version, directory);
  }
  return path;
}

async function addVersion(path: string, version: string, directory: string): Promise<void> {
  const staging = join(await temporaryDirectory(), version);
  await cp(directory, staging, { recursive: true });
  await rename(staging, join(path, version));
}

async function predictOne(grpc: GrpcClient, name: string, version?: string): Promise<unknown> {
  const reply = await grpc.predict({
    model: { name, ...(version !== undefined && { version }) },
    signature: '',
    inputs: { x: tensorFromValues('float32', [1, 1], [2]) },
  });
  return toNested(reply.outputs.y ?? tensorFromValues('float32', [], [Number.NaN]));
}

/** Waits until a version has this state. */
async function reached(grpc: GrpcClient, name: string, version: bigint, state: State) {
  for (;;) {
    const { modelVersionStatus } = await grpc.status(name);
    const found = modelVersionStatus.find((row) => row.version === version);
    if (found?.state === state) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

const config = (name: string, path: string, more = {}) => ({
  name,
  basePath: path,
  modelPlatform: 'tensorflow',
  ...more,
});
const list = (...configs: ReturnType<typeof config>[]) =>
  ({
    config: { case: 'modelConfigList', value: { config: configs } },
  }) as const;

describe('versions', () => {
  test('a newer one is loaded, then the old one unloaded; removed ones give way to older ones', async () => {
    const path = await basePath({ 1: half.directory });
    const grpc = await start(`--model_base_path=${path}`, '--model_name=half');
    expect(await predictOne(grpc, 'half')).toEqual([[3]]);
    await addVersion(path, '2', newHalf.directory);
    await reached(grpc, 'half', 2n, State.AVAILABLE);
    expect(await predictOne(grpc, 'half')).toEqual([[4]]);
    await reached(grpc, 'half', 1n, State.END);
    const gone = await grpcError(predictOne(grpc, 'half', '1'));
    expect(gone.details).toBe('Servable not found for request: Specific(half, 1)');
    await rm(join(path, '2'), { recursive: true });
    await reached(grpc, 'half', 2n, State.END);
    expect(await predictOne(grpc, 'half')).toEqual([[3]]);
  });

  test('requests in flight are answered by the version that they began on', async () => {
    const path = await basePath({ 1: busy.directory });
    const grpc = await start(`--model_base_path=${path}`, '--model_name=busy');
    const iterations = tensorFromValues('int64', [], [250_000]);
    const running = grpc.predict({
      model: { name: 'busy' },
      signature: '',
      inputs: { iterations },
    });
    await addVersion(path, '2', busy.directory);
    await reached(grpc, 'busy', 2n, State.AVAILABLE);
    expect((await running).model.version).toBe('1');
    await reached(grpc, 'busy', 1n, State.END);
  });

  test('one that cannot be loaded ends with the reason; the old one stays', async () => {
    const path = await basePath({ 1: half.directory });
    const grpc = await start(
      `--model_base_path=${path}`,
      '--model_name=half',
      '--max_num_load_retries=1',
      '--load_retry_interval_micros=1000',
    );
    await addVersion(path, '2', broken.directory);
    const failed = await reached(grpc, 'half', 2n, State.END);
    expect(failed.status?.errorCode).not.toBe(0);
    expect(failed.status?.errorMessage).toContain(broken.loadError);
    expect(await predictOne(grpc, 'half')).toEqual([[3]]);
    expect(server?.output()).toContain(
      'Retrying of Loading servable: {name: half version: 2} retry: 1',
    );
  });

  test('none yet: the server waits for the first', async () => {
    const path = await basePath();
    server = await spawnServer([`--model_base_path=${path}`, '--model_name=half']);
    await server.printed(
      `No versions of servable half found under base path ${path}. Did you forget to name your leaf directory as a number (eg. '/1/')?`,
    );
    await addVersion(path, '1', half.directory);
    await server.printed('Exporting HTTP/REST API');
    client = new GrpcClient(server);
    expect(await predictOne(client, 'half')).toEqual([[3]]);
  });
});

describe('HandleReloadConfigRequest', () => {
  test('adds and removes models', async () => {
    const grpc = await start(`--model_base_path=${half.basePath}`, '--model_name=first');
    await grpc.reload(
      list(
        config('second', half.basePath, {
          modelVersionPolicy: { policyChoice: { case: 'specific', value: { versions: [1n] } } },
        }),
      ),
    );
    expect(await predictOne(grpc, 'second')).toEqual([[3]]);
    await reached(grpc, 'first', 2n, State.END);
    expect((await grpcError(predictOne(grpc, 'first'))).code).toBe(status.NOT_FOUND);
    await grpc.reload(list());
    await reached(grpc, 'second', 1n, State.END);
    expect((await grpcError(predictOne(grpc, 'second'))).code).toBe(status.NOT_FOUND);
  });

  test('a model without a name is loaded, and nobody can ask for it', async () => {
    const grpc = await start(`--model_base_path=${half.basePath}`, '--model_name=first');
    await grpc.reload(list(config('first', half.basePath), config('', half.basePath)));
    expect(server?.output()).toContain('name:  version: 2');
    expect(await grpcError(predictOne(grpc, ''))).toMatchObject({
      code: status.INVALID_ARGUMENT,
      details: 'ModelSpec has no name specified.',
    });
    expect(await predictOne(grpc, 'first')).toEqual([[4]]);
  });

  test('a model is unloaded later, and nothing is loaded or unloaded while any request runs', async () => {
    const text = modelConfigText([
      { name: 'busy', basePath: busy.basePath },
      { name: 'half', basePath: half.basePath },
    ]);
    const grpc = await start(`--model_config_file=${await temporaryFile('models.config', text)}`);
    const iterations = tensorFromValues('int64', [], [400_000]);
    const running = grpc
      .predict({ model: { name: 'busy' }, signature: '', inputs: { iterations } })
      .then(() => 'answered');
    await grpc.reload(list(config('busy', busy.basePath)));
    const first = Promise.race([
      running,
      reached(grpc, 'half', 2n, State.END).then(() => 'unloaded'),
    ]);
    expect(await first).toBe('answered');
    await reached(grpc, 'half', 2n, State.END);
  });

  test('a model that is removed and added at once fails over its own end', async () => {
    const grpc = await start(`--model_base_path=${busy.basePath}`, '--model_name=busy');
    const iterations = tensorFromValues('int64', [], [400_000]);
    const running = grpc.predict({
      model: { name: 'busy' },
      signature: '',
      inputs: { iterations },
    });
    await grpc.reload(list());
    await reached(grpc, 'busy', 1n, State.UNLOADING);
    const { code, details } = await grpcError(grpc.reload(list(config('busy', busy.basePath))));
    await running;
    expect(code).toBe(status.UNKNOWN);
    expect(details).toBe('1 model(s) did not become available: {{{name: busy version: 1}}, }');
    // It loads all the same.
    await reached(grpc, 'busy', 1n, State.AVAILABLE);
  });

  test('one base path that is gone keeps every other model from loading', async () => {
    const path = await basePath({ 1: half.directory });
    const grpc = await start(`--model_base_path=${path}`, '--model_name=gone');
    await rm(path, { recursive: true });
    const mine = config('gone', path);
    const ended: string[] = [];
    const reloaded = grpc.reload(list(mine, config('half', half.basePath))).then(() => {
      ended.push('the first');
    });
    await server?.printed(`Could not find base path ${path} for servable gone`);
    // A bad one is refused only when it is its turn.
    const refused = grpcError(grpc.reload(list(mine, mine))).then(({ code }) => {
      ended.push('the bad one');
      expect(code).toBe(status.INVALID_ARGUMENT);
    });
    expect(await predictOne(grpc, 'gone')).toEqual([[3]]);
    expect((await grpcError(predictOne(grpc, 'half'))).code).toBe(status.NOT_FOUND);
    expect(ended).toEqual([]);
    await mkdir(path, { recursive: true });
    await addVersion(path, '1', half.directory);
    await Promise.all([reloaded, refused]);
    expect(await predictOne(grpc, 'half')).toEqual([[4]]);
  });

  test('labels go to available versions only', async () => {
    const grpc = await start(`--model_base_path=${half.basePath}`, '--model_name=half');
    const labeled = (version: bigint) =>
      list(config('half', half.basePath, { versionLabels: { stable: version } }));
    expect(await grpcError(grpc.reload(labeled(7n)))).toEqual({
      code: status.FAILED_PRECONDITION,
      details:
        'Request to assign label to version 7 of model half, which is not currently available for inference',
    });
    await grpc.reload(labeled(2n));
    const stable = async () => {
      const inputs = { x: tensorFromValues('float32', [1, 1], [2]) };
      const { model } = await grpc.predict({
        model: { name: 'half', label: 'stable' },
        signature: '',
        inputs,
      });
      return model.version;
    };
    expect(await stable()).toBe('2');
    // By decision one that is refused leaves the one before it.
    await grpcError(grpc.reload(labeled(7n)));
    if (process.env.TEST_MODEL_SERVER_BIN === undefined) expect(await stable()).toBe('2');
    // Of GetModelStatus a label is no part (get_model_status_impl.cc): it is neither followed nor missed.
    const versionsOf = async (label?: string) =>
      (await grpc.status('half', undefined, label)).modelVersionStatus.map(
        ({ version }) => version,
      );
    const all = await versionsOf();
    expect(await versionsOf('stable')).toEqual(all);
    expect(await versionsOf('nobody')).toEqual(all);
  });

  test('a bad configuration changes nothing', async () => {
    const grpc = await start(
      `--model_base_path=${half.basePath}`,
      '--model_name=half',
      '--max_num_load_retries=0',
    );
    const mine = config('half', half.basePath);
    const cases = [
      [{}, 'Only ModelConfigList is currently supported'],
      [list(mine, mine), 'Illegal to list model half multiple times'],
      [list(config('other', 'relative')), 'to have an absolute path or URI'],
      [list(config('other', '/x', { modelPlatform: 'caffe' })), 'unsupported platform caffe'],
    ] as const;
    for (const [bad, message] of cases) {
      const { code, details } = await grpcError(grpc.reload(bad));
      expect(code).toBe(status.INVALID_ARGUMENT);
      expect(details).toContain(message);
    }
    expect(await predictOne(grpc, 'half')).toEqual([[4]]);
    const failing = grpc.reload(list(mine, config('broken', broken.basePath)));
    const { code, details } = await grpcError(failing);
    expect(code).toBe(status.UNKNOWN);
    expect(details).toContain(
      '1 model(s) did not become available: {{{name: broken version: 1} due to error:',
    );
    expect(await predictOne(grpc, 'half')).toEqual([[4]]);
  });
});

describe('starting and ending', () => {
  test('SIGTERM ends it at once, in whatever it does', async () => {
    server = await spawnServer([`--model_base_path=${await basePath()}`]);
    await server.printed('No versions of servable');
    expect(await server.stop()).toBe('SIGTERM');
    const grpc = await start(`--model_base_path=${busy.basePath}`);
    const iterations = tensorFromValues('int64', [], [50_000_000]);
    const running = grpcError(
      grpc.predict({ model: { name: 'default' }, signature: '', inputs: { iterations } }),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await server?.stop()).toBe('SIGTERM');
    expect((await running).code).toBe(status.UNAVAILABLE);
  });

  test('what is unknown is printed with the usage, and the server starts', async () => {
    await start(`--model_base_path=${half.basePath}`, '--model_bse_path=/x', '--other');
    expect(server?.output()).toMatch(/^unknown argument: --model_bse_path=\/x\nusage: /m);
  });

  test('a model that cannot be loaded ends it before it listens', async () => {
    const text = modelConfigText([
      { name: 'half', basePath: half.basePath },
      { name: 'broken', basePath: broken.basePath },
    ]);
    server = await spawnServer([
      `--model_config_file=${await temporaryFile('models.config', text)}`,
      '--max_num_load_retries=0',
    ]);
    expect(await server.ended).toBe(255);
    expect(server.output()).toContain(
      'Failed to start server. Error: UNKNOWN: 1 servable(s) did not become available: {{{name: broken version: 1} due to error: ',
    );
    expect(server.output()).not.toContain('Running gRPC ModelServer');
  });

  test.each([
    [['--port=x'], "Couldn't interpret value x for flag port."],
    [[], 'Both server_options.model_base_path and server_options.model_config_file are empty!'],
    [
      ['--model_base_path=/x', '--batching_parameters_file=/y'],
      'without setting server_options.enable_batching to true',
    ],
    [['--model_config_file=/none'], 'Failed to start server. Error: NOT_FOUND: /none'],
  ])('%j ends with status 255', async (flags, message) => {
    server = await spawnServer(flags);
    expect(await server.ended).toBe(255);
    expect(server.output()).toContain(message);
  });

  test('a label cannot go to a version that is not loaded yet, unless it may', async () => {
    const more = "version_labels { key: 'stable' value: 2 }";
    const text = modelConfigText([{ name: 'half', basePath: half.basePath, more }]);
    const flag = `--model_config_file=${await temporaryFile('models.config', text)}`;
    server = await spawnServer([flag]);
    expect(await server.ended).toBe(255);
    expect(server.output()).toContain(
      'Failed to start server. Error: FAILED_PRECONDITION: Request to assign label to version 2 of model half',
    );
    await start(flag, '--allow_version_labels_for_unavailable_models');
    const response = await fetch(
      `http://127.0.0.1:${server.restPort}/v1/models/half/labels/stable`,
    );
    expect(response.status).toBe(200);
  });

  test('a port in use ends it with a message', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '0.0.0.0');
    server = await spawnServer([`--model_base_path=${half.basePath}`, `--port=${port}`]);
    expect(await server.ended).toBe(255);
    expect(server.output()).toContain(
      'Failed to start server. Error: INVALID_ARGUMENT: Failed to BuildAndStart gRPC server\n',
    );
    other.close();
  });

  test('a REST port in use is logged, and gRPC serves', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    server = await spawnServer([`--model_base_path=${half.basePath}`, `--rest_api_port=${port}`]);
    await server.printed(`Failed to start HTTP Server at localhost:${port}`);
    client = new GrpcClient(server);
    expect(await predictOne(client, 'default')).toEqual([[4]]);
    other.close();
  });

  ownTest(
    'by decision, only this machine reaches it, unless --host says otherwise, which it warns of',
    async () => {
      const listeners = async (...flags: string[]) => {
        const path = `--model_base_path=${half.basePath}`;
        server = await spawnServer([path, ...flags]);
        await server.printed('Exporting HTTP/REST API');
        const addresses = listeningAddresses(server.grpcPort, server.restPort);
        const output = server.output();
        await server.stop();
        return { addresses, output };
      };
      const usual = await listeners();
      expect(usual.addresses).toEqual(['0100007F', '0100007F']);
      expect(usual.output).not.toContain('HandleReloadConfigRequest');
      const open = await listeners('--host=0.0.0.0');
      expect(open.addresses).toEqual(['00000000', '00000000']);
      expect(open.output).toContain('Whoever reaches 0.0.0.0 may call the models');
    },
  );

  test('--version prints versions', async () => {
    server = await spawnServer(['--version']);
    expect(await server.ended).toBe(0);
    expect(server.output()).toMatch(/^TensorFlow ModelServer: .*\nTensorFlow Library: \d+\.\d+/m);
  });
});

test('--enable_batching runs concurrent requests together', async () => {
  const grpc = await startBatching(
    'max_batch_size { value: 64 } batch_timeout_micros { value: 50000 } num_batch_threads { value: 1 }',
    '--grpc_max_threads=64',
  );
  const answers = await Promise.all(Array.from({ length: 32 }, () => predictOne(grpc, 'default')));
  expect(answers).toEqual(Array(32).fill([[4]]));
  const scalar = grpc.predict({
    model: { name: 'default' },
    signature: '',
    inputs: { x: tensorFromValues('float32', [], [2]) },
  });
  expect((await grpcError(scalar)).details).toContain('must have at least one dimension');
});

describe('a request of no rows, with --enable_batching', () => {
  const ofRows = (grpc: GrpcClient, rows: number) =>
    grpc.predict({
      model: { name: 'default' },
      signature: '',
      inputs: { x: tensorFromValues('float32', [rows, 1], Array(rows).fill(2)) },
    });

  test('waits for another that has rows', async () => {
    const grpc = await start(`--model_base_path=${half.basePath}`, '--enable_batching');
    let isAnswered = false;
    const empty = ofRows(grpc, 0).finally(() => {
      isAnswered = true;
    });
    // Round trips on the same connection: an answer of the empty one would have come before theirs.
    for (let trip = 0; trip < 100; trip++) await grpc.status('default');
    expect(isAnswered).toBe(false);
    expect((await ofRows(grpc, 1)).outputs.y?.shape).toEqual([1, 1]);
    expect((await empty).outputs.y?.shape).toEqual([0, 1]);
  });

  test('ends the process where it is the last of a batch that is filled up', async () => {
    const grpc = await startBatching(
      'max_batch_size { value: 4 } allowed_batch_sizes: 4 batch_timeout_micros { value: 1000000 }',
    );
    const first = grpcError(ofRows(grpc, 1));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await grpcError(ofRows(grpc, 0))).code).toBe(status.UNAVAILABLE);
    expect((await first).code).toBe(status.UNAVAILABLE);
    expect(await server?.ended).toBe('SIGABRT');
    expect(server?.output()).toContain('Check failed: limit <= dim0_size (1 vs. 0)');
  });
});

describe.each([0, 1, 2])('--num_load_threads=%i', (threads) => {
  test(`${threads < 2 ? 'nothing' : 'something'} else is loaded while a version is tried again`, async () => {
    const [failing, path] = [await basePath({ 1: half.directory }), await basePath()];
    await addVersion(path, '1', half.directory);
    const text = modelConfigText([
      { name: 'failing', basePath: failing },
      { name: 'half', basePath: path },
    ]);
    const grpc = await start(
      `--model_config_file=${await temporaryFile('models.config', text)}`,
      `--num_load_threads=${threads}`,
      '--max_num_load_retries=3',
      '--load_retry_interval_micros=1000000',
    );
    await addVersion(failing, '2', broken.directory);
    await server?.printed('{name: failing version: 2} retry: 1');
    await addVersion(path, '2', newHalf.directory);
    const over = reached(grpc, 'failing', 2n, State.END).then(() => 'failing is at its end');
    const loaded = reached(grpc, 'half', 2n, State.AVAILABLE).then(() => 'half is loaded');
    const first = await Promise.race([over, loaded]);
    expect(first).toBe(threads < 2 ? 'failing is at its end' : 'half is loaded');
    await Promise.all([over, loaded]);
    expect(await predictOne(grpc, 'half')).toEqual([[4]]);
  });
});

test('warm-up requests run before a version is available, unless they are turned off', async () => {
  const path = await basePath({ 1: half.directory });
  const requests = join(import.meta.dirname, '..', 'test', 'warmup', 'requests.tfrecord');
  await cp(requests, join(path, '1', 'assets.extra', 'tf_serving_warmup_requests'));
  await start(`--model_base_path=${path}`);
  expect(server?.output()).toContain('Number of warmup records read: 3.');
  await server?.stop();
  await start(`--model_base_path=${path}`, '--enable_model_warmup=false');
  expect(server?.output()).not.toContain('warmup');
});

describe('a function with jit_compile=True', () => {
  const path = join(import.meta.dirname, '..', '..', 'test', 'fixtures', 'jit-compile', 'model');
  const softmax = (grpc: GrpcClient, signature: string) =>
    grpc.predict({
      model: { name: 'default' },
      signature,
      inputs: { x: tensorFromValues('float32', [1, 2], [0, 0]) },
    });

  test('fails as it runs while neither flag of XLA is set, and no other signature does', async () => {
    const grpc = await start(`--model_base_path=${path}`);
    for (let call = 0; call < 2; call++) {
      const error = await grpcError(softmax(grpc, 'serving_default'));
      expect(error.code).toBe(status.INTERNAL);
      expect(error.details).toContain('XLA compilation disabled');
    }
    const { outputs } = await softmax(grpc, 'plain');
    expect(toNested(outputs.y as Tensor)).toEqual([[0.5, 0.5]]);
  });

  test.each(['cpu', 'gpu'])('runs with --xla_%s_compilation_enabled', async (kind) => {
    const grpc = await start(`--model_base_path=${path}`, `--xla_${kind}_compilation_enabled`);
    const { outputs } = await softmax(grpc, 'serving_default');
    expect(toNested(outputs.y as Tensor)).toEqual([[0.5, 0.5]]);
  });
});

test('--saved_model_tags chooses the MetaGraph', async () => {
  const { basePath: path } = fixtureModel('two_tag_sets');
  await start(`--model_base_path=${path}`, '--saved_model_tags=train');
  const response = await fetch(`http://127.0.0.1:${server?.restPort}/v1/models/default/metadata`);
  const train = await response.text();
  await server?.stop();
  await start(`--model_base_path=${path}`);
  const serve = await fetch(`http://127.0.0.1:${server?.restPort}/v1/models/default/metadata`);
  expect(await serve.text()).not.toBe(train);
});

test('calls beyond --grpc_max_threads but one are refused at once, those of probes too', async () => {
  const grpc = await start(`--model_base_path=${busy.basePath}`, '--grpc_max_threads=4');
  const iterations = tensorFromValues('int64', [], [150_000]);
  const inThread = async (): Promise<unknown> => {
    const answer = grpc.predict({
      model: { name: 'default' },
      signature: '',
      inputs: { iterations },
    });
    // A probe may have the thread for a moment.
    return answer.catch(({ code }) => code === status.RESOURCE_EXHAUSTED && inThread());
  };
  const working = Promise.all([inThread(), inThread(), inThread()]);
  let refused: { code: number; details: string } | undefined;
  while (!refused) {
    const probe = grpc.status('default');
    refused = await probe.then(
      () => undefined,
      ({ code, details }) => ({ code, details }),
    );
  }
  expect(refused.code).toBe(status.RESOURCE_EXHAUSTED);
  expect(['', 'Server Threadpool Exhausted']).toContain(refused.details);
  await working;
  expect((await grpc.status('default')).modelVersionStatus).toHaveLength(1);
});

test('of --rest_api_num_threads one waits for calls; those beyond the others wait their turn', async () => {
  const grpc = await start(`--model_base_path=${busy.basePath}`, '--rest_api_num_threads=2');
  const url = `http://127.0.0.1:${server?.restPort}/v1/models/default`;
  const answered: string[] = [];
  const running = fetch(`${url}:predict`, { method: 'POST', body: '{"inputs": 300000}' }).then(() =>
    answered.push('the first'),
  );
  // It has the thread once gRPC shows that the server has had time for it.
  for (let call = 0; call < 5; call += 1) await grpc.status('default');
  const behind = fetch(url).then(() => answered.push('the next'));
  await grpc.status('default');
  expect(answered).toEqual([]);
  await Promise.all([running, behind]);
  expect(answered).toEqual(['the first', 'the next']);
});

ownTest(
  'with --enable_serialization_as_tensor_content, by decision, an answer over REST ends it',
  async () => {
    await start(`--model_base_path=${half.basePath}`, '--enable_serialization_as_tensor_content');
    const url = `http://127.0.0.1:${server?.restPort}/v1/models/default:predict`;
    await expect(fetch(url, { method: 'POST', body: '{"inputs": [[2]]}' })).rejects.toThrow();
    expect(await server?.ended).toBe('SIGABRT');
  },
);

test('--rest_api_timeout_in_ms answers 504 in time', async () => {
  await start(`--model_base_path=${busy.basePath}`, '--rest_api_timeout_in_ms=50');
  const response = await fetch(`http://127.0.0.1:${server?.restPort}/v1/models/default:predict`, {
    method: 'POST',
    body: '{"inputs": 400000}',
  });
  expect(response.status).toBe(504);
  expect(await response.json()).toEqual({ error: 'Timed out waiting for notification' });
});

test.each([
  ['REST', () => restBusy(Number.MAX_SAFE_INTEGER)],
  ['gRPC', (grpc: GrpcClient) => grpcBusy(grpc, 2n ** 62n, 300)],
])('runs that never end are ended at the deadlines of their calls over %s', async (_, endless) => {
  const grpc = await start(
    `--model_base_path=${busy.basePath}`,
    '--rest_api_timeout_in_ms=300',
    '--tensorflow_inter_op_parallelism=2',
  );
  // More of them than TensorFlow has threads.
  const calls = Array.from({ length: 5 }, () => endless(grpc));
  expect(await Promise.all(calls)).toEqual(calls.map(() => 'late'));
  expect(await grpcBusy(grpc, 1n, 60_000)).toBe('answered');
});

async function grpcBusy(grpc: GrpcClient, iterations: bigint, ms: number): Promise<string> {
  const inputs = { iterations: numericTensor('int64', [], BigInt64Array.of(iterations)) };
  const chunks = encodePredictRequest({ model: { name: 'default' }, signature: '', inputs });
  try {
    await grpc.call(GRPC_METHODS.predict, Buffer.concat(chunks), ms);
    return 'answered';
  } catch (error) {
    const { code } = error as { readonly code?: number };
    return code === status.DEADLINE_EXCEEDED ? 'late' : String(error);
  }
}

async function restBusy(iterations: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${server?.restPort}/v1/models/default:predict`, {
    method: 'POST',
    body: JSON.stringify({ inputs: iterations }),
  });
  return response.status === 504 ? 'late' : await response.text();
}

/** Hexadecimal addresses of the sockets that listen on these ports, as the kernel tells them. */
function listeningAddresses(...ports: number[]): (string | undefined)[] {
  const lines = readFileSync('/proc/net/tcp', 'utf8').split('\n');
  return ports.map((port) => {
    const hex = port.toString(16).toUpperCase().padStart(4, '0');
    const listening = lines.map((line) => /: ([0-9A-F]{8}):([0-9A-F]{4}) \S+ 0A /.exec(line));
    return listening.find((match) => match?.[2] === hex)?.[1];
  });
}
