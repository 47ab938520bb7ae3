import { ManifestError, parseManifest, parsePostprocess } from './index.ts';

const manifest = {
  manifestVersion: 1,
  packager: { name: 'packager', version: '1.0.0' },
  fingerprint: 'a'.repeat(64),
  files: { '1/saved_model.pb': { sha256: 'b'.repeat(64), bytes: 3 } },
  models: [{ name: 'digits', versions: ['1'], signatures: {} }],
};

test('a manifest with declarations gets their defaults', () => {
  const parsed = parseManifest(JSON.stringify({ ...manifest, preprocess: { scale: 2 } }));
  expect(parsed.models[0]?.name).toBe('digits');
  expect(parsed.preprocess).toMatchObject({ scale: 2, resize: 'stretch', padding: 0 });
});

test.each([
  ['text that is not JSON', '{', ''],
  ['another format', JSON.stringify({ ...manifest, manifestVersion: 2 }), 'manifestVersion'],
  ['no models', JSON.stringify({ ...manifest, models: [] }), 'models'],
  [
    'a version that is not a number',
    JSON.stringify({ ...manifest, models: [{ name: 'x', versions: ['v1'], signatures: {} }] }),
    'models.0.versions.0',
  ],
])('%s is refused, naming the field', (_, text, field) => {
  expect(refusal(text)).toMatchObject({ code: 'MANIFEST_INVALID', field });
});

test('what is wrong with a declaration is said in words, not in those of the validator', () => {
  const preprocess = { scale: 'x', resize: 'fit', padding: -1, mean: 1 };
  const { message } = refusal(JSON.stringify({ ...manifest, preprocess }));
  expect(message).toContain("'x' is not a number");
  expect(message).toMatch(/'fit' is not 'stretch', .* or '/);
  expect(message).not.toMatch(/Invalid|expected|received|Too /);
});

const OUTSIDE = [
  '../x',
  '../../../../etc/passwd',
  '/etc/passwd',
  'a/../../x',
  '..',
  '..\\x',
  'a\\..\\..\\x',
  '\\x',
  'x\0y',
];

describe.each(OUTSIDE)('the path %j', (path) => {
  test.each([
    ['topK', 'postprocess.topK.labels', { postprocess: { topK: { labels: path } } }],
    ['boxes', 'postprocess.boxes.labels', { postprocess: { boxes: { labels: path } } }],
    ['the handler', 'handler', { handler: path }],
    ['the handler, below code/', 'handler', { handler: `code/${path}/../..` }],
    ['a file', 'files', { files: { [path]: manifest.files['1/saved_model.pb'] } }],
  ])('is refused for %s', (_, field, part) => {
    expect(refusal(JSON.stringify({ ...manifest, ...part })).field).toBe(field);
  });

  test("is what people's own declarations may name", () => {
    expect(parsePostprocess({ topK: { labels: path } }).topK?.labels).toBe(path);
  });
});

test('paths with dots that stay inside are taken', () => {
  const labels = 'of..all/v1..2/.labels.txt';
  const parsed = parseManifest(
    JSON.stringify({
      ...manifest,
      handler: 'code/inference.mjs',
      postprocess: { topK: { labels } },
    }),
  );
  expect(parsed.postprocess?.topK?.labels).toBe(labels);
});

test('a message names ten problems at most', () => {
  const models = Array.from({ length: 1000 }, () => ({}));
  const { message } = refusal(JSON.stringify({ ...manifest, models }));
  expect(message.split('\n')).toHaveLength(11);
  expect(message).toMatch(/\nand more$/);
});

const SHAPE = 'models.0.signatures.s.inputs.x.shape';
const VERSION = 'models.0.versions.0';

describe('manifests made to keep the runtime busy', () => {
  const many = (count: number, value: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [i.toString(36), value]));
  const model = (part: object) => ({ models: [{ ...manifest.models[0], ...part }] });
  const specs = (inputs: object) =>
    model({ signatures: { s: { methodName: '', inputs, outputs: {} } } });

  test.each<[string, object, string, RegExp]>([
    ['bytes', { handler: 'x'.repeat(2 ** 20) }, '', /1048576 are the most/],
    ['values', many(100_001, 0), '', /more than 100000 values/],
    ['unknown fields', many(60_000, 0), '', /59990 more/],
    ['a declaration', { postprocess: { rename: many(9000, 'y') } }, 'postprocess', /65536 are/],
    ['dimensions', specs({ x: { dtype: '', shape: Array(255) } }), SHAPE, /254 entries at most/],
    ['wrong files', { files: many(60_000, 0) }, 'files.0', /and more/],
    ['wrong inputs', specs(many(20_000, {})), 'models.0.signatures.s.inputs.0.dtype', /and more/],
    ['wrong models', { models: Array(60_000).fill(0) }, 'models.0', /and more/],
    ['wrong versions', model({ versions: Array(60_000).fill('v') }), VERSION, /and more/],
  ])('too many %s', (_, part, field, words) => {
    const error = refusal(JSON.stringify({ ...manifest, ...part }));
    expect(error.field).toBe(field);
    expect(error.message).toMatch(words);
    expect(error.message.length).toBeLessThan(3000);
  });

  test('the largest of real ones are taken', () => {
    const sha256 = 'a'.repeat(64);
    const files = Object.fromEntries(
      Array.from({ length: 7000 }, (_, i) => [
        `1/assets/vocabulary-${i}.txt`,
        { sha256, bytes: i },
      ]),
    );
    expect(Object.keys(parseManifest(JSON.stringify({ ...manifest, files })).files)).toHaveLength(
      7000,
    );
    const inputs = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, i) => [
        `feature_${i}`,
        { dtype: 'float32', shape: [-1, 1] },
      ]),
    );
    const [first] = parseManifest(JSON.stringify({ ...manifest, ...specs(inputs) })).models;
    expect(Object.keys(first?.signatures.s?.inputs ?? {})).toHaveLength(10_000);
  });
});

function refusal(text: string): ManifestError {
  try {
    parseManifest(text);
  } catch (error) {
    if (error instanceof ManifestError) return error;
    throw error;
  }
  throw new Error('the manifest was taken');
}
