import { once } from 'node:events';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  elementCount,
  isNumeric,
  parseJson,
  type Tensor,
  type TensorMap,
  tensorFromJson,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import { SavedModelSchema } from '@sagemaker-tfs/tensors/protos';
import { firstDifference, withoutDenormals } from '../../../test/fixtures/compare.ts';
import { type FixtureModel, type GoldenCase, loadGoldens } from '../../../test/fixtures/index.ts';
import { modelConfigText } from '../../test/model-config-text.ts';
import { servableModels as models } from '../../test/servable-models.ts';
import { type ServerProcess, startServerProcess } from '../../test/server-process.ts';
import { temporaryDirectory, temporaryFile } from '../../test/temporary.ts';

let server: ServerProcess;

beforeAll(async () => {
  const basePaths = new Map(models.map(({ name, basePath }) => [name, basePath]));
  const configured = [...basePaths].map(([name, basePath]) => ({
    name,
    basePath,
    more: 'model_version_policy { all {} }',
  }));
  configured.push({ name: 'no_inputs', basePath: await modelWithoutInputs(), more: '' });
  const config = await temporaryFile('models.config', modelConfigText(configured));
  server = await startServerProcess([`--model_config_file=${config}`]);
});

afterAll(() => server.stop());

/** @returns a base path whose model's signatures, `serving_default` and `get`, have no inputs */
async function modelWithoutInputs(): Promise<string> {
  const base = await temporaryDirectory();
  const exports = join(__dirname, '..', '..', '..', 'test', 'fixtures', 'tf1-exports');
  await cp(join(exports, 'counter'), base, { recursive: true });
  const file = join(base, '1', 'saved_model.pb');
  const model = fromBinary(SavedModelSchema, await readFile(file));
  for (const graph of model.metaGraphs) {
    const get = graph.signatureDef.get_counter;
    if (get) graph.signatureDef = { serving_default: get, get };
  }
  await writeFile(file, toBinary(SavedModelSchema, model));
  return base;
}

const url = (path: string): string => `http://127.0.0.1:${server.restPort}${path}`;

async function post(path: string, body: string | Uint8Array, headers = {}) {
  const response = await fetch(url(path), { method: 'POST', body, headers });
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, text: bytes.toString(), bytes };
}

const predict = (body: string, model = 'half_plus_two') =>
  post(`/v1/models/${model}:predict`, body);

function tensorJson(tensor: Tensor): string {
  return Buffer.concat([...writeTensorJson(tensor, { name: '_bytes' })]).toString();
}

function columnarBody(signature: string, inputs: TensorMap): string {
  const parts = Object.entries(inputs).map(
    ([name, tensor]) => `${JSON.stringify(name)}: ${tensorJson(tensor)}`,
  );
  return `{"signature_name": ${JSON.stringify(signature)}, "inputs": {${parts.join(',')}}}`;
}

/** The outputs of an answer as tensors of the dtypes expected. Text is bytes, which need not be UTF-8. */
function outputsOf(answer: Buffer, expected: TensorMap): TensorMap {
  const { outputs } = parseJson(answer.toString('latin1')) as { outputs: object };
  const names = Object.keys(expected);
  const areNamed = names.some((name) => Object.hasOwn(outputs, name));
  const named = areNamed ? outputs : { [names[0] as string]: outputs };
  return Object.fromEntries(
    names.map((name) => {
      const { dtype, shape } = expected[name] as Tensor;
      const read = tensorFromJson(dtype, (named as Record<string, unknown>)[name]);
      const tensor = name.endsWith('_bytes') ? read : bytesOf(read);
      // JSON cannot tell [0] from [0, 3].
      return [name, shape.includes(0) ? { ...tensor, shape } : tensor];
    }),
  );
}

/** Strings with a byte for each of their characters. */
function bytesOf(tensor: Tensor): Tensor {
  if (isNumeric(tensor)) return tensor;
  const values = tensor.values.map((value) => Buffer.from(Buffer.from(value).toString(), 'latin1'));
  return { ...tensor, values };
}

/** Inputs whose numbers TensorFlow Serving's REST API does not read. */
function hasUnread(inputs: TensorMap): boolean {
  return Object.values(inputs).some(
    ({ dtype, shape }) =>
      ['float16', 'bfloat16', 'uint16'].includes(dtype) && elementCount(shape) > 0,
  );
}

