/**
 * What callers of AWS's Python serving container send and match on, each behaviour as a request and its answer, over
 * both of TensorFlow Serving's transports. The texts are those that old clients look for. The defaults of the
 * variables are in environment.test.ts, their flags in model-server/command.test.ts.
 */
import { truncate } from 'node:fs/promises';
import { join } from 'node:path';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { createModelDir } from './testing/model-dir.ts';
import { type RuntimeProcess, startRuntimeProcess } from './testing/runtime-process.ts';

const halfPlusTwo = fixtureModel('half_plus_two').basePath;
const halfPlusThree = join(
  __dirname,
  '..',
  '..',
  'test',
  'fixtures',
  'tf1-exports',
  'half_plus_three',
  '1',
);

let single: RuntimeProcess;
let multi: RuntimeProcess;
let root: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  const created = await createModelDir({
    copies: {
      // Any depth above a model; leading zeros of a version are dropped. The first model found is the default.
      'one/above/half_plus_three/00000123': halfPlusThree,
      'one/any/depth/half_plus_two': halfPlusTwo,
      'one/strings': fixtureModel('strings').basePath,
      'one/failing_assert': fixtureModel('failing_assert').basePath,
      'many/half_plus_two': halfPlusTwo,
      'many/huge': halfPlusTwo,
    },
    files: { 'many/invalid_version/abcde/dummy.txt': '' },
  });
  remove = created.remove;
  root = `${created.directory}/many`;
  // Sparse: it takes no room on the disk, and more memory than there is.
  await truncate(`${root}/huge/1/variables/variables.data-00000-of-00001`, 2 ** 42);
  single = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: `${created.directory}/one`,
  });
  multi = await startRuntimeProcess({
    SAGEMAKER_MULTI_MODEL: 'true',
    SAGEMAKER_TFS_MULTI_MODEL_DIR: root,
  });
  await Promise.all([single.ready(), multi.ready()]);
});

afterAll(async () => {
  await Promise.all([single?.end('SIGKILL'), multi?.end('SIGKILL')]);
  await remove?.();
});

async function send(
  method: string,
  url: string,
  body: string | undefined,
  headers: Record<string, string>,
) {
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body }) });
  return {
    status: response.status,
    type: response.headers.get('Content-Type'),
    text: await response.text(),
  };
}

const JSON_TYPE = 'application/json';
const ATTRIBUTES = 'X-Amzn-SageMaker-Custom-Attributes';

