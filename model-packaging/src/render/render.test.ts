import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runInNewContext } from 'node:vm';
import { METHOD_NAMES } from '@sagemaker-tfs/tensors';
import { transformSync } from 'esbuild';
import { fixtureModel, fixtureModels } from '../../../test/fixtures/index.ts';
import { inspectModel, inspectVersion } from '../inspect/inspect.ts';
import { readSample } from '../samples/sample-file.ts';
import { readSavedModel, SERVING_TAG, servingGraph } from '../saved-model/saved-model.ts';
import { useScratch } from '../testing/scratch.ts';
import { formatBytes, formatMs } from './format.ts';
import { renderInspect } from './inspect-text.ts';
import { requestExamples } from './request-examples.ts';
import { renderVerify } from './verify-text.ts';

const scratch = useScratch();

/** Every serving signature of every fixture. */
const signatures = fixtureModels().flatMap((model) =>
  inspectVersion(model)
    .metaGraphs.filter(({ tags }) => tags.join() === SERVING_TAG)
    .flatMap((graph) =>
      Object.entries(graph.signatures).map(
        ([key, signature]) =>
          [`${model.name}/${model.version} ${key}`, key, signature, model] as const,
      ),
    ),
);

test('examples are valid shell, TypeScript and Python', () => {
  const examples = signatures.map(([, key, signature]) => requestExamples(key, signature));
  expect(examples.length).toBeGreaterThan(30);
  const shell = scratch.write('all.sh', examples.map(({ curl }) => curl).join('\n'));
  execFileSync('bash', ['-n', shell]);
  for (const { typescript } of examples) transformSync(typescript, { loader: 'ts', format: 'esm' });
  const python = JSON.stringify(examples.map((example) => example.python));
  const script = `import json,sys\nfor text in json.loads(sys.stdin.read()): compile(text, 'example', 'exec')`;
  execFileSync('python3', ['-c', script], { input: python });
});

test.each(signatures)(
  'the JSON example of %s fits the signature',
  async (_, key, signature, model) => {
    const { contentType, body, curl } = requestExamples(key, signature);
    if (contentType !== 'application/json') return expect(contentType).toBe('application/x-image');
    const sample = scratch.write('request.json', body ?? '');
    if (body === undefined)
      execFileSync('bash', ['-c', curl.replace(/&& curl.*$/s, '')], { cwd: scratch.path() });
    if (readFileSync(sample, 'utf8').includes('"examples"')) return;
    const known = servingGraph(readSavedModel(model.directory)).signatures;
    const { inputs, request } = await readSample(sample, { signatures: known });
    expect(request.signature).toBe(key);
    const wanted = Object.entries(signature.inputs).filter(([, { default: value }]) => !value);
    expect(Object.keys(inputs ?? {}).sort()).toEqual(wanted.map(([name]) => name).sort());
    for (const [name, { dtype, shape }] of wanted) {
      expect(inputs?.[name]?.dtype).toBe(dtype);
      if (shape) expect(inputs?.[name]?.shape).toEqual(shape.map((size) => Math.abs(size)));
    }
  },
);

test('the text tells signatures, functions, assets, operations and problems', async () => {
  const report = await inspectModel(fixtureModel('text_vocabulary').basePath);
  const text = renderInspect(report, { examples: true, ops: true, variables: true });
  for (const word of [
    'text_vocabulary v1',
    'Signature translate',
    'Function look_up',
    'vocabulary.txt',
    'LookupTableFindV2',
    'curl',
  ]) {
    expect(text).toContain(word);
  }
  expect(text).not.toContain('PROBLEM');
  expect(renderInspect(report)).not.toMatch(/curl|Function|Operations|No variables/);
  const custom = renderInspect(await inspectModel(fixtureModel('custom_op').basePath));
  expect(custom).toMatch(/PROBLEM: .*ExampleCustomOp/);
  expect(custom).not.toContain('curl');
});

test.each(fixtureModels().map((model) => [`${model.name}/${model.version}`, model] as const))(
  'the brief text of %s names every input and output of every signature, and few lines more',
  async (_, { basePath }) => {
    const report = await inspectModel(basePath);
    const lines = renderInspect(report).split('\n');
    const graphs = report.models.flatMap(({ versions }) =>
      versions.flatMap(({ metaGraphs }) => metaGraphs),
    );
    const signatures = graphs
      .flatMap(({ signatures }) => Object.entries(signatures))
      .filter(([key, { methodName }]) => methodName || !key.startsWith('__'))
      .map(([, signature]) => signature);
    const tensors = signatures.flatMap(({ inputs, outputs }) => [
      ...Object.keys(inputs),
      ...Object.keys(outputs),
    ]);
    for (const name of tensors) expect(lines.some((line) => line.includes(name))).toBe(true);
    const problems = report.models.flatMap(({ versions }) => versions.flatMap((v) => v.problems));
    const others = lines.length - tensors.length - signatures.length - problems.length;
    expect(others).toBeLessThanOrEqual(
      3 * report.models.flatMap((m) => m.versions).length + 2 * graphs.length,
    );
  },
);

test('signatures that batching does not join are named, each with the reason', async () => {
  const signatures = async (name: string) =>
    renderInspect(await inspectModel(fixtureModel(name).basePath)).match(
      /cannot be batched: .*/,
    )?.[0];
  expect(await signatures('multi_signature')).toBe(
    'cannot be batched: "statistics" (output "count" is a scalar)',
  );
  expect(await signatures('half_plus_two')).toBeUndefined();
});