/** Inputs left out, which the REST API asks for though they have a default. */
function leavesOut(model: FixtureModel, inputs: TensorMap): boolean {
  return model.name === 'default_inputs' && Object.keys(inputs).length < 3;
}

describe(':predict', () => {
  const goldens = models.flatMap((model) =>
    loadGoldens(model).map(
      (golden) => [`${model.name}/${model.version} ${golden.signature}`, model, golden] as const,
    ),
  );

  test.each(goldens)('%s answers as Python TensorFlow does', async (_, model, golden) => {
    const path = `/v1/models/${model.name}/versions/${model.version}:predict`;
    for (const { inputs, outputs, error } of golden.cases.filter(fitsJson)) {
      const { status, text, bytes } = await post(path, columnarBody(golden.signature, inputs));
      if (hasUnread(inputs)) {
        expect(status).toBe(501);
        expect(JSON.parse(text).error).toMatch(/to type: (half|bfloat16|uint16)/);
      } else if (leavesOut(model, inputs)) {
        expect(status).toBe(400);
        expect(JSON.parse(text).error).toMatch(/^Missing named input: \w+ in 'inputs' object\.$/);
      } else if (error) {
        expect(status).toBe(400);
        expect(JSON.parse(text).error).toContain(error.message);
      } else {
        expect([status, text.slice(0, 200)]).toEqual([200, expect.anything()]);
        const actual = withoutDenormals(outputsOf(bytes, outputs ?? {}));
        const expected = withoutDenormals(outputs ?? {});
        expect(firstDifference(actual, expected, golden.tolerance)).toBeUndefined();
      }
    }
  });

  test('rows with one input and one output need no names', async () => {
    const { status, text } = await post(
      '/v1/models/half_plus_two/versions/1:predict',
      '{"instances": [1.0, 2.0, 5.0]}',
    );
    expect(status).toBe(200);
    expect(text.replaceAll(/\s/g, '')).toBe('{"predictions":[2.5,3.0,4.5]}');
  });

  test.each([
    ['{}', 'DEFAULT'],
    ['{"instances": [{}]}', 'DEFAULT'],
    ['{"inputs": {}, "signature_name": "get"}', 'get'],
  ])(
    '%s to a signature without inputs is refused by the name that was given',
    async (body, name) => {
      const { status, text } = await predict(body, 'no_inputs');
      expect(status).toBe(400);
      expect(JSON.parse(text).error).toBe(`Failed to get input map for signature: ${name}`);
    },
  );

  test('rows with several outputs are objects', async () => {
    const { text } = await predict(
      '{"instances": [{"a": 1, "b": 2}, {"a": 3, "b": 4}]}',
      'multi_signature',
    );
    const { predictions } = JSON.parse(text);
    expect(predictions).toHaveLength(2);
    expect(Object.keys(predictions[0]).length).toBeGreaterThan(1);
  });

  test('integers beyond 2^53 and NaN pass', async () => {
    const label = await post(
      '/v1/models/multi_signature:predict',
      '{"signature_name": "label", "instances": [{"name": "x", "number": 9007199254740993}]}',
    );
    expect(label.status).toBe(200);
    const nan = await predict('{"instances": [[NaN]]}');
    expect(nan.text).toContain('NaN');
  });

  test('a compressed body is unpacked; one that is not compressed as it says is refused', async () => {
    const headers = { 'content-encoding': 'gzip' };
    const path = '/v1/models/half_plus_two:predict';
    expect((await post(path, gzipSync('{"instances": [[2]]}'), headers)).status).toBe(200);
    expect((await post(path, '{"instances": [[2]]}', headers)).status).toBe(400);
  });

  test.each([
    ['', 'JSON Parse error: The document is empty'],
    ['instances = [1]', 'JSON Parse error: Invalid value. at offset: 0'],
    ['[1]', 'Is not object'],
    ['{"signature_name": 100}', "'signature_name' key must be a string value."],
    ['{"signature_name": "x"}', 'Serving signature name: "x" not found in signature def'],
    ['{}', "Missing 'inputs' or 'instances' key"],
    ['{"instances": []}', "No values in 'instances' array"],
    ['{"instances": 1}', "Expecting 'instances' to be an list/array"],
    ['{"instances": [1], "inputs": [1]}', "only one of 'inputs' or 'instances' keys"],
    ['{"instances": ["x"]}', 'JSON Value: "x" Type: String is not of expected type: float'],
    ['{"instances": [[1], [2, 3]]}', 'Expecting tensor size: 1 but got: 2'],
    ['{"instances": [{"z": 1}]}', 'JSON object: does not have named input: z'],
    ['{"instances": [1, {"x": 1}]}', 'Expecting value/list but got object at item 1'],
    ['{"instances": [{"x": 1}, 1]}', 'Expecting object but got list at item 1'],
    ['{"inputs": {"z": 1}}', "Missing named input: x in 'inputs' object."],
    ['{"inputs": [[1], [[2]]]}', 'Encountered list at unexpected level: 2 expected < 2'],
    ['{"inputs": [[1], 2]}', 'found at incorrect level: 2 in the JSON DOM'],
    ['{"inputs": [[1e400]]}', 'Number too big to be stored in double.'],
  ])('%s is refused', async (body, message) => {
    const { status, text } = await predict(body);
    expect(status).toBe(400);
    expect(JSON.parse(text).error).toContain(message);
  });

  test('a body of tens of megabytes passes', async () => {
    const rows = 2_000_000;
    const body = `{"instances": [${'[0.123456],'.repeat(rows - 1)}[0.123456]]}`;
    const { status, text } = await predict(body);
    expect(status).toBe(200);
    expect(JSON.parse(text).predictions).toHaveLength(rows);
  });
});

