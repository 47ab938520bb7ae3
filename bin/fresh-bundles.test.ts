import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');

test('a bundle is as old as the moment when bundling began: a source edited meanwhile is newer', () => {
  const work = mkdtempSync(join(tmpdir(), 'fresh-bundles-'));
  try {
    const out = join(work, 'dist');
    const argv = [join(ROOT, 'build.mjs'), `local-model-server=${out}`];
    expect(spawnSync(process.execPath, argv, { cwd: ROOT }).status).toBe(0);
    const changed = (name: string) => statSync(join(out, name)).mtimeMs;
    const others = readdirSync(out).filter((name) => name !== 'inputs.json');
    expect(others).toContain('main.js');
    expect(changed('inputs.json')).toBeLessThan(Math.min(...others.map(changed)));
  } finally {
    rmSync(work, { recursive: true });
  }
});
