/** The runtime bundled as in the image (build.mjs), from the source as it is now. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');

let bundled: string | undefined;

afterAll(() => {
  if (bundled) rmSync(dirname(bundled), { recursive: true, force: true });
});

/** Path of the bundled `main.js`, made once for a test file and removed at its end. */
export function bundledRuntime(): string {
  if (bundled) return bundled;
  // Inside the repository, so that the native packages are found.
  const directory = join(ROOT, '.cache', `container-test-${process.pid}-${Date.now()}`);
  execFileSync(process.execPath, ['build.mjs', `container=${directory}`], { cwd: ROOT });
  bundled = join(directory, 'main.js');
  return bundled;
}
