/** Bundles, with build.mjs, what is older than its sources. */
const { execFileSync } = require('node:child_process');
const { readFileSync, statSync } = require('node:fs');
const { join, resolve } = require('node:path');

const ROOT = resolve(__dirname, '..');

/** Whether a room has a bundle that was begun after the last change of its sources, and of what is installed. */
function isFresh(room) {
  const inputs = join(ROOT, room, 'dist', 'inputs.json');
  try {
    const began = statSync(inputs).mtimeMs;
    const rules = ['build.mjs', 'bundling.mjs', 'third-party.mjs', 'package-lock.json'];
    const sources = [...rules, ...JSON.parse(readFileSync(inputs, 'utf8'))];
    return sources.every((file) => statSync(join(ROOT, file)).mtimeMs < began);
  } catch {
    return false;
  }
}

exports.isFresh = isFresh;

/** Bundles those of the rooms of which a source is newer than the bundle, or that have none yet. */
exports.freshBundles = (rooms) => {
  const stale = rooms.filter((room) => !isFresh(room));
  if (stale.length === 0) return;
  const args = [join(ROOT, 'build.mjs'), ...stale];
  execFileSync(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
};