/** JSON has no scalars in rows, and no shape for what has no elements. */
function fitsJson({ inputs }: GoldenCase): boolean {
  return Object.values(inputs).every(({ shape }) => !shape.slice(0, -1).includes(0));
}

describe(':classify and :regress', () => {
  test('floats beyond float32 are infinite, as for predict', async () => {
    const body = (x: string) => `{"signature_name": "regress_x_to_y", "examples": [{"x": ${x}}]}`;
    for (const [x, y] of [
      ['1e300', 'Infinity'],
      ['[-1e39]', '-Infinity'],
      ['3.5e38', 'Infinity'],
      ['1e-300', '2.0'],
    ] as const) {
      const { status, text } = await post('/v1/models/half_plus_two/versions/1:regress', body(x));
      expect([x, status, text]).toEqual([x, 200, expect.stringContaining(`"results": [${y}`)]);
    }
  });

  test('classify answers pairs of label and score', async () => {
    const { text } = await post(
      '/v1/models/half_plus_two/versions/1:classify',
      '{"signature_name": "classify_x_to_y", "examples": [{"x": 20.0}, {"x": [10.0]}]}',
    );
    expect(JSON.parse(text)).toEqual({ results: [[['', 12]], [['', 7]]] });
  });

  test('regress answers values, with features of the context', async () => {
    const { text } = await post(
      '/v1/models/half_plus_two/versions/1:regress',
      '{"signature_name": "regress_x_to_y", "context": {"x": 80.0}, "examples": [{}, {"x": 4.0}]}',
    );
    expect(text).toBe('{\n    "results": [42.0, 4.0]\n}');
  });

  test.each([
    ['{}', "key 'examples' is expected and was not found"],
    ['{"examples": 1}', "Expecting 'examples' value to be an list/array"],
    ['{"examples": []}', "'examples' value is an empty array"],
    ['{"examples": [1]}', 'Example must be JSON object but got JSON Number'],
    ['{"examples": [{"x": null}]}', 'Feature: x has element with unexpected JSON type: Null'],
    [
      '{"examples": [{"x": [1.0, "a"]}]}',
      'Unexpected element type in feature: x expecting type: float',
    ],
    [
      '{"signature_name": "y", "examples": [{"x": 1.0}]}',
      'No signature was found with the name: y',
    ],
  ])('%s is refused', async (body, message) => {
    const { status, text } = await post('/v1/models/half_plus_two:regress', body);
    expect(status).toBe(400);
    expect(JSON.parse(text).error).toContain(message);
  });
});

