/** `npm run gpu` on a machine that lacks what it takes: it names all of that, measures nothing and writes no page. */
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { findDriver } from './nvidia.ts';

const ROOT = join(__dirname, '..', '..');

let folder: string;
beforeAll(async () => {
  mkdirSync(join(ROOT, '.cache'), { recursive: true });
  folder = mkdtempSync(join(ROOT, '.cache', 'without-gpu-'));
  await build({
    entryPoints: [join(ROOT, 'test', 'gpu', 'main.ts')],
    outfile: join(folder, 'bench', 'gpu', 'main.mjs'),
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    logLevel: 'silent',
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('what is missing is named, and the exit status is 3', async () => {
  const out = mkdtempSync(join(tmpdir(), 'gpu-out-'));
  const args = ['--import', 'tsx', join(folder, 'bench', 'gpu', 'main.mjs'), '--out', out];
  const ended = await promisify(execFile)(process.execPath, args).catch((error: unknown) => error);
  expect(ended).toMatchObject({ code: 3 });
  const { stdout } = ended as { stdout: string };
  expect(stdout).toMatch(/missing: \S+models\/ready-S8 is not here\. Make the folder with/);
  const driver = findDriver();
  if (typeof driver === 'string') expect(stdout).toContain(`missing: ${driver}.`);
  expect(readdirSync(out)).toEqual([]);
  rmSync(out, { recursive: true });
});
