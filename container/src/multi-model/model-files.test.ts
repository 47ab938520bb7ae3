import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { estimateModelBytes } from './memory.ts';
import { checkModelFiles } from './model-files.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'model-files-'));
  mkdirSync(join(directory, '1'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('10,000 files and folders are looked at, and no more', async () => {
  for (let file = 1; file < 10_000; file++) writeFileSync(join(directory, '1', String(file)), '');
  await checkModelFiles(directory);
  writeFileSync(join(directory, 'more'), '');
  await expect(checkModelFiles(directory)).rejects.toMatchObject({
    code: 'BAD_ARCHIVE',
    message: expect.stringContaining('more than 10000 files and folders'),
  });
});

test('a name that is not UTF-8 stops nothing', async () => {
  writeFileSync(join(directory, '1', 'saved_model.pb'), 'abcde');
  const odd = Buffer.concat([Buffer.from(join(directory, '1', 'x')), Buffer.from([0xff, 0xfe])]);
  writeFileSync(odd, 'nobody opens it');
  writeFileSync(join(directory, 'beside'), 'not loaded');
  const files = await checkModelFiles(directory);
  const served = { basePath: directory, versions: ['1'] };
  expect(await estimateModelBytes(served, files)).toBeCloseTo(1.2 * 5);
});
