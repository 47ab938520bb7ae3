/** Programs bundled as they are shipped (build.mjs), from the source as it is now. */
import { join } from 'node:path';
import { freshBundles } from '../bin/fresh-bundles.js';

const ROOT = join(__dirname, '..');

/** Path of a room's bundled `main.js`. Before all tests, jest's setup has bundled what is older than its sources. */
export function bundledProgram(room: 'container' | 'local-model-server'): string {
  freshBundles([room]);
  return join(ROOT, room, 'dist', 'main.js');
}
