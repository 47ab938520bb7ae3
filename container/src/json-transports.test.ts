/** JSON bodies in TensorFlow Serving's forms: handed on over REST, read here for gRPC and in-process, answered alike. */

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  decodeNpy,
  encodeNpy,
  numericTensor,
  type TensorMap,
  writeTensorJson,
} from '@sagemaker-tfs/tensors';
import {
  ExampleSchema,
  type Feature,
  FloatListSchema,
  Int64ListSchema,
} from '@sagemaker-tfs/tensors/protos';
import { type FixtureModel, fixtureModels, loadGoldens } from '../../test/fixtures/index.ts';
import { invoke } from './testing/invoke.ts';
import type { RuntimeProcess } from './testing/runtime-process.ts';
import { useRuntimes } from './testing/use-runtimes.ts';

/** Small ones that can be served, whose outputs JSON can carry. */
const NAMES = [
  'half_plus_two',
  'dtypes',
  'shapes',
  'strings',
  'multi_signature',
  'default_inputs',
  'failing_assert',
  'keras_functional',
  'image_uint8',
  'tf1_classifier',
];
const models = fixtureModels().filter(({ name }) => NAMES.includes(name));
const complex = fixtureModels().filter(({ name }) => name === 'complex_output');

const start = useRuntimes();
/** The model server's transports share a runtime. */
let served: RuntimeProcess;
let inProcess: RuntimeProcess;
const scratch = mkdtempSync(join(tmpdir(), 'json-transports-'));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
beforeAll(async () => {
  const copies = Object.fromEntries(
    [...models, ...complex].map(({ name, basePath }) => [name, basePath]),
  );
  copies.classes_of_bytes = classesOfBytes(copies.tf1_classifier as string);
  [served, inProcess] = await Promise.all([
    start({ copies }),
    start({ copies }, { SAGEMAKER_TFS_BACKEND: 'in-process' }),
  ]);
});

/** A copy of the classifier, two of whose classes are not UTF-8: as many bytes, so that the graph stays whole. */
function classesOfBytes(basePath: string): string {
  cpSync(basePath, scratch, { recursive: true });
  const file = join(scratch, '1', 'saved_model.pb');
  const graph = readFileSync(file, 'latin1')
    .replace('small', '\xff\xfe"\\\x01')
    .replace('medium', '\xfe\xfe"\\\xc3\xa9');
  writeFileSync(file, graph, 'latin1');
  return scratch;
}

const runtimeOf = (transport: string) => (transport === 'in-process' ? inProcess : served);

async function ask(
  transport: string,
  { name, version }: FixtureModel,
  body: string | Uint8Array,
  more = '',
) {
  const response = await invoke(runtimeOf(transport), {
    body,
    attributes: `tfs-transport=${transport},tfs-model-name=${name},tfs-model-version=${version}${more}`,
  });
  return { status: response.status, text: await response.text() };
}

function askAll(model: FixtureModel, body: string | Uint8Array, more = '') {
  const one = (transport: string) => ask(transport, model, body, more);
  return Promise.all([one('grpc'), one('rest'), one('in-process')]);
}

const json = (tensor: TensorMap[string]) =>
  Buffer.concat([...writeTensorJson(tensor)]).toString('utf8');

/** The inputs in both forms; rows only where they have a common first dimension. */
function bodies(signature: string, inputs: TensorMap): string[] {
  const head = `{"signature_name": ${JSON.stringify(signature)}, `;
  const entries = Object.entries(inputs).map(([name, tensor]) => [name, json(tensor)] as const);
  const columns = entries.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(', ');
  const columnar = `${head}"inputs": {${columns}}}`;
  const [only] = entries;
  // A plain row means the only input; beside it there may be those that have defaults.
  const isRows = entries.length === 1 && (Object.values(inputs)[0]?.shape.length ?? 0) > 0;
  return isRows && only ? [columnar, `${head}"instances": ${only[1]}}`] : [columnar];
}

/** TensorFlow Serving's REST API reads no numbers of these dtypes. */
const UNREAD_OVER_REST: ReadonlySet<string> = new Set(['float16', 'bfloat16', 'uint16']);

