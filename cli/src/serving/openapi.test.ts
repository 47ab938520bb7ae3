/** The OpenAPI document is valid, and what a runtime takes and answers is as it says. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { layOut, type OpenApiDocument, openApiOfSource } from '@sagemaker-tfs/model-packaging';
import { type TensorMap, writeTensorJson } from '@sagemaker-tfs/tensors';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import {
  fixtureModel,
  fixtureModels,
  type GoldenCase,
  loadGoldens,
} from '../../../test/fixtures/index.ts';
import { serveFixtures } from '../../../test/support/fixture-runtime.ts';
import { type RunningRuntime, startRuntime } from './runtime-process.ts';

jest.setTimeout(120_000);

const SERVED = [
  'half_plus_two',
  'keras_functional',
  'text_vocabulary',
  'default_inputs',
  'multi_signature',
  'strings',
  'shapes',
  'detection',
];

let work: string;
let runtime: RunningRuntime;
beforeAll(async () => {
  work = mkdtempSync(join(tmpdir(), 'openapi-test-'));
  runtime = await serveFixtures(work, SERVED);
});
afterAll(async () => {
  await runtime?.stop();
  rmSync(work, { recursive: true, force: true });
});

test.each(fixtureModels().map(({ name }) => name))('the document of %s is valid', async (name) => {
  const document = await openApiOfSource(fixtureModel(name).basePath);
  expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
});

describe.each(SERVED)('%s', (name) => {
  const cases = loadGoldens(fixtureModel(name)).flatMap(({ signature, cases }) =>
    cases
      .filter(({ outputs }) => outputs && !/^(classify|regress)/.test(signature))
      .map(({ inputs }) => ({ signature, inputs })),
  );
  const chosen = { 'X-Amzn-SageMaker-Custom-Attributes': `tfs-model-name=${name}` };
  const isEmpty = ({ inputs }: { inputs: TensorMap }) =>
    Object.values(inputs).some(({ shape }) => shape[0] === 0);

  test("requests of TensorFlow's own cases fit, and so do their answers", async () => {
    const { request, answer } = checksOf(await openApiOfSource(fixtureModel(name).basePath));
    const full = cases.filter((one) => !isEmpty(one));
    expect(full.length).toBeGreaterThan(0);
    for (const { signature, inputs } of full) {
      const body = columns(signature, inputs);
      expect({ body, problems: request(body) }).toEqual({ body, problems: [] });
      const { status, value } = await ask(runtime, chosen, body);
      expect({ body, status }).toEqual({ body, status: 200 });
      expect({ value, problems: answer(value) }).toEqual({ value, problems: [] });
    }
  });

  test('what the schema refuses, the runtime refuses', async () => {
    const { request } = checksOf(await openApiOfSource(fixtureModel(name).basePath));
    const { signature, inputs } = cases.find((one) => !isEmpty(one)) as (typeof cases)[number];
    const [first = ''] = Object.keys(inputs);
    const good = JSON.parse(columns(signature, inputs)) as { inputs: Record<string, unknown> };
    const wrong = [
      { ...good, inputs: { ...good.inputs, [first]: { no: 'tensor' } } },
      { signature_name: signature },
      { ...good, signature_name: 'no such signature' },
    ];
    const empty = cases.filter(isEmpty).map((one) => columns(one.signature, one.inputs));
    for (const body of [...wrong.map((one) => JSON.stringify(one)), ...empty]) {
      expect({ body, problems: request(body) }).not.toEqual({ body, problems: [] });
      expect((await ask(runtime, chosen, body)).status).toBe(400);
    }
  });
});

describe('an archive with a declared postprocess', () => {
  const declared = [
    { model: 'keras_functional', postprocess: { topK: { output: 'probabilities', k: 2 } } },
    { model: 'detection', postprocess: { boxes: { threshold: 0.1 } } },
  ];
  test.each(declared)('$postprocess', async ({ model, postprocess }) => {
    const folder = join(work, 'declared', model);
    const { directory } = await layOut(
      { source: fixtureModel(model).basePath, postprocess },
      folder,
    );
    const { request, answer } = checksOf(await openApiOfSource(directory));
    const own = await startRuntime({ modelDirectory: directory, log: join(work, 'declared.log') });
    try {
      const [golden] = loadGoldens(fixtureModel(model));
      const { inputs } = (golden?.cases ?? []).find(({ outputs }) => outputs) as GoldenCase;
      const body = columns('serving_default', inputs);
      expect(request(body)).toEqual([]);
      const { status, value } = await ask(own, {}, body);
      expect({ status, value, problems: answer(value) }).toEqual({
        status: 200,
        value,
        problems: [],
      });
    } finally {
      await own.stop();
    }
  });
});

describe('a handler', () => {
  const HALF = fixtureModel('half_plus_two').basePath;
  const described = async (handler: string, name: string) => {
    const { directory } = await layOut({ source: HALF, handler }, join(work, name));
    const document = await openApiOfSource(directory);
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({
      valid: true,
    });
    return { directory, document };
  };

  test('what it declares is in the document, and its example is answered as it says', async () => {
    const handler = join(__dirname, '../../../docs/examples/handlers/declared-bodies.ts');
    const { directory, document } = await described(handler, 'declares');
    expect(document).toMatchObject({
      info: { description: 'A handler declares what it takes and answers.' },
    });
    const { request, answer } = checksOf(document);
    const { components } = document as unknown as {
      components: { schemas: Record<string, { properties: { x: { examples: unknown[] } } }> };
    };
    const x = components.schemas['handler.request']?.properties.x.examples[0];
    const body = JSON.stringify({ x });
    expect([request(body), request('{"x": ["a"]}').length]).toEqual([[], 1]);
    const own = await startRuntime({ modelDirectory: directory, log: join(work, 'declares.log') });
    try {
      const { status, value } = await ask(own, {}, body);
      expect({ status, value, problems: answer(value) }).toEqual({
        status: 200,
        value,
        problems: [],
      });
      expect((await ask(own, {}, '{"x": ["a"]}')).status).toBe(422);
    } finally {
      await own.stop();
    }
  });

  test('what it does not declare is open, and the document says so; the half that it does not do is described', async () => {
    const file = join(work, 'open.ts');
    writeFileSync(file, 'export const handler = (data: Uint8Array) => data;');
    const { document } = await described(file, 'open');
    expect(document).toMatchObject({
      info: {
        description: 'A handler decides what requests and answers hold, and does not declare it.',
      },
      paths: { '/invocations': { post: { requestBody: { content: { '*/*': {} } } } } },
    });
    const half = join(work, 'half.ts');
    const schema =
      "{ 'image/jpeg': true, 'application/json': { $ref: '#a', $defs: { a: { $anchor: 'a', type: 'array' } } } }";
    writeFileSync(
      half,
      `export const inputHandler = () => ({ inputs: {} }); export const openapi = { request: ${schema} };`,
    );
    const { document: other } = await described(half, 'half');
    const { request, answer } = checksOf(other);
    expect([request('[]'), request('{}').length]).toEqual([[], 1]);
    expect([answer('{"predictions": [1]}'), answer('[]').length > 0]).toEqual([[], true]);
    expect(other).toMatchObject({
      paths: { '/invocations': { post: { requestBody: { content: { 'image/jpeg': {} } } } } },
    });
  });
});

/** Problems of a request and of an answer in JSON, by the document's schemas. */
function checksOf(document: OpenApiDocument) {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema({ ...document, $id: 'document' });
  const post = 'document#/paths/~1invocations/post';
  const check = (at: string) => {
    const validate = ajv.compile({ $ref: `${post}/${at}/content/application~1json/schema` });
    return (text: string) => (validate(parsed(text)) ? [] : (validate.errors ?? []));
  };
  return { request: check('requestBody'), answer: check('responses/200') };
}

/** JSON lacks some numbers, and TensorFlow Serving's has them. */
function parsed(text: string): unknown {
  return JSON.parse(text.replace(/-?\b(NaN|Infinity)\b/g, '0'));
}

function columns(signature: string, inputs: TensorMap): string {
  const values = Object.entries(inputs).map(
    ([name, tensor]) =>
      `${JSON.stringify(name)}:${Buffer.concat([...writeTensorJson(tensor, { name })])}`,
  );
  return `{"signature_name":${JSON.stringify(signature)},"inputs":{${values.join()}}}`;
}

async function ask({ url }: RunningRuntime, headers: Record<string, string>, body: string) {
  const response = await fetch(`${url}/invocations`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, value: await response.text() };
}
