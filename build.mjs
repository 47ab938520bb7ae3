/**
 * Bundles the programs from source: the serving runtime, the local model server and the command line; with
 * arguments, only the rooms that they name. Packages with native code stay outside and are resolved from
 * node_modules.
 */
import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { build } from 'esbuild';

const NATIVE = ['koffi', 'sharp', '@julusian/jpeg-turbo', 'esbuild'];

/** CommonJS dependencies inside an ES module bundle still call `require`. */
const REQUIRE_BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** Entry files below `<room>/src`; each becomes a file of the same name in `<room>/dist`. */
const PROGRAMS = {
  container: ['main.ts', 'images/image-worker.ts', 'processes/stall-thread.ts'],
  'local-model-server': ['main.ts'],
  cli: ['bin.ts'],
};

async function bundle(room) {
  const entryPoints = PROGRAMS[room]
    .map((entry) => `${room}/src/${entry}`)
    .filter((path) => existsSync(path))
    .map((path) => ({ in: path, out: path.split('/').at(-1).replace(/\.ts$/, '') }));
  // Written beside and then put in place: a program that starts meanwhile finds a whole bundle.
  const outdir = `${room}/dist.${process.pid}`;
  try {
    await build({
      entryPoints,
      outdir,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node20',
      external: NATIVE,
      banner: { js: REQUIRE_BANNER },
      sourcemap: true,
      logLevel: 'warning',
    });
    await rm(`${room}/dist`, { recursive: true, force: true });
    await rename(outdir, `${room}/dist`);
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
await Promise.all((wanted.length > 0 ? wanted : Object.keys(PROGRAMS)).map(bundle)).catch(() => {
  // esbuild has printed what is wrong.
  process.exitCode = 1;
});
