/** gRPC and REST give what Python TensorFlow gives, for every fixture model that can be served. */
import { type DType, stringTensor, type Tensor, type TensorMap } from '@sagemaker-tfs/tensors';
import { GrpcStatus } from '@sagemaker-tfs/tensors/grpc-status';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import pino from 'pino';
import { firstDifference, withoutDenormals } from '../../../test/fixtures/compare.ts';
import { copiesOf, fixtureModels, loadGoldens } from '../../../test/fixtures/index.ts';
import { DEFAULT_DECODE_LIMITS } from '../decode-limits.ts';
import { readEnvironment } from '../environment.ts';
import { type ModelServer, startModelServer } from '../model-server/start.ts';
import { chooseModels } from '../models/choose-models.ts';
import { createModelDir } from '../testing/model-dir.ts';
import { MODEL_SERVER_BIN } from '../testing/model-server-bin.ts';
import { freePorts } from '../testing/ports.ts';
import type { Backend } from './backend.ts';
import { GrpcBackend } from './grpc.ts';
import { RestBackend } from './rest.ts';
import { modelError, servingErrorOf } from './status.ts';

const NOT_SERVED = new Set([
  'custom_op',
  'broken_variables',
  'sparse_input',
  'two_tag_sets',
  'busy',
]);

/** TensorFlow Serving's REST API reads no numbers of these dtypes. */
const UNREAD_OVER_REST: ReadonlySet<DType> = new Set<DType>(['float16', 'bfloat16', 'uint16']);

const models = fixtureModels().filter(
  ({ name, loadError }) => loadError === undefined && !NOT_SERVED.has(name),
);

const MAX_STRINGS = 20_000;

let modelServer: ModelServer;
let backends: Record<'grpc' | 'rest', Backend>;
let remove: () => Promise<void>;

beforeAll(async () => {
  const created = await createModelDir({ copies: copiesOf(models) });
  remove = created.remove;
  const low = await freePorts(2);
  const { environment } = readEnvironment({
    SAGEMAKER_TFS_MODEL_DIR: created.directory,
    SAGEMAKER_SAFE_PORT_RANGE: `${low}-${low + 1}`,
  });
  modelServer = await startModelServer({
    environment,
    variables: { ...process.env, PATH: `${MODEL_SERVER_BIN}:${process.env.PATH}` },
    log: pino({ level: 'silent' }),
    ...(await chooseModels(environment)),
  });
  await modelServer.pool.whenReady();
  const options = {
    timeoutMs: 60_000,
    maxReplyBytes: 2 ** 30,
    maxStrings: MAX_STRINGS,
    exampleLimits: DEFAULT_DECODE_LIMITS,
  };
  const grpc = new GrpcBackend(modelServer.pool, options);
  const rest = new RestBackend(modelServer.pool, { ...options, overGrpc: async () => grpc });
  backends = { grpc, rest };
});

afterAll(async () => {
  await Promise.all(Object.values(backends).map((backend) => backend.close()));
  await modelServer.stop();
  await remove();
});

