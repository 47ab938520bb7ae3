/** Programs bundled as they are shipped (build.mjs), from the source as it is now. */
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

const ROOT = join(__dirname, '..');

const bundled = new Map<string, string>();

function removeAll(): void {
  for (const program of bundled.values())
    rmSync(dirname(program), { recursive: true, force: true });
}

// Commands that use the tests' runtimes have no end but their process's.
if (typeof afterAll === 'function') afterAll(removeAll);
else process.once('exit', removeAll);

/** Path of a room's bundled `main.js`, made once for a test file and removed at its end. */
export function bundledProgram(room: 'container' | 'local-model-server'): string {
  const known = bundled.get(room);
  if (known) return known;
  // Inside the repository, so that the native packages are found.
  const directory = join(ROOT, '.cache', `${room}-test-${process.pid}-${Date.now()}`);
  execFileSync(process.execPath, ['build.mjs', `${room}=${directory}`], { cwd: ROOT });
  const program = join(directory, 'main.js');
  bundled.set(room, program);
  return program;
}