describe('GET', () => {
  const get = async (path: string) => {
    const response = await fetch(url(path));
    return { status: response.status, text: await response.text(), headers: response.headers };
  };

  test('the status of every version, newest first, and of one', async () => {
    const all = await get('/v1/models/half_plus_two');
    const available = (version: string) => ({
      version,
      state: 'AVAILABLE',
      status: { error_code: 'OK', error_message: '' },
    });
    expect(JSON.parse(all.text)).toEqual({
      model_version_status: [available('2'), available('1')],
    });
    const one = await get('/v1/models/half_plus_two/versions/1');
    expect(JSON.parse(one.text)).toEqual({ model_version_status: [available('1')] });
    expect(one.headers.get('content-type')).toBe('application/json');
  });

  test('the metadata of a version', async () => {
    const { text } = await get('/v1/models/half_plus_two/versions/1/metadata');
    const { model_spec, metadata } = JSON.parse(text);
    expect(model_spec).toEqual({ name: 'half_plus_two', signature_name: '', version: '1' });
    const signature = metadata.signature_def.signature_def.regress_x_to_y;
    expect(signature.method_name).toBe('tensorflow/serving/regress');
    expect(signature.inputs.inputs.dtype).toBe('DT_STRING');
  });

  test.each([
    ['/v1/models/nobody', 404, 'Could not find any versions of model nobody'],
    ['/v1/models/half_plus_two/versions/9', 404, 'Could not find version 9 of model half_plus_two'],
    ['/v1/models/nobody/metadata', 404, 'Servable not found for request: Latest(nobody)'],
    ['/v1/models', 400, 'Missing model name in request.'],
    [
      '/v1/models/half_plus_two:predict',
      400,
      'Malformed request: GET /v1/models/half_plus_two:predict',
    ],
    ['/v1/models/x?y=1', 404, 'Could not find any versions of model x?y=1'],
    ['/v1/models/%78', 404, 'Could not find any versions of model x'],
    ['/v1/models/gr%C3%B6%C3%9Fe', 404, 'Could not find any versions of model größe'],
  ])('%s answers %i', async (path, status, error) => {
    const answer = await get(path);
    expect(answer.status).toBe(status);
    expect(JSON.parse(answer.text)).toEqual({ error });
  });
});

test.each(['/v1/models/half_plus_two%zz', '/v1/models/half_plus_two%', '/v1/models/a[1]', '/{}'])(
  'GET %s, which libevent cannot read, is answered in HTML',
  async (path) => {
    const asked = httpRequest({ port: server.restPort, host: '127.0.0.1', path }).end();
    const [response] = (await once(asked, 'response')) as [IncomingMessage];
    let text = '';
    for await (const part of response.setEncoding('utf8')) text += part;
    const { statusCode, headers } = response;
    expect([statusCode, headers['content-type'], headers.connection]).toEqual([
      400,
      'text/html',
      'close',
    ]);
    expect(text.replaceAll(/\s/g, '')).toContain('<TITLE>400BadRequest</TITLE>');
  },
);

const own = process.env.TEST_MODEL_SERVER_BIN === undefined ? test : test.skip;
own.each([
  [{ Host: 'evil.example' }, 403],
  [{ Host: 'evil.example', Origin: 'http://evil.example' }, 403],
  [{ Origin: 'http://evil.example' }, 403],
  [{ 'Sec-Fetch-Site': 'cross-site' }, 403],
  [{ Host: 'localhost:1' }, 200],
  [{}, 200],
])('by decision, on loopback %j is answered with %i', async (headers, status) => {
  const asked = httpRequest(url('/v1/models/half_plus_two'), { headers }).end();
  const [response] = (await once(asked, 'response')) as [IncomingMessage];
  let text = '';
  for await (const part of response.setEncoding('utf8')) text += part;
  expect([response.statusCode, text]).toEqual([
    status,
    expect.stringContaining(status === 200 ? 'AVAILABLE' : '"error"'),
  ]);
});

own('by decision, HEAD gets no body', async () => {
  const socket = connect(server.restPort, '127.0.0.1');
  const head = ['HEAD /v1/models/half_plus_two HTTP/1.1', 'Host: localhost', 'Connection: close'];
  socket.write(`${head.join('\r\n')}\r\n\r\n`);
  let answer = '';
  for await (const part of socket.setEncoding('utf8')) answer += part;
  expect(answer).toMatch(/^HTTP\/1\.1 \d{3} /);
  expect(answer.indexOf('\r\n\r\n')).toBe(answer.length - 4);
});