test('names of signatures go into headers as ASCII', () => {
  const input = { dtype: 'float32', shape: [-1, 8, 8, 3], tensorName: 'x:0' };
  const signature = { methodName: 'tensorflow/serving/predict', inputs: { x: input }, outputs: {} };
  expect(requestExamples('größe, 1', signature).curl).toContain(
    "'X-Amzn-SageMaker-Custom-Attributes: tfs-signature=gr%C3%B6%C3%9Fe%2C 1'",
  );
});

test('names with quotes reach the shell, TypeScript and Python as they are', () => {
  const name = `it's "so" \\ $HOME`;
  const input = { dtype: 'float32', shape: [-1, 784], tensorName: 'x:0' };
  const signature = { methodName: METHOD_NAMES.predict, inputs: { [name]: input }, outputs: {} };
  const { curl } = requestExamples(name, signature);
  const folder = mkdtempSync(join(tmpdir(), 'examples-'));
  const inShell = (text: string) =>
    execFileSync('bash', ['-c', `curl() { printf '%s\\n' "$@"; }\n${text}`], {
      cwd: folder,
      encoding: 'utf8',
    });
  inShell(curl);
  const sent = JSON.parse(readFileSync(join(folder, 'request.json'), 'utf8'));
  expect([sent.signature_name, Object.keys(sent.inputs)]).toEqual([name, [name]]);

  // JSON names its signature itself, pixels need the header.
  const picture = { dtype: 'float32', shape: [-1, 8, 8, 3], tensorName: 'x:0' };
  const examples = requestExamples(name, { ...signature, inputs: { x: picture } });
  expect(inShell(examples.curl.replace('@picture.jpg', ''))).toContain(`tfs-signature=${name}\n`);
  const [, written = ''] = /customAttributes: (.*) \}\)/.exec(examples.typescript) ?? [];
  expect(runInNewContext(written)).toBe(`tfs-signature=${name}`);
  expect(examples.python).toContain(`CustomAttributes=${JSON.stringify(`tfs-signature=${name}`)}`);
  rmSync(folder, { recursive: true });
});

test('numbers are for people', () => {
  expect([0, 999, 1000, 1.2345e9].map(formatBytes)).toEqual(['0 B', '999 B', '1.00 kB', '1.23 GB']);
  expect([0.1234, 12.34, 1234.5].map(formatMs)).toEqual(['0.123 ms', '12.3 ms', '1235 ms']);
});

describe('what a model names', () => {
  const EVIL = '\x1b[2J\x1b]0;owned\x07\r\x9b31m\u202egnp\n  serving_default\u2028x';
  const NAMED: ReadonlySet<string> = new Set(['signatures', 'inputs', 'outputs', 'ops']);

  /** The data with `end` behind each text and each name of a model's. */
  function ending<T>(data: T, end: string): T {
    const renamed = (field: string, value: unknown) => {
      if (typeof value === 'string') return value + end;
      if (!NAMED.has(field) || typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, one]) => [name + end, one]));
    };
    return JSON.parse(JSON.stringify(data), renamed);
  }

  // biome-ignore lint/suspicious/noControlCharactersInRegex: what must not come through
  const CONTROL = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028]/;

  test.each(['text_vocabulary', 'multi_signature', 'default_inputs'])(
    'moves no cursor and begins no line in the text of inspect: %s',
    async (name) => {
      const report = await inspectModel(fixtureModel(name).basePath);
      const sections = { variables: true, ops: true };
      const text = renderInspect(ending(report, EVIL), sections);
      const plain = renderInspect(ending(report, '_'), sections);
      expect(text).toContain('\\u001b[2J');
      expect(text).not.toMatch(CONTROL);
      expect(text.split('\n')).toHaveLength(plain.split('\n').length);
    },
  );

  test('moves no cursor in the text of a verification', () => {
    const signature = {
      signature: EVIL,
      sample: EVIL,
      note: `${EVIL}`,
      outputs: { [EVIL]: { dtype: EVIL, shape: [1] } },
    };
    const request = { sample: EVIL, contentType: EVIL, status: 200, preview: EVIL, note: EVIL };
    const measured = { latencyMs: 1, responseBytes: 1, responseType: EVIL };
    const text = renderVerify({
      versions: [{ model: EVIL, version: '1', loadMs: 1, signatures: [signature] }],
      requests: [{ ...request, ...measured }],
    } as unknown as Parameters<typeof renderVerify>[0]);
    expect(text).toContain('\\u001b[2J');
    expect(text).not.toMatch(CONTROL);
  });
});

test('the default signature and its requests come first', async () => {
  const report = await inspectModel(fixtureModel('tf1_classifier').basePath);
  const text = renderInspect(report, { examples: true });
  const signatures = [...text.matchAll(/^ {2}(\w+)(?: \(\w+\))?$/gm)].map(([, key]) => key);
  expect(signatures).toEqual(['serving_default', 'predict', 'raw', 'regression']);
  const [first = '', second = ''] = text.split('$ curl').slice(1);
  expect(first).not.toMatch(/tfs-signature|signature_name/);
  expect(second).toContain('predict');
});