const STRING = '"(?:[^"\\\\]|\\\\.)*"';
const NUMBER = '-?(?:\\d+(?:\\.\\d+)?(?:e[+-]?\\d+)?|Infinity|NaN)';
/** Below it floats have fewer digits. TensorFlow Serving's REST API reads and writes them as 0. */
const MIN_NORMAL = 2 ** -126;

/**
 * What an answer says, its numbers as texts: JSON.parse knows neither NaN nor all of int64. TensorFlow Serving's REST API
 * writes outputs in any order, some float32 in 9 digits (0.362665743 for 0.36266574), and denormal numbers as 0.
 */
function meaning(text: string): unknown {
  const tokens = text.replace(new RegExp(`${STRING}|${NUMBER}`, 'g'), (token) => {
    if (token.startsWith('"')) return token;
    if (!/[.e]/.test(token)) return `"#${token}"`;
    const number = Math.fround(Number(token));
    return `"#${Math.abs(number) < MIN_NORMAL ? 0 : number}"`;
  });
  return JSON.parse(tokens);
}

describe.each(models.map((model) => [`${model.name} ${model.version}`, model] as const))(
  '%s',
  (_name, model) => {
    test('the same status, and the same answer digit by digit', async () => {
      for (const { signature, cases } of loadGoldens(model)) {
        for (const { name, inputs, error } of cases) {
          for (const body of bodies(signature, inputs)) {
            const [grpc, rest, within] = await askAll(model, body);
            const where = `${signature}, ${name}: ${body.slice(0, 300)}`;
            expect([where, meaning(within.text)]).toEqual([where, meaning(grpc.text)]);
            if (Object.values(inputs).some(({ dtype }) => UNREAD_OVER_REST.has(dtype))) {
              // Lists without elements are read; it is their outputs that cannot be written.
              const isEmpty = Object.values(inputs).every(({ shape }) => shape.includes(0));
              const refused = isEmpty || body.includes('"instances":') ? 400 : 501;
              expect([where, rest.status]).toEqual([where, refused]);
              continue;
            }
            expect([where, rest.status]).toEqual([where, grpc.status]);
            if (error) expect(rest.status).toBe(400);
            if (rest.status !== 200) continue;
            expect([where, meaning(rest.text)]).toEqual([where, meaning(grpc.text)]);
          }
        }
      }
    });
  },
);

test.each<[string, string | Uint8Array, string?]>([
  ['no JSON', '{"instances": [1.0'],
  ['no such signature', '{"signature_name": "nobody", "instances": [1.0]}'],
  ['an input that is not there', '{"inputs": {"nobody": [1.0]}}'],
  ['another type', '{"instances": ["text"]}'],
  ['rows of several lengths', '{"instances": [[1.0], [1.0, 2.0]]}'],
  ['both forms', '{"instances": [1.0], "inputs": [1.0]}'],
  ['no rows', '{"instances": []}'],
  ['text that is not UTF-8', Buffer.from('{"instances": [1.0], "x": "\xff"}', 'latin1')],
  ['base64 for URLs', '{"instances": [{"b64": "_-8="}]}', 'strings'],
  ['base64 with too little padding', '{"instances": [{"b64": "AA="}]}', 'strings'],
  ['a number beyond float32', '{"instances": [1e39]}'],
  ['a number beyond float64', '{"instances": [1e400]}'],
])('bad input gets the same status: %s', async (_what, body, asked = 'half_plus_two') => {
  const model = models.find(({ name }) => name === asked) as FixtureModel;
  for (const { status, text } of await askAll(model, body)) {
    expect(JSON.parse(text)).toEqual({ error: expect.any(String), code: expect.any(String) });
    expect(status).toBe(400);
  }
});

