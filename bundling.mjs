/**
 * How this project's programs and libraries are bundled, for the repository (`build.mjs`) and for the published
 * packages (`packages/`). Packages with native code stay outside and are resolved from node_modules.
 */
import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { build } from 'esbuild';
import { bundlePlayground } from './playground/bundle.mjs';
import { writeThirdParty } from './third-party.mjs';

const readJson = (path) => JSON.parse(readFileSync(path, 'utf8'));

/** Packages with native code: those of the image, and the bundler that command line and constructs call. */
export const NATIVE = [
  ...Object.keys(readJson('container/image/package.json').dependencies),
  'esbuild',
];

/** Lambda functions of the constructs: name in `dist/functions` and entry below `lib/`. */
const FUNCTIONS = {
  authorizer: 'endpoint-api/authorizer/index.ts',
  drift: 'drift/handler/index.ts',
  shards: 'batch/handler/index.ts',
  'smoke-test': 'smoke-test/handler/index.ts',
  'stop-jobs': 'batch/stop-handler/index.ts',
};

/** In Lambda's runtime already. */
const LAMBDA_MODULES = ['@aws-sdk/*', '@smithy/*'];

/** CommonJS dependencies inside an ES module bundle still call `require`. */
const REQUIRE_BANNER =
  "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);";

/** What the runtime's threads run. */
const THREADS = readJson('container/src/threads/programs.json');

/** Entry files below `<room>/src`; each becomes a file of the same name in `<room>/dist`. */
export const PROGRAMS = {
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

/** What has been bundled is as it must be. @returns paths of this project's sources in it */
function sourcesOf(metafile) {
  checkDynamicImports(metafile);
  return Object.keys(metafile.inputs).filter((path) => !path.includes('node_modules/'));
}

/** `inputs.json`: the sources of a bundle; a bundle begun before a change of one of them is stale. */
async function writeInputs(outdir, ...metafiles) {
  await writeFile(`${outdir}/inputs.json`, JSON.stringify(metafiles.flatMap(sourcesOf)));
}

/**
 * ES modules that share their chunks.
 * @param entries paths by the name that the module gets
 * @param options of esbuild, for example further `external` modules
 */
export async function bundleModules(entries, outdir, options = {}) {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: Object.entries(entries).map(([out, path]) => ({ in: path, out })),
    outdir,
    splitting: true,
    format: 'esm',
    banner: { js: REQUIRE_BANNER },
    sourcemap: true,
    ...options,
    external: [...NATIVE, ...(options.external ?? [])],
  });
  return metafile;
}

/** One CommonJS file. `import.meta.url` in its sources becomes the URL of the file. */
export async function bundleCommonJs(entry, outfile, options = {}) {
  const { metafile } = await build({
    ...COMMON,
    entryPoints: [entry],
    outfile,
    format: 'cjs',
    banner: { js: "const __url = require('node:url').pathToFileURL(__filename).href;" },
    define: { 'import.meta.url': '__url' },
    ...options,
    external: [...NATIVE, ...(options.external ?? [])],
  });
  return metafile;
}

/** A room's programs. */
export async function bundleProgram(room, outdir) {
  const entries = PROGRAMS[room]
    .map((entry) => `${room}/src/${entry}`)
    .filter((path) => existsSync(path))
    .map((path) => [path.split('/').at(-1).replace(/\.ts$/, ''), path]);
  const metafiles = [await bundleModules(Object.fromEntries(entries), outdir)];
  if (room === 'cli') {
    metafiles.push(await bundleCommonJs('cli/src/files.ts', `${outdir}/files.cjs`));
    metafiles.push(await bundlePlayground(outdir));
  }
  await writeInputs(outdir, ...metafiles);
  await writeThirdParty(outdir, ...metafiles);
}

/**
 * The constructs as one CommonJS module, which CommonJS and ES module apps import alike and which loads in a
 * fraction of the time of its sources, and the code of their Lambda functions.
 * @param options of esbuild, for the constructs
 */
export async function bundleConstructs(outdir, options = {}) {
  // Constructs must be those of the app itself.
  const external = ['aws-cdk-lib', 'constructs', 'tar', 'sagemaker-tfs'];
  const metafiles = [
    await bundleCommonJs('lib/index.ts', `${outdir}/index.cjs`, { ...options, external }),
    ...(await Promise.all(
      Object.entries(FUNCTIONS).map(([name, entry]) =>
        bundleCommonJs(`lib/${entry}`, `${outdir}/functions/${name}.js`, {
          target: 'node24',
          external: LAMBDA_MODULES,
        }),
      ),
    )),
  ];
  await writeInputs(outdir, ...metafiles);
  await writeThirdParty(outdir, ...metafiles);
}
