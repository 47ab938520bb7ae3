import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { usedInGroup } from './used-in-group.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'groups-'));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

test.each([
  ['v2', { 'memory.current': '500\n', 'memory.stat': 'anon 9\ninactive_file 200\n' }, 300],
  [
    'v1',
    {
      'memory/memory.usage_in_bytes': '500\n',
      'memory/memory.stat': 'inactive_file 1\ntotal_inactive_file 200\n',
    },
    300,
  ],
  ['none', {}, 0],
])('use of a control group, %s: without the page cache', async (_, files, used) => {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true });
    writeFileSync(join(root, name), text);
  }
  expect(await usedInGroup(root)).toBe(used);
});