describe.each(['grpc', 'rest'])('an endpoint of one archive, over %s', (transport) => {
  const invoke = (body: string, type: string, attributes = '', more = {}) =>
    send('POST', `${single.url}/invocations`, body, {
      'Content-Type': type,
      [ATTRIBUTES]: `tfs-transport=${transport}${attributes && `,${attributes}`}`,
      ...more,
    });
  const two = 'tfs-model-name=half_plus_two';
  const strings = 'tfs-model-name=strings';

  test.each<[string, string, string, string, unknown]>([
    [
      'rows',
      '{"instances": [[1.0], [2.0], [5.0]]}',
      JSON_TYPE,
      '',
      { predictions: [[3.5], [4], [5.5]] },
    ],
    ['columns', '{"inputs": [[1.0], [2.0]]}', JSON_TYPE, '', { outputs: [[3.5], [4]] }],
    [
      'a list of lists is the instances',
      '[[1.0], [2.0]]',
      JSON_TYPE,
      '',
      { predictions: [[3.5], [4]] },
    ],
    ['a list is one instance', '[1.0]', JSON_TYPE, '', { predictions: [[3.5]] }],
    ['an object is one instance', '{"x": [1.0]}', JSON_TYPE, '', { predictions: [[3.5]] }],
    [
      'several documents, an instance each',
      '[1.0]\n[2.0]\n',
      JSON_TYPE,
      '',
      { predictions: [[3.5], [4]] },
    ],
    [
      'the same as application/jsons',
      '[1.0][2.0]',
      'application/jsons',
      '',
      { predictions: [[3.5], [4]] },
    ],
    [
      'the same as application/jsonlines',
      '[1.0]\n[2.0]',
      'application/jsonlines',
      '',
      { predictions: [[3.5], [4]] },
    ],
    ['CSV, a line an instance', '1.0\n2.0\n', 'text/csv', two, { predictions: [[3.5], [4]] }],
    [
      'CSV of text',
      'straw\nberry\n',
      'text/csv',
      strings,
      {
        predictions: [
          { upper: 'STRAW', length: 5 },
          { upper: 'BERRY', length: 5 },
        ],
      },
    ],
    [
      'CSV of quoted cells, which are text',
      '"straw"\n"1.0"\n',
      'text/csv',
      strings,
      {
        predictions: [
          { upper: 'STRAW', length: 5 },
          { upper: '1.0', length: 3 },
        ],
      },
    ],
    ['another model', '{"instances": [1.0]}', JSON_TYPE, two, { predictions: [3.5] }],
    [
      'a version',
      '{"instances": [1.0]}',
      JSON_TYPE,
      `${two},tfs-model-version=1`,
      { predictions: [2.5] },
    ],
    [
      'a version whose directory has leading zeros',
      '{"instances": [[1.0]]}',
      JSON_TYPE,
      'tfs-model-version=123',
      { predictions: [[3.5]] },
    ],
    [
      'predict',
      '{"instances": [[1.0]]}',
      JSON_TYPE,
      'tfs-method=predict',
      { predictions: [[3.5]] },
    ],
    [
      'regress',
      '{"signature_name": "tensorflow/serving/regress", "examples": [{"x": 1.0}, {"x": 2.0}]}',
      JSON_TYPE,
      'tfs-method=regress',
      { results: [3.5, 4] },
    ],
    [
      'classify',
      '{"signature_name": "classify_x_to_y", "examples": [{"x": 1.0}]}',
      JSON_TYPE,
      'tfs-method=classify',
      { results: [[['', 3.5]]] },
    ],
  ])('%s', async (_name, body, type, attributes, expected) => {
    const { status, text } = await invoke(body, type, attributes);
    expect([status, JSON.parse(text)]).toEqual([200, expected]);
  });

  test('Accept: application/jsonlines is the JSON in one line', async () => {
    const answer = await invoke('{"instances": [[1.0], [2.0]]}', JSON_TYPE, '', {
      Accept: 'application/jsonlines',
    });
    expect(answer).toMatchObject({ status: 200, type: 'application/jsonlines' });
    expect(answer.text.trim()).not.toContain('\n');
    expect(JSON.parse(answer.text)).toEqual({ predictions: [[3.5], [4]] });
  });

  test.each([
    ['application/json, application/jsonlines', 'application/json'],
    ['application/x-nobody, application/jsonlines, application/json', 'application/jsonlines'],
  ])('of Accept: %s, the first known type: %s', async (Accept, type) => {
    const answer = await invoke('{"instances": [[1.0]]}', JSON_TYPE, '', { Accept });
    expect(answer).toMatchObject({ status: 200, type });
  });

  test.each<[string, string, string, string, number, string]>([
    ['an unknown content type', 'x', 'application/unknown', '', 415, 'application/unknown'],
    [
      'a model that is not there',
      '{"instances": [1.0]}',
      JSON_TYPE,
      'tfs-model-name=nobody',
      404,
      'nobody',
    ],
    [
      "a version that is not there, in TensorFlow Serving's words",
      '{"instances": [1.0]}',
      JSON_TYPE,
      `${two},tfs-model-version=9`,
      404,
      'Servable not found for request: Specific(half_plus_two, 9)',
    ],
    [
      "an error of the model, in TensorFlow's words",
      '{"instances": [-1.0]}',
      JSON_TYPE,
      'tfs-model-name=failing_assert',
      400,
      'assertion failed: [x must not be negative.',
    ],
    ['values of another type', '{"instances": [["a"]]}', JSON_TYPE, '', 400, 'instances[0][0]'],
    ['an input that is not there', '{"junk": "data"}', JSON_TYPE, '', 400, 'junk'],
    ['no JSON', 'whatever', JSON_TYPE, '', 400, 'JSON'],
  ])('%s', async (_name, body, type, attributes, status, text) => {
    const answer = await invoke(body, type, attributes);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toMatchObject({ error: expect.stringContaining(text) });
  });
});

