/** The helper programs, bundled so that Node starts them without a loader in between. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { execa } from 'execa';
import image from '../../container/image/package.json' with { type: 'json' };

/** Folder of the repository. */
export const ROOT = join(import.meta.dirname, '..', '..');
const BENCH = join(ROOT, 'bench');
const OUT = join(BENCH, '.build');

const PROGRAMS = {
  canned: 'canned/main.ts',
  'grpc-js-front-end': 'grpc-js-front-end/main.ts',
  sockets: 'programs/sockets.ts',
  'ping-loop': 'programs/ping-loop.ts',
  'package-once': 'programs/package-once.ts',
};

/** CommonJS dependencies inside an ES module bundle still call `require`. */
const BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** The bundle of a helper program. */
export function programPath(name: keyof typeof PROGRAMS): string {
  return join(OUT, `${name}.js`);
}

/** Bundles the helper programs, and the serving runtime itself. */
export async function buildPrograms(): Promise<void> {
  await execa(process.execPath, ['build.mjs'], {
    cwd: ROOT,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  await rm(OUT, { recursive: true, force: true });
  await build({
    entryPoints: Object.entries(PROGRAMS).map(([out, path]) => ({ out, in: join(BENCH, path) })),
    outdir: OUT,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: [...Object.keys(image.dependencies), 'esbuild'],
    banner: { js: BANNER },
    logLevel: 'warning',
  });
}
