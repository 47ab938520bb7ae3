/** Bundles `lib/` where a source of it is newer than its bundle, or there is none yet. */
const { execFileSync } = require('node:child_process');
const { readFileSync, statSync } = require('node:fs');
const { join, resolve } = require('node:path');

const ROOT = resolve(__dirname, '..');
const DIST = join(ROOT, 'lib', 'dist');

function isFresh() {
  try {
    const built = statSync(join(DIST, 'index.cjs')).mtimeMs;
    const inputs = JSON.parse(readFileSync(join(DIST, 'inputs.json'), 'utf8'));
    return inputs.every((file) => statSync(join(ROOT, file)).mtimeMs < built);
  } catch {
    return false;
  }
}

if (!isFresh()) {
  const args = [join(ROOT, 'build.mjs'), 'lib'];
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
}
