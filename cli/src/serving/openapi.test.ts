/** The OpenAPI document is valid, and what a runtime takes and answers is as it says. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ContentOptions, layOut, openApiOfSource } from '@sagemaker-tfs/model-packaging';
import { type TensorMap, writeTensorJson } from '@sagemaker-tfs/tensors';
import { Validator } from '@seriousme/openapi-schema-validator';
import {
  fixtureModel,
  fixtureModels,
  type GoldenCase,
  loadGoldens,
} from '../../../test/fixtures/index.ts';
import { useServedFixtures } from '../../../test/support/fixture-runtime.ts';
import { openApiChecks } from '../../../test/support/openapi-checks.ts';
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

const served = useServedFixtures(SERVED);

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
    const { request, answer } = openApiChecks(await openApiOfSource(fixtureModel(name).basePath));
    const full = cases.filter((one) => !isEmpty(one));
    expect(full.length).toBeGreaterThan(0);
    for (const { signature, inputs } of full) {
      const body = columns(signature, inputs);
      expect({ body, problems: request(body) }).toEqual({ body, problems: [] });
      const { status, value } = await ask(served, chosen, body);
      expect({ body, status }).toEqual({ body, status: 200 });
      expect({ value, problems: answer(value) }).toEqual({ value, problems: [] });
    }
  });

  test('what the schema refuses, the runtime refuses', async () => {
    const { request } = openApiChecks(await openApiOfSource(fixtureModel(name).basePath));
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
      expect((await ask(served, chosen, body)).status).toBe(400);
    }
  });
});

describe('an archive with a declared postprocess', () => {
  const BOXES = ['detection_boxes', 'detection_classes', 'detection_scores'];
  const SCORES = ['probabilities', 'score'];
  /** Model, outputs to ask for, declaration, and outputs that are refused beside all of these. */
  const declared: [string, string[], NonNullable<ContentOptions['postprocess']>, string?][] = [
    ['keras_functional', SCORES, { topK: { output: 'probabilities', k: 2 } }],
    ['keras_functional', ['probabilities'], { outputs: ['probabilities'], topK: { k: 2 } }],
    [
      'keras_functional',
      ['risk', 'score'],
      { outputs: ['score'], rename: { score: 'risk' } },
      'probabilities',
    ],
    [
      'keras_functional',
      [...SCORES, 'risk'],
      { rename: { score: 'risk' }, softmax: 'probabilities' },
    ],
    ['detection', BOXES, { boxes: { threshold: 0.1 } }, 'num_detections'],
  ];
  test.each([{ outputs: ['sum'] }, { outputs: ['sum'], rename: { sum: 'total' } }])(
    'signatures without any output of %j, which no request can call, are not in the document',
    async (postprocess) => {
      const folder = mkdtempSync(join(served.folder, 'kept-'));
      const source = fixtureModel('multi_signature').basePath;
      const { directory } = await layOut({ source, postprocess }, folder);
      const document = await openApiOfSource(directory);
      const { schemas } = (document as { components: { schemas: object } }).components;
      expect(Object.keys(schemas)).toEqual([
        ...['Error', 'serving_default.request', 'serving_default.answer'],
      ]);
      expect(await new Validator().validate(structuredClone(document))).toMatchObject({
        valid: true,
      });
    },
  );

  test.each(declared)('%s %j %j', async (model, outputs, postprocess, refused = 'nope') => {
    const folder = mkdtempSync(join(served.folder, 'declared-'));
    const { directory } = await layOut(
      { source: fixtureModel(model).basePath, postprocess },
      folder,
    );
    const { request, answer } = openApiChecks(await openApiOfSource(directory));
    const own = await startRuntime({
      modelDirectory: directory,
      log: join(served.folder, 'declared.log'),
    });
    try {
      const [golden] = loadGoldens(fixtureModel(model));
      const { inputs } = (golden?.cases ?? []).find(({ outputs }) => outputs) as GoldenCase;
      const body = columns('serving_default', inputs);
      expect(request(body)).toEqual([]);
      for (const asked of [[], ...outputs.map((one) => [one]), outputs.slice(0, 2), outputs]) {
        const attributes = asked.length > 0 ? `tfs-outputs=${asked.join('%2C')}` : '';
        const headers = { 'X-Amzn-SageMaker-Custom-Attributes': attributes };
        const { status, value } = await ask(own, headers, body);
        const sent = { asked, status, value };
        expect({ ...sent, problems: answer(value) }).toEqual({
          ...sent,
          status: 200,
          problems: [],
        });
      }
      const headers = {
        'X-Amzn-SageMaker-Custom-Attributes': `tfs-outputs=${[...outputs, refused].join('%2C')}`,
      };
      expect(await ask(own, headers, body)).toMatchObject({
        status: 400,
        value: expect.stringContaining('UNKNOWN_OUTPUT'),
      });
    } finally {
      await own.stop();
    }
  });
});

describe('a handler', () => {
  const HALF = fixtureModel('half_plus_two').basePath;
  const described = async (handler: string, name: string) => {
    const { directory } = await layOut({ source: HALF, handler }, join(served.folder, name));
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
    const { request, answer } = openApiChecks(document);
    const { components } = document as unknown as {
      components: { schemas: Record<string, { properties: { x: { examples: unknown[] } } }> };
    };
    const x = components.schemas['handler.request']?.properties.x.examples[0];
    const body = JSON.stringify({ x });
    expect([request(body), request('{"x": ["a"]}').length]).toEqual([[], 1]);
    const own = await startRuntime({
      modelDirectory: directory,
      log: join(served.folder, 'declares.log'),
    });
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
    const file = join(served.folder, 'open.ts');
    writeFileSync(file, 'export const handler = (data: Uint8Array) => data;');
    const { document } = await described(file, 'open');
    expect(document).toMatchObject({
      info: {
        description: 'A handler decides what requests and answers hold, and does not declare it.',
      },
      paths: { '/invocations': { post: { requestBody: { content: { '*/*': {} } } } } },
    });
    const half = join(served.folder, 'half.ts');
    const schema =
      "{ 'image/jpeg': true, 'application/json': { $ref: '#a', $defs: { a: { $anchor: 'a', type: 'array' } } } }";
    writeFileSync(
      half,
      `export const inputHandler = () => ({ inputs: {} }); export const openapi = { request: ${schema} };`,
    );
    const { document: other } = await described(half, 'half');
    const { request, answer } = openApiChecks(other);
    expect([request('[]'), request('{}').length]).toEqual([[], 1]);
    expect([answer('{"predictions": [1]}'), answer('[]').length > 0]).toEqual([[], true]);
    expect(other).toMatchObject({
      paths: { '/invocations': { post: { requestBody: { content: { 'image/jpeg': {} } } } } },
    });
  });
});

function columns(signature: string, inputs: TensorMap): string {
  const values = Object.entries(inputs).map(
    ([name, tensor]) =>
      `${JSON.stringify(name)}:${Buffer.concat([...writeTensorJson(tensor, { name })])}`,
  );
  return `{"signature_name":${JSON.stringify(signature)},"inputs":{${values.join()}}}`;
}

async function ask(
  { url }: Pick<RunningRuntime, 'url'>,
  headers: Record<string, string>,
  body: string,
) {
  const response = await fetch(`${url}/invocations`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
  });
  return { status: response.status, value: await response.text() };
}
