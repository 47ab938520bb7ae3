/**
 * Bundles from source the programs (the serving runtime, the local model server and the command line) and the
 * library of constructs; with arguments, only the rooms that they name, to `<room>/dist` or, as `<room>=<folder>`,
 * to another folder. Packages with native code stay outside and are resolved from node_modules.
 */
import { existsSync, readFileSync } from 'node:fs';
import { rename, rm, writeFile } from 'node:fs/promises';
import { build } from 'esbuild';

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Packages with native code: those of the image, and the bundler that command line and constructs call. */
const NATIVE = [...Object.keys(readJson('container/image/package.json').dependencies), 'esbuild'];

/** CommonJS dependencies inside an ES module bundle still call `require`. */
const REQUIRE_BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** What the runtime's threads run. */
const THREADS = readJson('container/src/threads/programs.json');

/** Entry files below `<room>/src`; each becomes a file of the same name in `<room>/dist`. */
const PROGRAMS = {
  container: ['main.ts', ...Object.values(THREADS)],
  'local-model-server': ['main.ts'],
  cli: ['bin.ts'],
};

/** Options of every bundle. */
const COMMON = {
  bundle: true,
  platform: 'node',
  target: 'node20',
  logLevel: 'warning',
  // The AWS SDK's ES modules: of its CommonJS, a bundled `import()` would give a default export only.
  mainFields: ['module', 'main'],
  metafile: true,
};

/**
 * Fails where a source of ours calls `import()` on a CommonJS file that is bundled: its named exports would be gone.
 * @throws Error that names both files
 */
function checkDynamicImports({ inputs }) {
  for (const [path, { imports }] of Object.entries(inputs)) {
    if (path.includes('node_modules/')) continue;
    for (const { kind, external, path: target, original } of imports) {
      if (kind !== 'dynamic-import' || external || inputs[target]?.format !== 'cjs') continue;
      throw new Error(
        `${path}: import('${original}') of ${target}, a CommonJS file: once bundled it has a default export only; import it statically, or leave it outside the bundle`,
      );
    }
  }
}

async function bundleProgram(room, outdir) {
  const entryPoints = PROGRAMS[room]
    .map((entry) => `${room}/src/${entry}`)
    .filter((path) => existsSync(path))
    .map((path) => ({ in: path, out: path.split('/').at(-1).replace(/\.ts$/, '') }));
  const { metafile } = await build({
    ...COMMON,
    entryPoints,
    outdir,
    splitting: true,
    format: 'esm',
    external: NATIVE,
    banner: { js: REQUIRE_BANNER },
    sourcemap: true,
  });
  checkDynamicImports(metafile);
  await writeInputs(metafile, outdir);
}

/** `inputs.json`: the sources of a bundle, by which its age is told. */
async function writeInputs({ inputs }, outdir) {
  const own = Object.keys(inputs).filter((path) => !path.includes('node_modules/'));
  await writeFile(`${outdir}/inputs.json`, JSON.stringify(own));
}

/**
 * The constructs as one CommonJS module, which CommonJS and ES module apps import alike and which loads in a
 * fraction of the time of its sources.
 */
async function bundleConstructs(outdir) {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: ['lib/index.ts'],
    outfile: `${outdir}/index.cjs`,
    format: 'cjs',
    // Constructs must be those of the app itself.
    external: [...NATIVE, 'aws-cdk-lib', 'constructs', 'tar'],
  });
  await writeInputs(metafile, outdir);
}

async function bundle(target) {
  const [room, folder = `${room}/dist`] = target.split('=');
  // Written beside and then put in place: a program that starts meanwhile finds a whole bundle.
  const outdir = `${folder}.${process.pid}`;
  try {
    await (room === 'lib' ? bundleConstructs(outdir) : bundleProgram(room, outdir));
    await rm(folder, { recursive: true, force: true });
    await rename(outdir, folder);
  } finally {
    await rm(outdir, { recursive: true, force: true });
  }
}

const wanted = process.argv.slice(2);
await Promise.all(
  (wanted.length > 0 ? wanted : [...Object.keys(PROGRAMS), 'lib']).map(bundle),
).catch((error) => {
  // esbuild prints what it finds itself.
  if (error.errors === undefined) console.error(error.message);
  process.exitCode = 1;
});
