/**
 * What callers of AWS's Python serving container send and match on, each behaviour as a request and its answer, over
 * both of TensorFlow Serving's transports. The texts are those that old clients look for.
 */
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
);

let single: RuntimeProcess;
let multi: RuntimeProcess;
let root: string;
let remove: () => Promise<void>;

beforeAll(async () => {
  const created = await createModelDir({
    copies: {
      'one/half_plus_three': halfPlusThree,
      'one/half_plus_two': halfPlusTwo,
      'many/half_plus_two': halfPlusTwo,
    },
    files: { 'many/invalid_version/abcde/dummy.txt': '' },
  });
  remove = created.remove;
  root = `${created.directory}/many`;
  single = await startRuntimeProcess({
    SAGEMAKER_TFS_MODEL_DIR: `${created.directory}/one`,
    SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'half_plus_three',
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
    ['another model', '{"instances": [1.0]}', JSON_TYPE, two, { predictions: [3.5] }],
    [
      'a version',
      '{"instances": [1.0]}',
      JSON_TYPE,
      `${two},tfs-model-version=1`,
      { predictions: [2.5] },
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

  test.each<[string, string, string, string, number]>([
    ['an unknown content type', 'x', 'application/unknown', '', 415],
    ['a model that is not there', '{"instances": [1.0]}', JSON_TYPE, 'tfs-model-name=nobody', 404],
    [
      'a version that is not there',
      '{"instances": [1.0]}',
      JSON_TYPE,
      `${two},tfs-model-version=9`,
      404,
    ],
    ['values of another type', '{"instances": [["a"]]}', JSON_TYPE, '', 400],
  ])('%s', async (_name, body, type, attributes, status) => {
    const answer = await invoke(body, type, attributes);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toHaveProperty('error');
  });
});

test('GET /ping', async () => {
  expect((await fetch(`${single.url}/ping`)).status).toBe(200);
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

  test.each(['invalid_version', 'nobody'])('%s has no version: 404', async (url) => {
    expect(await load('x', url)).toMatchObject({
      status: 404,
      body: {
        error: says(`Could not find valid base path ${root}/${url} for servable x`),
      },
    });
  });
});
