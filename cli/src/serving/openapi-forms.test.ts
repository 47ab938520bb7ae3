/**
 * Each form of request that docs/requests.md names is sent to the runtime. What it answers fits the document of the model,
 * the request and the answer: a gateway or a generated client may check by it.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requestMediaTypes, responseMediaTypes } from '@sagemaker-tfs/container';
import { openApiOfSource } from '@sagemaker-tfs/model-packaging';
import { type TensorMap, writeTensorJson } from '@sagemaker-tfs/tensors';
import { fixtureModel, loadGoldens } from '../../../test/fixtures/index.ts';
import { useServedFixtures } from '../../../test/support/fixture-runtime.ts';
import { finiteJson, openApiChecks } from '../../../test/support/openapi-checks.ts';

jest.setTimeout(120_000);

const SERVED = [
  'half_plus_two',
  'keras_functional',
  'text_vocabulary',
  'default_inputs',
  'multi_signature',
  'strings',
  'shapes',
  'ragged_rows',
  'dtypes',
  'complex_output',
  'image_uint8',
  'tf1_classifier',
  'detection',
];

const served = useServedFixtures(SERVED);

/** A request: custom attributes besides the model's name, and the body. */
interface Sent {
  readonly form: string;
  readonly attributes?: readonly string[];
  readonly body: unknown;
}

/** Answered at least once, over all models. */
const answered = new Set<string>();

test.each(SERVED)('%s: what is answered is as its document says', async (name) => {
  const { request, answer } = openApiChecks(await openApiOfSource(fixtureModel(name).basePath));
  let answers = 0;
  for (const { signature, cases } of loadGoldens(fixtureModel(name))) {
    for (const { inputs, outputs = {} } of cases) {
      for (const { form, attributes = [], body } of formsOf(signature, inputs, outputs)) {
        const text = JSON.stringify(body);
        const { status, value } = await ask([`tfs-model-name=${name}`, ...attributes], text);
        if (status !== 200) continue;
        answered.add(form);
        answers += 1;
        const sent = { form, attributes, body: text.slice(0, 500), value: value.slice(0, 500) };
        expect({ ...sent, problems: request(text) }).toEqual({ ...sent, problems: [] });
        expect({ ...sent, problems: answer(value) }).toEqual({ ...sent, problems: [] });
      }
    }
  }
  expect(answers).toBeGreaterThan(0);
});

test('each form was answered by a model', () => {
  const all = formsOf('', { a: TENSOR, b: TENSOR }, { c: TENSOR, d: TENSOR }).map(
    ({ form }) => form,
  );
  const only = formsOf('', { a: TENSOR }, {}).map(({ form }) => form);
  expect([...new Set([...all, ...only])].filter((form) => !answered.has(form))).toEqual([]);
});

test('the media types of the document are those of the runtime', async () => {
  const { paths } = (await openApiOfSource(fixtureModel('image_uint8').basePath)) as unknown as {
    paths: {
      '/invocations': {
        post: {
          requestBody: { content: Record<string, unknown> };
          responses: { 200: { content: Record<string, unknown> } };
        };
      };
    };
  };
  const { requestBody, responses } = paths['/invocations'].post;
  expect(Object.keys(requestBody.content).sort()).toEqual([...requestMediaTypes()].sort());
  const written = responseMediaTypes().filter((type) => type !== 'application/jsons');
  expect(Object.keys(responses[200].content).sort()).toEqual([...written].sort());
});

test.each([
  ['no values', {}],
  ['rows and columns', { instances: [1], inputs: [1] }],
  ['an empty batch', { instances: [] }],
  ['an empty batch without a name', []],
  ['an unknown input in a row', { instances: [{ x: 1, y: 1 }] }],
  ['an unknown input in an instance', { x: 1, y: 1 }],
  ['an unknown column with an input left out', { inputs: { x: [1], scal: 2 } }],
  ['text', { instances: ['a'] }],
  ['an example that is no object', { examples: [1] }],
  ['a feature that is an object', { examples: [{ x: { y: 1 } }] }],
  ['null', null],
])('both refuse %s', async (_what, body) => {
  const { request } = openApiChecks(await openApiOfSource(fixtureModel('default_inputs').basePath));
  const text = JSON.stringify(body);
  expect((await ask(['tfs-model-name=default_inputs'], text)).status).toBe(400);
  expect(request(text)).not.toEqual([]);
});

test('the attributes that the document names are those of the page', async () => {
  const page = readFileSync(join(__dirname, '../../../docs/requests.md'), 'utf8');
  const [, asks = ''] = /\| asks for \|([\s\S]*?)\n\n/.exec(page) ?? [];
  const names = [...asks.matchAll(/^\|(.*?)\|/gm)].flatMap(
    ([, cell = '']) => cell.match(/tfs-[a-z-]+/g) ?? [],
  );
  const document = JSON.stringify(await openApiOfSource(fixtureModel('shapes').basePath));
  expect(names.length).toBeGreaterThan(5);
  expect(names.filter((name) => !document.includes(`\`${name}\``))).toEqual([]);
});

const TENSOR = { dtype: 'float32', shape: [1], bytes: new Uint8Array(4) } as const;

