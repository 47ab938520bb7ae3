/** Models, signatures, inputs and outputs may be called as something that every JavaScript object has already. */
import { concatBytes, encodeNpz, encodeTfRecord, numericTensor } from '@sagemaker-tfs/tensors';
import { encodeExample } from '../../container/src/codecs/tf-example-writer.ts';
import type { RuntimeProcess } from '../../container/src/testing/runtime-process.ts';
import { useRuntimes } from '../../container/src/testing/use-runtimes.ts';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { predict } from './index.ts';

const MODELS = ['object_names', 'constructor', 'toString', 'hasOwnProperty'];
const OUTPUTS = { constructor: [2, -1], hasOwnProperty: [0.5, 4], toString: [0.5, -4] };
const EXPECTED = Object.fromEntries([['__proto__', [1.5, 0]], ...Object.entries(OUTPUTS)]);

const start = useRuntimes();
const runtimes: Record<string, RuntimeProcess> = {};
beforeAll(async () => {
  const { basePath } = fixtureModel('object_names');
  const copies = Object.fromEntries(MODELS.map((name) => [name, basePath]));
  const variables = { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'object_names' };
  const served = await start({ copies }, { ...variables, SAGEMAKER_TFS_ENABLE_BATCHING: 'true' });
  Object.assign(runtimes, { grpc: served, rest: served });
  runtimes['in-process'] = await start(
    { copies },
    { ...variables, SAGEMAKER_TFS_BACKEND: 'in-process' },
  );
});

const column = (...values: number[]) =>
  numericTensor('float32', [values.length], Float32Array.from(values));
const row = (a: number, b: number) =>
  encodeExample(
    Object.fromEntries([
      ['__proto__', column(a)],
      ['constructor', column(b)],
    ]),
  );

const BODIES: readonly (readonly [string, string | Uint8Array])[] = [
  ['application/json', '{"inputs": {"__proto__": [1, 2], "constructor": [0.5, -2]}}'],
  [
    'application/json',
    '{"instances": [{"__proto__": 1, "constructor": 0.5}, {"constructor": -2, "__proto__": 2}]}',
  ],
  [
    'application/jsonlines',
    '{"__proto__": 1, "constructor": 0.5}\n{"__proto__": 2, "constructor": -2}',
  ],
  ['text/csv; header=present', '__proto__,constructor\n1,0.5\n2,-2'],
  [
    'application/x-npz',
    concatBytes(
      encodeNpz(
        Object.fromEntries([
          ['__proto__', column(1, 2)],
          ['constructor', column(0.5, -2)],
        ]),
      ),
    ),
  ],
  [
    'application/x-tfrecord',
    concatBytes([...encodeTfRecord(row(1, 0.5)), ...encodeTfRecord(row(2, -2))]),
  ],
];
const ACCEPTS = [
  'application/json',
  'application/jsonlines',
  'application/x-npz',
  'application/x-tfrecord',
];

describe.each(['grpc', 'rest', 'in-process'] as const)('over %s', (transport) => {
  const ask = async (
    contentType: string,
    body: string | Uint8Array,
    accept: string,
    attributes = {},
  ) => {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body;
    const target = { url: runtimes[transport]?.url ?? '' };
    const answer = await predict(
      target,
      { bytes, contentType },
      { accept, customAttributes: { transport, ...attributes } },
    );
    const tensors = Object.entries(answer.tensors());
    return Object.fromEntries(tensors.map(([name, { data }]) => [name, Array.from(data, Number)]));
  };

  test.each(BODIES)('inputs in %s: %j', async (contentType, body) => {
    for (const accept of ACCEPTS) expect(await ask(contentType, body, accept)).toEqual(EXPECTED);
  });

  test('signatures and models, and outputs asked for', async () => {
    const json = 'application/json';
    const call = (body: string, attributes: object) => ask(json, body, json, attributes);
    for (const modelName of MODELS) {
      const inputs = '{"inputs": {"__proto__": [1], "constructor": [4]}}';
      expect(await call(inputs, { modelName, outputs: ['__proto__', 'toString'] })).toEqual(
        Object.fromEntries([
          ['__proto__', [5]],
          ['toString', [4]],
        ]),
      );
      const attributes = { modelName, signature: '__proto__', outputs: ['__proto__'] };
      expect(await call('{"inputs": [3]}', attributes)).toEqual(
        Object.fromEntries([['__proto__', [-3]]]),
      );
      const own = { modelName, signature: 'toString', outputs: ['valueOf'] };
      expect(await call('{"instances": [3]}', own)).toEqual({ valueOf: [6] });
    }
  });

  test('a name that only objects have is unknown', async () => {
    const call = (attributes: object) =>
      ask('application/json', '{"inputs": [3]}', 'application/json', attributes);
    await expect(call({ signature: 'valueOf' })).rejects.toThrow('no signature "valueOf"');
    await expect(call({ signature: 'toString', outputs: ['constructor'] })).rejects.toThrow(
      "no output 'constructor'",
    );
    await expect(call({ modelName: 'valueOf' })).rejects.toThrow('valueOf');
  });

  test('features of an example', async () => {
    const { url } = runtimes[transport] as RuntimeProcess;
    const response = await fetch(`${url}/invocations`, {
      method: 'POST',
      body: '{"signature_name": "constructor", "examples": [{"__proto__": 1.0, "constructor": 2.5}]}',
      headers: {
        'Content-Type': 'application/json',
        'X-Amzn-SageMaker-Custom-Attributes': `tfs-transport=${transport},tfs-method=regress`,
      },
    });
    expect(await response.json()).toEqual({ results: [-1.5] });
  });
});