test.each([
  ['dynamic', [5, 0, 3], [3, 5, 0]],
  ['serving_default', [2, 0], [2, 0]],
  ['serving_default', [2, 0, 3], [2, 0, 3]],
])('empty tensors keep their shapes: %s of %j', async (signature, shape, expected) => {
  const model = models.find(({ name }) => name === 'shapes') as FixtureModel;
  const output = signature === 'dynamic' ? 'transposed' : 'doubled';
  const asked = async (transport: string) => {
    const response = await invoke(runtimeOf(transport), {
      body: Buffer.concat(encodeNpy(numericTensor('float32', shape, new Uint8Array(0)))),
      type: 'application/x-npy',
      accept: 'application/x-npy',
      attributes: `tfs-transport=${transport},tfs-model-name=shapes,tfs-model-version=${model.version},tfs-signature=${signature},tfs-outputs=${output}`,
    });
    if (!response.ok) throw new Error(await response.text());
    return decodeNpy(new Uint8Array(await response.arrayBuffer())).shape;
  };
  for (const transport of ['grpc', 'rest', 'in-process']) {
    expect([transport, await asked(transport)]).toEqual([transport, expected]);
  }
});

test.each([
  ['a list of objects', '[{"x": 1.0}, {"x": 2.0}]'],
  ['a document for each row', '1.0\n2.0'],
  ['an object for each row', '{"x": 1.0}\n{"x": 2.0}'],
  ['another key first', '{"note": "} {", "instances": [1.0, 2.0]}'],
  [
    'the signature in the attributes',
    '{"instances": [1.0, 2.0]}',
    ',tfs-signature=serving_default',
  ],
])(
  'over REST the answer is the one to "instances", byte for byte: %s',
  async (_, body, more = '') => {
    const model = models.find(({ name }) => name === 'half_plus_two') as FixtureModel;
    const instances = await ask('rest', model, '{"instances": [1.0, 2.0]}');
    expect(instances.status).toBe(200);
    expect(await ask('rest', model, body, more)).toEqual(instances);
    expect((await askAlike('half_plus_two', body, more)).status).toBe(200);
  },
);

test('bytes that are not UTF-8 are base64', async () => {
  const body = '{"signature_name": "string", "inputs": [{"b64": "/wA="}, "é"]}';
  const same = [{ b64: '/wA=' }, 'é'];
  const { status, body: answer } = await askAlike('dtypes', body);
  expect([status, answer]).toMatchObject([200, { outputs: { same } }]);
});

/** The one answer of all backends. */
async function askAlike(name: string, body: string, more = '') {
  const model = models.find((candidate) => candidate.name === name) as FixtureModel;
  const [grpc, ...others] = await askAll(model, body, more);
  for (const { status, text } of others) {
    expect([status, meaning(text)]).toEqual([grpc.status, meaning(grpc.text)]);
  }
  return { status: grpc.status, body: JSON.parse(grpc.text) as { error?: string } };
}

test.each(['grpc', 'rest', 'in-process'])(
  '%s: a model that refuses inputs with different numbers of rows says which has how many',
  async (transport) => {
    const model = models.find(({ name }) => name === 'multi_signature') as FixtureModel;
    const { status, text } = await ask(
      transport,
      model,
      '{"inputs": {"a": [1, 2, 3], "b": [1, 2]}}',
    );
    const { error } = JSON.parse(text);
    expect([status, error]).toEqual([
      400,
      expect.stringContaining("The inputs differ in rows: 'a' has 3, 'b' has 2."),
    ]);
  },
);

test.each(['grpc', 'rest', 'in-process'])(
  '%s refuses an output that it cannot carry, rather than to leave it out',
  async (transport) => {
    const model = complex[0] as FixtureModel;
    const { status, text } = await ask(transport, model, '{"instances": [1, 2]}');
    expect([status, text]).toEqual([
      400,
      // The first is ours; TensorFlow Serving's REST API has the second.
      expect.stringMatching(/output \\"rotated\\".*DT_COMPLEX64, which is not supported|complex64/),
    ]);
    if (transport === 'rest') return;
    const named = await ask(transport, model, '{"instances": [1, 2]}', ',tfs-outputs=size');
    expect([named.status, Object.keys(JSON.parse(named.text))]).toEqual([200, ['predictions']]);
  },
);

