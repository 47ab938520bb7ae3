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
  expect(refusal(text).field).toBe(field);
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
  expect(message).toMatch(/\nand 2990 more$/);
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
