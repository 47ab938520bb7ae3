/** Files beside a handler: which of them make it load again. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isSource } from './watch-sources.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'watch-sources-'));
  mkdirSync(join(folder, 'lib', 'node_modules'), { recursive: true });
  writeFileSync(join(folder, 'inference.ts'), "import './lib/labels.ts';\n");
  writeFileSync(join(folder, 'lib', 'labels.ts'), "import names from './names.json';\n");
  writeFileSync(join(folder, 'lib', 'node_modules', 'a.js'), "require('./bench.json');\n");
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each([
  ['inference.ts', true],
  ['lib/labels.ts', true],
  ['lib/new.mjs', true],
  // That a source names, also before it is there.
  ['lib/names.json', true],
  // What other programs write, as `bench --json > bench.json`.
  ['bench.json', false],
  ['lib/answer.json', false],
  ['notes.txt', false],
  ['lib/node_modules/a.js', false],
])('%s: %s', (file, counts) => {
  expect(isSource(folder, join(...file.split('/')))).toBe(counts);
});