describe('what only some of the backends would take is answered by all', () => {
  test.each([
    ['half_plus_two', '{"examples": [{"x": 1.0}, {"x": 2.0}]}', { predictions: [[2.5], [3]] }],
    [
      'half_plus_two',
      '{"signature_name": "serving_default", "context": {"x": 1.0}, "examples": [{}, {}]}',
      { predictions: [[2.5], [2.5]] },
    ],
    ['default_inputs', '{"instances": [1.0, 2.0]}', { predictions: [3, 5] }],
    ['default_inputs', '{"instances": [{"x": 1.0}]}', { predictions: [3] }],
    ['default_inputs', '{"inputs": {"x": [1.0], "scale": 3.0}}', { outputs: [4] }],
  ])('%s: %s', async (name, body, answer) => {
    expect(await askAlike(name, body)).toEqual({ status: 200, body: answer });
  });

  test.each([
    ['{"inputs": {"x": [1.0], "scal": 3.0}}', 'scal'],
    ['{"inputs": {"x": [1.0], "scale": 3.0, "other": 1}}', 'other'],
    ['{"inputs": {"x": [1.0], "SCALE": 3.0}}', 'SCALE'],
    ['{"instances": [{"x": 1.0, "scal": 3.0}]}', 'scal'],
  ])('no default stands in for a misspelt input: %s', async (body, name) => {
    expect(await askAlike('default_inputs', body)).toEqual({
      status: 400,
      body: { code: 'UNKNOWN_INPUT', error: expect.stringContaining(`no input '${name}'`) },
    });
  });

  test('outputs that share no batch size are answered as columns', async () => {
    const rows = '{"instances": [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]}';
    const outputs = {
      doubled: [
        [2, 4],
        [6, 8],
        [10, 12],
      ],
      rank: 2,
      shape: [3, 2],
    };
    expect(await askAlike('shapes', rows)).toEqual({ status: 200, body: { outputs } });
  });

  test('other names are passed over where the request has all inputs', async () => {
    const all = '{"inputs": {"x": [1.0], "scale": 3.0, "offset": 1.0, "other": 1}}';
    expect(await askAlike('default_inputs', all)).toEqual({ status: 200, body: { outputs: [4] } });
  });

  test.each(['y%2Cy', `y${'%2Cy'.repeat(200)}`])('an output asked for twice: %s', async (list) => {
    const answer = await askAlike('half_plus_two', '{"instances": [1.0]}', `,tfs-outputs=${list}`);
    expect(answer).toEqual({ status: 200, body: { predictions: [2.5] } });
  });

  test('classify with the serialized tf.Examples as instances', async () => {
    const goldens = loadGoldens(models.find(({ name }) => name === 'tf1_classifier') as never);
    const golden = goldens.find(({ signature }) => signature === 'serving_default');
    const inputs = golden?.cases[0]?.inputs.inputs;
    const values = inputs?.dtype === 'string' ? inputs.values : [];
    const instances = values.map((value) => ({ b64: Buffer.from(value).toString('base64') }));
    const body = JSON.stringify({ instances });
    const { status } = await askAlike('tf1_classifier', body, ',tfs-method=classify');
    expect(status).toBe(200);
  });

  test('float64 keeps all bits but over REST, where the last two may be others', async () => {
    const model = models.find(({ name }) => name === 'dtypes') as FixtureModel;
    const values = Array.from({ length: 1000 }, (_, at) => Math.sin(at) * 10 ** ((at % 41) - 20));
    const body = JSON.stringify({ signature_name: 'float64', inputs: values });
    const doubles = values.map((value) => 2 * value);
    const [grpc, rest, alone] = (await askAll(model, body)).map(
      ({ text }) => JSON.parse(text).outputs.twice as number[],
    );
    expect([grpc, alone]).toEqual([doubles, doubles]);
    const furthest = doubles.map((value, at) =>
      Math.abs(((rest?.[at] ?? 0) - value) / (value || 1)),
    );
    expect(rest).toHaveLength(doubles.length);
    expect(Math.max(...furthest)).toBeLessThan(4 * Number.EPSILON);
  });

  test('classes that are not UTF-8 come in base64, the others as they are', async () => {
    const classifier = models.find(({ name }) => name === 'tf1_classifier') as FixtureModel;
    const model = { ...classifier, name: 'classes_of_bytes' };
    const body = '{"examples": [{"size": [1.0, 2.0]}]}';
    for (const { status, text } of await askAll(model, body, ',tfs-method=classify')) {
      const { results } = JSON.parse(text);
      expect([status, results?.[0].map(([label]: [unknown]) => label)]).toEqual([
        200,
        [{ b64: '//4iXAE=' }, { b64: '/v4iXMOp' }, 'large'],
      ]);
    }
  });

  test.each([
    ['{"examples": [{"size": [1.0, 2.0], "count": [], "color": []}]}'],
    ['{"context": {"count": [], "color": []}, "examples": [{"size": [1.0, 2.0]}]}'],
    ['{"context": {"color": "red"}, "examples": [{"size": [1.0, 2.0], "color": []}]}'],
  ])('a feature that is an empty list has its default: %s', async (body) => {
    const left = '{"examples": [{"size": [1.0, 2.0]}]}';
    const without = await askAlike('tf1_classifier', left, ',tfs-method=classify');
    expect(without.status).toBe(200);
    expect(await askAlike('tf1_classifier', body, ',tfs-method=classify')).toEqual(without);
    expect(await askAlike('tf1_classifier', body)).toEqual(await askAlike('tf1_classifier', left));
  });

  test.each(['', ',tfs-method=classify'])('examples in a line each%s', async (more) => {
    const lines = '{"examples": [{"size": [1.0, 2.0]}]}\n{"examples": [{"size": [3.0, 4.0]}]}\n';
    const body = '{"examples": [{"size": [1.0, 2.0]}, {"size": [3.0, 4.0]}]}';
    const answer = await askAlike('tf1_classifier', lines, more);
    expect(answer.status).toBe(200);
    expect(answer).toEqual(await askAlike('tf1_classifier', body, more));
  });

  test.each<[string, NonNullable<Feature['kind']>, number]>([
    ['no list', { case: undefined }, 200],
    ['an empty list of its type', { case: 'int64List', value: create(Int64ListSchema) }, 400],
    ['an empty list of another type', { case: 'floatList', value: create(FloatListSchema) }, 400],
  ])('a serialized tf.Example with %s for a default', async (_what, kind, expected) => {
    const size = { kind: { case: 'floatList' as const, value: { value: [1, 2] } } };
    const of = (feature: Record<string, object>) => {
      const bytes = toBinary(ExampleSchema, create(ExampleSchema, { features: { feature } }));
      const instances = [{ b64: Buffer.from(bytes).toString('base64') }];
      return askAlike('tf1_classifier', JSON.stringify({ instances }), ',tfs-method=classify');
    };
    const { status, body } = await of({ size, count: { kind } });
    // As tf.io.parse_example has it.
    expect([status, body.error]).toEqual([
      expected,
      expected === 200 ? undefined : expect.stringContaining('count'),
    ]);
    if (status === 200) expect(body).toEqual((await of({ size })).body);
  });

  test('a required feature that is an empty list is a missing one', async () => {
    const asked = (body: string) => askAlike('tf1_classifier', body, ',tfs-method=classify');
    const { status, body } = await asked('{"examples": [{"size": []}]}');
    expect([status, body.error]).toEqual([400, expect.stringContaining('size')]);
    expect({ status, body }).toEqual(await asked('{"examples": [{}]}'));
  });

  test.each([
    ['[1.0, 2]', 'size[1] is of type int64'],
    ['[1, 2.5]', 'size[1] is of type float'],
    ['[[1.0, 2.0]]', 'size[0]: a list is no value of a feature'],
    ['[1.0, {"\\u0000float": 2}]', 'size[1]: an object is no value of a feature'],
    ['["a", {"b64": "_-8="}]', 'size[1]: "b64" is not base64'],
  ])('a feature %s is refused', async (values, message) => {
    const examples = `{"examples": [{"size": ${values}}]}`;
    const answer = await askAlike('tf1_classifier', examples, ',tfs-method=classify');
    expect(answer).toEqual({
      status: 400,
      body: { code: 'BAD_INPUT', error: expect.stringContaining(message) },
    });
  });

  test.each(['classify', 'regress'])('%s says what it takes', async (method) => {
    const { status, body } = await askAlike(
      'tf1_classifier',
      '{"instances": [1.0]}',
      `,tfs-method=${method}`,
    );
    expect(status).toBe(400);
    expect(body.error).toContain(`tfs-method=${method} takes tf.Examples: {"examples":`);
  });
});