test('GET /ping', async () => {
  expect((await fetch(`${single.url}/ping`)).status).toBe(200);
});

test('values of the environment that make no sense stop the start, each with a message', async () => {
  const wrong = await startRuntimeProcess({
    SAGEMAKER_TFS_ENABLE_BATCHING: 'yes',
    SAGEMAKER_TFS_MAX_BATCH_SIZE: 'many',
    SAGEMAKER_TFS_INSTANCE_COUNT: '2',
    SAGEMAKER_SAFE_PORT_RANGE: '9000-9002',
  });
  expect(await wrong.exit).toBe(1);
  expect(wrong.output()).toContain('SAGEMAKER_TFS_ENABLE_BATCHING is "yes"');
  expect(wrong.output()).toContain('SAGEMAKER_TFS_MAX_BATCH_SIZE is "many"');
  expect(wrong.output()).toMatch(/SAGEMAKER_SAFE_PORT_RANGE is .* need 4 ports/);
});

describe('a multi-model endpoint', () => {
  const call = async (method: string, path: string, body?: unknown, attributes = '') => {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const headers = { 'Content-Type': JSON_TYPE, [ATTRIBUTES]: attributes };
    const answer = await send(method, `${multi.url}${path}`, text, headers);
    return { status: answer.status, body: JSON.parse(answer.text) as Record<string, unknown> };
  };
  const load = (name: string, url: string) =>
    call('POST', '/models', { model_name: name, url: `${root}/${url}` });
  const says = (text: string) => expect.stringContaining(text);

  test('load, invoke, load again, unload: statuses and texts', async () => {
    expect(await call('POST', '/models/m/invoke', { instances: [1] })).toMatchObject({
      status: 404,
      body: { error: says('Model m is not loaded yet') },
    });
    expect(await call('GET', '/models/m')).toMatchObject({ status: 404 });
    expect(await load('m', 'half_plus_two')).toMatchObject({
      status: 200,
      body: { success: says('Successfully loaded model m') },
    });
    for (const transport of ['grpc', 'rest']) {
      expect(
        await call('POST', '/models/m/invoke', { instances: [1] }, `tfs-transport=${transport}`),
      ).toEqual({ status: 200, body: { predictions: [3.5] } });
    }
    const models = [{ modelName: 'm', modelUrl: `${root}/half_plus_two` }];
    expect(await call('GET', '/models')).toMatchObject({ status: 200, body: { models } });
    expect(await load('m', 'half_plus_two')).toMatchObject({
      status: 409,
      body: { error: says('Model m is already loaded.') },
    });
    expect(await call('DELETE', '/models/m')).toMatchObject({
      status: 200,
      body: { success: says('Successfully unloaded model m.') },
    });
    expect(await call('DELETE', '/models/m')).toMatchObject({
      status: 404,
      body: { error: says('Model m is not loaded yet') },
    });
  });

  test('a model larger than the memory left: 507', async () => {
    expect(await load('huge', 'huge')).toMatchObject({
      status: 507,
      body: { error: says('Memory exhausted: ') },
    });
  });

  test('an invocation that names no model: 400', async () => {
    expect(await call('POST', '/invocations', { instances: [1] })).toMatchObject({ status: 400 });
  });

  test.each(['invalid_version', 'nobody'])('%s has no version: 404', async (url) => {
    expect(await load('x', url)).toMatchObject({
      status: 404,
      body: {
        error: says(`Could not find valid base path ${root}/${url} for servable x`),
      },
    });
  });
});