describe.each(models.map((model) => [`${model.name} ${model.version}`, model] as const))(
  '%s',
  (_name, model) => {
    const selector = { name: model.name, version: model.version };

    test('both transports tell the same signatures', async () => {
      const [grpc, rest] = await Promise.all([
        backends.grpc.signatures(selector),
        backends.rest.signatures(selector),
      ]);
      expect(withoutUnknownNumbers(rest)).toEqual(withoutUnknownNumbers(grpc));
    });

    test('both transports tell the same state', async () => {
      const expected = [{ version: model.version, state: 'AVAILABLE', errorMessage: '' }];
      expect(await backends.grpc.status(selector)).toEqual(expected);
      expect(await backends.rest.status(selector)).toEqual(expected);
    });

    for (const transport of ['grpc', 'rest'] as const) {
      // TensorFlow Serving cannot write complex numbers in JSON, and fails where such an output is there.
      if (transport === 'rest' && model.name === 'complex_output') continue;
      test(`${transport} gives the golden outputs`, async () => {
        for (const { signature, tolerance, cases } of loadGoldens(model)) {
          for (const { name, inputs, outputs, error } of cases) {
            const isUnread = ({ dtype }: Tensor) => UNREAD_OVER_REST.has(dtype);
            if (transport === 'rest' && Object.values(inputs).some(isUnread)) continue;
            const wanted = outputs ? { outputs: Object.keys(outputs) } : {};
            const call = backends[transport].predict({
              model: selector,
              signature,
              inputs,
              ...wanted,
            });
            const where = `${signature}, ${name}`;
            if (error) {
              await expect(call).rejects.toThrow(error.message.slice(0, 30));
            } else {
              const reply = await call;
              const flushed = transport === 'rest' ? withoutDenormals : (same: TensorMap) => same;
              const difference = firstDifference(
                flushed(reply.outputs),
                flushed(outputs ?? {}),
                tolerance,
              );
              expect(
                difference === undefined ? undefined : `${where}: ${difference}`,
              ).toBeUndefined();
              expect(reply.version).toBe(model.version);
            }
          }
        }
      });
    }
  },
);

test('only the outputs asked for come back, in both transports', async () => {
  const model = { name: 'detection' };
  const golden = loadGoldens(models.find(({ name }) => name === 'detection') as (typeof models)[0]);
  const { signature, cases } = golden[0] as (typeof golden)[0];
  const { inputs, outputs = {} } = cases[0] as (typeof cases)[0];
  const wanted = Object.keys(outputs).slice(1, 3);
  for (const backend of Object.values(backends)) {
    const reply = await backend.predict({ model, signature, inputs, outputs: wanted });
    expect(Object.keys(reply.outputs).sort()).toEqual([...wanted].sort());
  }
});

test.each(['grpc', 'rest'] as const)(
  'over %s, an answer of more strings than the limit is refused by its name',
  async (transport) => {
    const text = (count: number) => stringTensor([count], Array(count).fill('a word of text'));
    const call = (count: number) =>
      backends[transport].predict({
        model: { name: 'strings' },
        signature: '',
        inputs: { text: text(count) },
      });
    expect((await call(MAX_STRINGS)).outputs.upper?.shape).toEqual([MAX_STRINGS]);
    await expect(call(MAX_STRINGS + 1)).rejects.toMatchObject({
      code: 'RESPONSE_TOO_LARGE',
      message: expect.stringMatching(/more than 20000 strings.*SAGEMAKER_TFS_MAX_STRINGS/),
    });
  },
);

test.each([
  ['Deadline Exceeded', 'not answered within 60 s (SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS).'],
  [
    'Timed out waiting for notification',
    'not answered within 60 s (SAGEMAKER_TFS_REQUEST_TIMEOUT_SECONDS).',
  ],
  ["an op's own limit", "an op's own limit"],
])('a call that ends with DEADLINE_EXCEEDED and %j says which limit it was', (text, message) => {
  const error = new StatusError(GrpcStatus.DEADLINE_EXCEEDED, text);
  expect(servingErrorOf(error, 60_000)).toMatchObject({
    code: 'REQUEST_TIMEOUT',
    status: 504,
    message,
    cause: error,
  });
  expect(modelError(text, 504, { timeoutMs: 60_000 }).message).toBe(message);
});

test.each([
  ['Could not find variable dense/kernel. This could mean that', 500],
  ['{{function_node x}} Table not initialized.', 500],
  ['the batch is not whole', 400],
])('a model without its variables is no fault of the request: %j is %i', (text, status) => {
  const error = new StatusError(GrpcStatus.FAILED_PRECONDITION, text);
  expect(servingErrorOf(error)).toMatchObject({ code: 'MODEL_FAILED', status });
  expect(modelError(text, 412).status).toBe(status === 500 ? 500 : 412);
});

/** REST names dtypes that this project does not carry instead of numbering them. */
function withoutUnknownNumbers(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (key, item) =>
      key === 'dtypeEnum' || key === 'tensorName' ? undefined : item,
    ),
  );
}
