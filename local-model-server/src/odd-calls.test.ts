/** Odd requests get what TensorFlow Serving itself answered, code, text and values. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixtureModel } from '../../test/fixtures/index.ts';
import { modelConfigText } from '../test/model-config-text.ts';
import { ODD_CALLS } from '../test/odd-calls.ts';
import { GrpcClient, type ServerProcess, startServerProcess } from '../test/server-process.ts';
import { temporaryFile } from '../test/temporary.ts';

const FILE = join(__dirname, '..', 'test', 'odd-answers.json');
const MODELS = [
  'half_plus_two',
  'dtypes',
  'strings',
  'default_inputs',
  'shapes',
  'multi_signature',
  'tf1_classifier',
];
const LABELLED = 'version_labels { key: "stable" value: 1 }';

/** Where the local model server answers otherwise, and why. */
const DIFFERENCES: readonly { readonly why: string; readonly calls: readonly string[] }[] = [
  {
    why: 'values that no tensor here carries are refused as they are read',
    calls: ['a reference dtype', 'a resource', 'a variant', 'complex numbers'].map(
      (name) => `Predict: ${name}`,
    ),
  },
  {
    why: 'bool bytes become 1, as in the runtime',
    calls: ['Predict: bool bytes that are not 0 or 1'],
  },
  {
    why: 'NaN has other bits: TensorFlow was built for another processor',
    calls: ['Predict: half_val'],
  },
  {
    why: "protocol buffers of C++ keep such a field as an unknown one; a signature without outputs is not in libtensorflow's list",
    calls: [
      'Predict: a wire type that does not fit its field',
      'Predict: the signature of the initializer',
    ],
  },
  {
    why: 'the recorded answers are of RapidJSON after 1.1.0, which TensorFlow Serving has',
    calls: ['[[01]]}', '[[1.]]}', '[[0x10]]}', '[[1] /* c */]}', '[[1]], "x": "\\ud800"}'].map(
      (end) => `POST /v1/models/half_plus_two:predict {"instances":${end}`,
    ),
  },
  {
    why: 'signatures are not printed whole',
    calls: [
      'POST /v1/models/half_plus_two:classify {"examples":[{"x":1}]}',
      'POST /v1/models/half_plus_two:regress {"signature_name":"classify_x_to_y","examples":[{"x":1}]}',
      'POST /v1/models/half_plus_two:classify {"signature_name":"regress_x_to_y","examples":[{"x":1}]}',
    ],
  },
  {
    why: "libevent's own answers to what no client sends",
    calls: ['OPTIONS /v1/models/half_plus_two', 'TRACE /v1/models/half_plus_two'],
  },
  {
    why: 'a configuration that was refused is not compared with the next',
    calls: ['another platform', 'a type and a platform', 'another type'].map(
      (name) => `HandleReloadConfigRequest: ${name}`,
    ),
  },
];

function differs(name: string): boolean {
  return DIFFERENCES.some(({ calls }) => calls.includes(name));
}

let server: ServerProcess;
let client: GrpcClient;

beforeAll(async () => {
  const models = MODELS.map((name) => ({
    name,
    basePath: fixtureModel(name).basePath,
    more: `model_version_policy { all {} } ${name === 'half_plus_two' ? LABELLED : ''}`,
  }));
  const config = await temporaryFile('models.config', modelConfigText(models));
  server = await startServerProcess([
    `--model_config_file=${config}`,
    '--allow_version_labels_for_unavailable_models=true',
  ]);
  client = new GrpcClient(server);
});

afterAll(async () => {
  client?.close();
  await server?.stop();
});

/** Whether an error names the function or the node into which it was inlined is up to the processor and its load. */
function nodesUnnamed(answer: unknown): unknown {
  return JSON.parse(JSON.stringify(answer).replace(/\[\[\{\{.*?\}\}\]\]/g, '[[node]]'));
}

if (process.env.UPDATE_ODD_ANSWERS) {
  test('answers are written anew', async () => {
    const answers: Record<string, unknown> = {};
    for (const { name, ask } of ODD_CALLS) {
      expect(answers).not.toHaveProperty([name]);
      answers[name] = await ask({ server, client });
    }
    writeFileSync(FILE, `${JSON.stringify(answers, null, 1)}\n`);
  });
} else {
  const answers: Record<string, unknown> = JSON.parse(readFileSync(FILE, 'utf8'));
  const isReal = process.env.TEST_MODEL_SERVER_BIN !== undefined;

  test.each(ODD_CALLS.filter(({ name }) => isReal || !differs(name)))('$name', async (call) => {
    expect(nodesUnnamed(await call.ask({ server, client }))).toEqual(
      nodesUnnamed(answers[call.name]),
    );
  });

  if (!isReal) {
    test.each(ODD_CALLS.filter(({ name }) => differs(name)))(
      'not the same by decision: $name',
      async (call) => {
        expect(await call.ask({ server, client })).not.toEqual(answers[call.name]);
      },
    );
  }

  test('every decision is about a call, and every call has an answer', () => {
    const names = ODD_CALLS.map(({ name }) => name);
    const decided = DIFFERENCES.flatMap(({ calls }) => calls);
    expect(decided.filter((name) => !names.includes(name))).toEqual([]);
    expect(Object.keys(answers)).toEqual(names);
  });
}
