/** What the page gets of an archive is what its runtime answers. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ContentOptions, layOut } from '@sagemaker-tfs/model-packaging';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { describePlayground } from './describe.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'describe-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Names of outputs by signature. */
async function outputsOf(model: string, options: Partial<ContentOptions>) {
  const { basePath } = fixtureModel(model);
  const { directory } = await layOut({ source: basePath, ...options }, join(folder, 'model'));
  const { models } = await describePlayground(directory, basePath, []);
  const signatures = Object.entries(models[0]?.signatures ?? {});
  return Object.fromEntries(signatures.map(([key, { outputs }]) => [key, Object.keys(outputs)]));
}

test.each<[string, string, ContentOptions['postprocess'], Record<string, string[]>]>([
  [
    'all',
    'multi_signature',
    { rename: { sum: 'total' } },
    {
      label: ['label'],
      linear: ['y'],
      serving_default: ['product', 'total'],
      statistics: ['count', 'largest_at', 'mean', 'smallest'],
    },
  ],
  [
    'those that are kept, by the names of answers',
    'keras_functional',
    { outputs: ['score'], rename: { score: 'risk' } },
    { serve: ['risk'], serving_default: ['risk'] },
  ],
  [
    'those that become detections: nothing else is answered beside them',
    'detection',
    { boxes: {} },
    { serving_default: ['detection_boxes', 'detection_classes', 'detection_scores'] },
  ],
  [
    'no signature that no request can call',
    'multi_signature',
    { outputs: ['sum'] },
    { serving_default: ['sum'] },
  ],
])('%s', async (_what, model, postprocess, expected) => {
  expect(await outputsOf(model, postprocess ? { postprocess } : {})).toEqual(expected);
});

test('a handler may call every signature', async () => {
  const handler = join(folder, 'own.ts');
  writeFileSync(handler, 'export const handler = (data) => data;');
  const outputs = await outputsOf('multi_signature', {
    handler,
    postprocess: { outputs: ['sum'] },
  });
  expect(Object.keys(outputs).sort()).toEqual([
    ...['label', 'linear', 'serving_default', 'statistics'],
  ]);
});
