/** The runtime bundled as in the image (build.mjs), from the source as it is now. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const NATIVE = ['koffi', 'sharp', '@julusian/jpeg-turbo', 'esbuild'];
/** What threads run, as in build.mjs. */
const THREADS = ['images/image-worker.ts', 'codecs/text-worker.ts', 'processes/stall-thread.ts'];
const REQUIRE_BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

let bundled: string | undefined;

afterAll(() => {
  if (bundled) rmSync(dirname(bundled), { recursive: true, force: true });
});

/** Path of the bundled `main.js`, made once for a test file and removed at its end. */
export function bundledRuntime(): string {
  if (bundled) return bundled;
  // Inside the repository, so that the native packages are found.
  const directory = join(ROOT, '.cache', `container-test-${process.pid}-${Date.now()}`);
  const source = join(ROOT, 'container', 'src');
  execFileSync(join(ROOT, 'node_modules', '.bin', 'esbuild'), [
    `main=${join(source, 'main.ts')}`,
    ...THREADS.map((path) => `${basename(path, '.ts')}=${join(source, path)}`),
    `--outdir=${directory}`,
    '--bundle',
    '--splitting',
    '--format=esm',
    '--platform=node',
    '--target=node20',
    '--log-level=warning',
    `--banner:js=${REQUIRE_BANNER}`,
    ...NATIVE.map((name) => `--external:${name}`),
  ]);
  bundled = join(directory, 'main.js');
  return bundled;
}
