/** Models in this process answer what they answer through the model server, for every fixture. */
import {
  isNumeric,
  numericTensor,
  stringTensor,
  type Tensor,
  type TensorMap,
} from '@sagemaker-tfs/tensors';
import pino from 'pino';
import { copiesOf, fixtureModels, loadGoldens } from '../../../test/fixtures/index.ts';
import { readEnvironment } from '../environment.ts';
import { ServingError } from '../errors.ts';
import type { ModelHost } from '../model-host/model-host.ts';
import { startModelHost } from '../model-host/start.ts';
import { chooseModels } from '../models/choose-models.ts';
import { countTurns } from '../testing/count-turns.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { MODEL_SERVER_BIN } from '../testing/model-server-bin.ts';
import { freePorts } from '../testing/ports.ts';
import type { Backend, BackendRequest } from './backend.ts';

const NOT_SERVED = new Set(['custom_op', 'broken_variables', 'two_tag_sets']);

const models = fixtureModels().filter(
  ({ name, loadError }) => loadError === undefined && !NOT_SERVED.has(name),
);

const hosts: ModelHost[] = [];
let server: Backend;
let inProcess: Backend;
let remove: () => Promise<void>;

async function start(variables: Record<string, string>): Promise<Backend> {
  const { environment } = readEnvironment(variables);
  const host = await startModelHost({
    environment,
    variables: { ...process.env, PATH: `${MODEL_SERVER_BIN}:${process.env.PATH}` },
    log: pino({ level: 'silent' }),
    ...(await chooseModels(environment)),
  });
  hosts.push(host);
  await host.readiness.whenReady();
  return host.backends.choose(undefined);
}

