/** What TensorFlow Serving answers to requests at the edge of its API, the same over every transport. */

import { join } from 'node:path';
import { TRANSPORTS } from '@sagemaker-tfs/tensors/custom-attributes';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { invoke } from './testing/invoke.ts';
import type { RuntimeProcess } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';

const EXPORTS = join(__dirname, '..', '..', 'test', 'fixtures', 'tf1-exports');

const start = useRuntimes();
let served: RuntimeProcess;
let inProcess: RuntimeProcess;
beforeAll(async () => {
  const copies = {
    counter: join(EXPORTS, 'counter'),
    half_plus_three: join(EXPORTS, 'half_plus_three'),
    half_plus_two: fixtureModel('half_plus_two').basePath,
    tf1_classifier: fixtureModel('tf1_classifier').basePath,
    shapes: fixtureModel('shapes').basePath,
  };
  const variables = { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_three' };
  served = await start({ copies }, variables);
  inProcess = await start({ copies }, { ...variables, SAGEMAKER_TFS_BACKEND: 'in-process' });
});

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

async function ask(
  transport: (typeof TRANSPORTS)[number],
  attributes: string,
  body: string | Uint8Array,
  type?: string,
): Promise<Answer> {
  const response = await invoke(transport === 'in-process' ? inProcess : served, {
    body,
    type,
    attributes: `tfs-transport=${transport},${attributes}`,
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

describe.each(TRANSPORTS)('over %s', (transport) => {
  const COUNTER = 'tfs-model-name=counter';

  test('reference types are what they refer to; the body names a signature where there is no default', async () => {
    const call = (signature: string, inputs: string) =>
      ask(transport, COUNTER, `{"signature_name": "${signature}", "inputs": ${inputs}}`);
    const before = (await call('incr_counter_by', '{"delta": 0}')).body.outputs as number;
    expect(await call('incr_counter_by', '{"delta": 2.5}')).toEqual({
      status: 200,
      body: { outputs: before + 2.5 },
    });
    const read = await call('get_counter', '{}');
    // TensorFlow Serving's REST API has no way to call a signature without inputs.
    if (transport === 'rest') {
      expect(read.body.error).toContain('Failed to get input map for signature: get_counter');
    } else expect(read).toEqual({ status: 200, body: { outputs: before + 2.5 } });
  });

  test.each([
    ['application/json', '{"inputs": {"delta": 1.0}}'],
    ['application/json', '[1.0]'],
    ['text/csv', '1.0'],
  ])(
    'a body of %s that names no signature where there is no default: 400 that lists them',
    async (type, body) => {
      const answer = await ask(transport, COUNTER, body, type);
      expect(answer.status).toBe(400);
      expect(answer.body.error).toContain('has no signature "serving_default"');
      expect(answer.body.error).toContain('get_counter');
    },
  );

  test('a wrong value for a signature that the body names where there is no default: the error names the value', async () => {
    const body = '{"signature_name": "incr_counter_by", "inputs": {"delta": "much"}}';
    const answer = await ask(transport, COUNTER, body);
    expect(answer.status).toBe(400);
    expect(answer.body.error).toContain('delta');
    expect(answer.body.error).not.toContain('serving_default');
  });

  test('regress feeds tf.Examples to an input that is declared as float', async () => {
    const body =
      '{"signature_name": "tensorflow/serving/regress", "examples": [{"x": 1.0}, {"x": 2.0}]}';
    expect(await ask(transport, 'tfs-method=regress', body)).toEqual({
      status: 200,
      body: { results: [3.5, 4] },
    });
  });

  test.each([
    ['classify', 'tfs-signature=tensorflow%2Fserving%2Fregress', /classes.*scores/],
    ['regress', 'tfs-signature=classify_x_to_y', /No regression outputs found/],
  ])('%s with a signature of the other method is INVALID_ARGUMENT', async (method, named, text) => {
    const answer = await ask(
      transport,
      `tfs-method=${method},${named}`,
      '{"examples": [{"x": 1.0}]}',
    );
    expect(answer).toMatchObject({ status: 400, body: { error: expect.stringMatching(text) } });
  });

  test('inputs that the signature does not name are passed over in columns, refused in rows', async () => {
    const columns = await ask(transport, '', '{"inputs": {"x": [[1.0]], "extra": 9}}');
    expect(columns).toEqual({ status: 200, body: { outputs: [[3.5]] } });
    const rows = await ask(transport, '', '{"instances": [{"x": [1.0], "extra": 9}]}');
    expect(rows).toMatchObject({ status: 400, body: { error: expect.stringContaining('extra') } });
  });

  test('of equal keys the last counts, as in Python and JavaScript', async () => {
    const body = '{"instances": [[1.0]], "instances": [[2.0]]}';
    expect(await ask(transport, '', body)).toEqual({ status: 200, body: { predictions: [[4]] } });
  });
});
