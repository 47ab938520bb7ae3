/** A pipe instead of a file of the archive would keep the runtime for ever. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { warmUp } from '@sagemaker-tfs/libtensorflow/serving';
import pino from 'pino';
import { loadLabels } from '../postprocess/labels.ts';
import { loadArchive } from './archive.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'special-'));
  mkdirSync(join(directory, 'code'));
  mkdirSync(join(directory, 'assets.extra'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const load = () => loadArchive(directory, pino({ level: 'silent' }), 10_000);
const labels = () => loadLabels({ topK: { k: 1, labels: 'labels.txt' } }, join(directory, 'code'));
const warm = () => warmUp({} as Parameters<typeof warmUp>[0], directory, 1);

test.each<[string, () => Promise<unknown>]>([
  ['code/manifest.json', load],
  ['code/labels.txt', labels],
  ['code/inference.mjs', load],
  ['code/inference.cjs', load],
  ['assets.extra/tf_serving_warmup_requests', warm],
])('%s may be no pipe, and no file of any size', async (name, read) => {
  const path = join(directory, name);
  execFileSync('mkfifo', [path]);
  await expect(read()).rejects.toThrow();
  rmSync(path);
  if (name.includes('inference')) return;
  writeFileSync(path, '');
  truncateSync(path, 3e9);
  await expect(read()).rejects.toThrow(/3000000000/);
});