beforeAll(async () => {
  const created = await createModelDir({ copies: copiesOf(models) });
  remove = created.remove;
  const low = await freePorts(2);
  const common = {
    SAGEMAKER_TFS_MODEL_DIR: created.directory,
    SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 1}`,
    SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_two',
    SAGEMAKER_TFS_VERSION_LABELS: 'stable=1',
    SAGEMAKER_TFS_MAX_STRINGS: '40000',
    SAGEMAKER_TFS_MAX_RESPONSE_BYTES: '4000000',
  };
  [server, inProcess] = (await Promise.all([
    start(common),
    start({ ...common, SAGEMAKER_TFS_BACKEND: 'in-process' }),
  ])) as [Backend, Backend];
});

afterAll(async () => {
  await Promise.all(hosts.map((host) => host.stop()));
  await remove();
});

/** What a call came to: every bit of the outputs, or the error as a client sees it. */
async function outcome(backend: Backend, request: BackendRequest) {
  try {
    const { outputs, version, release } = await backend.predict(request);
    const copied = Object.entries(outputs).map(([name, tensor]) => [name, copyOf(tensor)]);
    release?.();
    return { version, outputs: Object.fromEntries(copied) };
  } catch (error) {
    if (!(error instanceof ServingError)) throw error;
    const { code, status, message } = error;
    return { code, status, message };
  }
}

function copyOf(tensor: Tensor) {
  const { dtype, shape } = tensor;
  const bytes = isNumeric(tensor) ? [tensor.bytes] : tensor.values;
  return { dtype, shape, hex: bytes.map((part) => Buffer.from(part).toString('hex')) };
}

async function bothOutcomes(request: BackendRequest) {
  const [there, here] = await Promise.all([outcome(server, request), outcome(inProcess, request)]);
  return { there, here };
}

describe.each(models.map((model) => [`${model.name} ${model.version}`, model] as const))(
  '%s',
  (_name, model) => {
    const selector = { name: model.name, version: model.version };

    test('signatures and state', async () => {
      expect(await inProcess.signatures(selector)).toEqual(await server.signatures(selector));
      expect(await inProcess.status(selector)).toEqual(await server.status(selector));
    });

    test('outputs, bit for bit, and errors word for word', async () => {
      for (const { signature, cases } of loadGoldens(model)) {
        for (const { name, inputs, outputs } of cases) {
          const { there, here } = await bothOutcomes({
            model: selector,
            signature,
            inputs,
            ...(outputs ? { outputs: Object.keys(outputs) } : {}),
          });
          expect({ case: name, ...here }).toEqual({ case: name, ...there });
          expect('outputs' in here).toBe(outputs !== undefined);
        }
      }
    });
  },
);

describe('what cannot be answered has the status and the text of the model server', () => {
  const x: TensorMap = {
    x: { dtype: 'float32', shape: [1], bytes: new Uint8Array(4) },
  };
  test.each<[string, Partial<BackendRequest>]>([
    ['an unknown model', { model: { name: 'nobody' } }],
    ['an unknown version', { model: { name: 'half_plus_two', version: '7' } }],
    ['an unknown label', { model: { name: 'half_plus_two', label: 'canary' } }],
    ['an unknown signature', { signature: 'nothing' }],
    ['an unknown input', { inputs: { y: x.x as Tensor } }],
    ['no input', { inputs: {} }],
    ['an unknown output', { outputs: ['z'] }],
    ['another dtype', { inputs: { x: { dtype: 'int32', shape: [1], bytes: new Uint8Array(4) } } }],
  ])('%s', async (_name, part) => {
    const request = { model: { name: 'half_plus_two' }, signature: '', inputs: x, ...part };
    const { there, here } = await bothOutcomes(request);
    expect(here).toEqual(there);
    expect(here.status).toBeGreaterThanOrEqual(400);
  });

  test('states of what is not there', async () => {
    for (const model of [{ name: 'nobody' }, { name: 'half_plus_two', version: '7' }]) {
      const there = await server.status(model).catch((error: Error) => error.message);
      await expect(inProcess.status(model)).rejects.toThrow(there as string);
    }
  });
});

test('without a version the newest answers, by a label its own', async () => {
  const x: TensorMap = { x: { dtype: 'float32', shape: [1], bytes: new Uint8Array(4) } };
  const version = async (label?: string) => {
    const model = { name: 'half_plus_two', ...(label ? { label } : {}) };
    const reply = await inProcess.predict({ model, signature: '', inputs: x });
    reply.release?.();
    return reply.version;
  };
  expect(await version()).toBe('2');
  expect(await version('stable')).toBe('1');
});

test('classify and regress', async () => {
  const examples = loadExamples();
  for (const method of ['classify', 'regress'] as const) {
    const signatures = await exampleSignatures(method);
    expect(signatures).not.toHaveLength(0);
    for (const signature of signatures) {
      const request = { model: { name: 'tf1_classifier' }, method, signature, examples };
      const [there, here] = await Promise.allSettled([
        server.examples?.(request),
        inProcess.examples?.(request),
      ]);
      expect(here).toEqual(there);
      expect(here.status).toBe('fulfilled');
    }
  }
});

test('an aborted call rejects with the reason at once', async () => {
  const reason = new ServingError('REQUEST_TIMEOUT', 'too late');
  const call = inProcess.predict({
    model: { name: 'half_plus_two' },
    signature: '',
    inputs: { x: { dtype: 'float32', shape: [1], bytes: new Uint8Array(4) } },
    signal: AbortSignal.abort(reason),
  });
  await expect(call).rejects.toBe(reason);
});

test.each(['classify', 'regress'] as const)('so does %s, before anything runs', async (method) => {
  const reason = new ServingError('REQUEST_TIMEOUT', 'too late');
  const [signature = ''] = await exampleSignatures(method);
  const call = inProcess.examples?.({
    model: { name: 'tf1_classifier' },
    method,
    signature,
    examples: loadExamples(),
    signal: AbortSignal.abort(reason),
  });
  await expect(call).rejects.toBe(reason);
});

function loadExamples(): Uint8Array[] {
  const model = models.find(({ name }) => name === 'tf1_classifier');
  if (!model) throw new Error('this test needs tf1_classifier');
  const tensors = loadGoldens(model).flatMap(({ cases }) =>
    cases.map(({ inputs }) => inputs.inputs),
  );
  const strings = tensors.find((tensor) => tensor?.dtype === 'string');
  if (strings?.dtype !== 'string') throw new Error('tf1_classifier takes no tf.Examples');
  return [...strings.values];
}

async function exampleSignatures(method: string): Promise<string[]> {
  const signatures = await inProcess.signatures({ name: 'tf1_classifier' });
  return Object.values(signatures)
    .filter(({ methodName }) => methodName.endsWith(`/${method}`))
    .map(({ key }) => key);
}

/** `count` strings of 0 to 60 bytes: TensorFlow keeps up to 22 in place. */
function manyStrings(count: number) {
  return stringTensor(
    [count],
    Array.from({ length: count }, (_, index) =>
      `${index}`.padEnd(index % 61, '.').slice(0, index % 61),
    ),
  );
}

test('very many strings go in and come out in turns, each as it is', async () => {
  const data_bytes = manyStrings(20_000);
  const call = { model: { name: 'strings' }, signature: 'bytes', inputs: { data_bytes } };
  for (const backend of [server, inProcess]) {
    const { turns, result } = await countTurns(() => backend.predict(call));
    const echo = result.outputs.echo_bytes as typeof data_bytes;
    const hex = (values: readonly Uint8Array[]) =>
      values.map((value) => Buffer.from(value).toString('latin1'));
    expect(hex(echo.values)).toEqual(hex(data_bytes.values));
    // In-process they are written, read twice, and freed.
    if (backend === inProcess) expect(turns).toBeGreaterThan(12);
  }
});

test('an answer of more bytes than the limit is refused by its name, whichever way', async () => {
  const call = async (rows: number) => {
    const inputs = { x: numericTensor('float32', [rows], new Uint8Array(4 * rows)) };
    return bothOutcomes({ model: { name: 'half_plus_two' }, signature: 'serving_default', inputs });
  };
  const { there, here } = await call(1_000_001);
  for (const refused of [there, here]) {
    expect(refused).toEqual({
      code: 'RESPONSE_TOO_LARGE',
      status: 500,
      message: expect.stringMatching(/4000000.*SAGEMAKER_TFS_MAX_RESPONSE_BYTES/),
    });
  }
  expect((await call(900_000)).here).toHaveProperty('outputs');
});

test('an answer of more strings than the limit is refused by its name, whichever way', async () => {
  const inputs = { data_bytes: manyStrings(20_001) };
  const call = { model: { name: 'strings' }, signature: 'bytes', inputs };
  const { there, here } = await bothOutcomes(call);
  expect(here).toEqual({
    code: 'RESPONSE_TOO_LARGE',
    status: 500,
    message: expect.stringMatching(/more than 40000 strings.*SAGEMAKER_TFS_MAX_STRINGS/),
  });
  expect(there).toEqual(here);
  const { here: fewer } = await bothOutcomes({ ...call, outputs: ['echo_bytes'] });
  expect(fewer).toHaveProperty('outputs');
});