/** The forms that docs/requests.md promises, as far as the inputs have them. */
function formsOf(signature: string, inputs: TensorMap, outputs: TensorMap): Sent[] {
  const values = Object.fromEntries(
    Object.entries(inputs).map(([name, tensor]) => [name, nested(tensor, name)]),
  );
  const chosen = [`tfs-signature=${signature}`];
  const named = { signature_name: signature };
  const [only, ...others] = Object.values(values);
  const isOnly = others.length === 0;
  return [
    { form: 'columns', body: { ...named, inputs: values } },
    { form: 'columns, signature as an attribute', attributes: chosen, body: { inputs: values } },
    { form: 'columns and more', body: { ...named, inputs: { ...values, more: 'x' }, other: 1 } },
    ...rowForms(values, chosen, named),
    ...exampleForms(inputs, values, chosen, named),
    ...outputForms(outputs, chosen, { inputs: values }),
    ...(isOnly
      ? [
          { form: 'columns of the only input', body: { ...named, inputs: only } },
          { form: 'a document', attributes: chosen, body: only },
          {
            form: 'a row as a document',
            attributes: chosen,
            body: (only as unknown[])?.[0] ?? only,
          },
        ]
      : []),
    {
      form: 'sizes of 1 left out',
      body: { ...named, inputs: mapped(values, (value) => shorter(value) ?? value) },
    },
  ];
}

function rowForms(
  values: Record<string, unknown>,
  attributes: readonly string[],
  named: object,
): Sent[] {
  const lists = Object.entries(values).filter((entry): entry is [string, unknown[]] =>
    Array.isArray(entry[1]),
  );
  const count = lists[0]?.[1].length ?? 0;
  const rows = Array.from({ length: count }, (_, at) =>
    Object.fromEntries(lists.map(([name, list]) => [name, list[at]])),
  );
  const plain = lists.map(([, list]) => list);
  const short = rows.map((row) => mapped(row, (value) => shorter([value])?.[0] ?? value));
  return [
    { form: 'rows', body: { ...named, instances: rows } },
    { form: 'rows, sizes of 1 left out', body: { ...named, instances: short } },
    { form: 'rows as a document', attributes, body: rows },
    { form: 'a row by name as a document', attributes, body: rows[0] ?? {} },
    ...(lists.length === 1
      ? [
          { form: 'rows of the only input', body: { ...named, instances: plain[0] } },
          { form: 'rows, signature as an attribute', attributes, body: { instances: plain[0] } },
        ]
      : []),
  ];
}

function exampleForms(
  inputs: TensorMap,
  values: Record<string, unknown>,
  attributes: readonly string[],
  named: object,
): Sent[] {
  const count = Object.values(inputs)[0]?.shape[0] ?? 1;
  const examples = Array.from({ length: count }, (_, at) =>
    mapped(values, (value) => (Array.isArray(value) ? [value[at]].flat(9) : value)),
  );
  const [first = ''] = Object.keys(values);
  const { [first]: common, ...rest } = examples[0] ?? {};
  const features = [{ size: [1.5, 0.5], x: 0.5, kind: 'b' }];
  return [
    { form: 'examples', body: { ...named, examples } },
    { form: 'examples, signature as an attribute', attributes, body: { examples } },
    {
      form: 'examples and more',
      body: { ...named, examples: examples.map((one) => ({ ...one, more: [true] })) },
    },
    {
      form: 'examples with a context',
      body: { ...named, examples: [rest], context: { [first]: common } },
    },
    ...['classify', 'regress'].map((method) => ({
      form: method,
      attributes: [`tfs-method=${method}`],
      body: { ...named, examples: features },
    })),
  ];
}

/** One output, and each two. */
function outputForms(outputs: TensorMap, chosen: readonly string[], body: object): Sent[] {
  const names = Object.keys(outputs);
  const pairs = names.flatMap((one, at) => names.slice(at + 1).map((other) => `${one}%2C${other}`));
  const asked = [
    ...names.map((name) => ['an output', name]),
    ...pairs.map((pair) => ['two outputs', pair]),
  ];
  return asked.map(([form, wanted]) => ({
    form: `${form} by tfs-outputs`,
    attributes: [...chosen, `tfs-outputs=${wanted}`],
    body,
  }));
}

function nested(tensor: TensorMap[string], name: string): unknown {
  return finiteJson(`${Buffer.concat([...writeTensorJson(tensor, { name })])}`);
}

function mapped(
  values: Record<string, unknown>,
  change: (value: unknown) => unknown,
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]));
}

/** Lists of one at the end as what is in them; undefined if there are none. */
function shorter(value: unknown): unknown[] | undefined {
  if (!Array.isArray(value)) return undefined;
  if (
    value.length > 0 &&
    value.every((one) => Array.isArray(one) && one.length === 1 && !Array.isArray(one[0]))
  )
    return value.flat();
  const inner = value.map(shorter);
  return inner.length > 0 && inner.every((one) => one !== undefined) ? inner : undefined;
}

async function ask(attributes: readonly string[], body: string) {
  const response = await fetch(`${served.url}/invocations`, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      'X-Amzn-SageMaker-Custom-Attributes': attributes.join(),
    },
    body,
  });
  return { status: response.status, value: await response.text() };
}
