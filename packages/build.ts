/**
 * `npm run packages`: what is published, as folders and tarballs in `dist-packages/`. docs/decisions/two-packages.md
 * says why there are two.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bundleCommonJs, bundleConstructs, bundleModules, bundleProgram } from '../bundling.mjs';
import { bundlePlayground } from '../playground/bundle.mjs';
import { writeThirdParty } from '../third-party.mjs';
import { copyDeclarations, emitDeclarations } from './declarations.ts';
import { cdkManifest, commandManifest, type Manifest } from './manifests.ts';
import { shortenSourceMaps } from './source-maps.ts';

const ROOT = join(import.meta.dirname, '..');
const OUT = join(ROOT, 'dist-packages');

/** Entries of `sagemaker-tfs`: sources by the name of the subpath. */
const MODULES = {
  index: 'cli/src/index.ts',
  handler: 'cli/src/handler.ts',
  client: 'cli/src/client.ts',
  testing: 'cli/src/testing.ts',
  files: 'cli/src/files.ts',
};

/** Those that are CommonJS too: for test runners and apps that are. */
const COMMON_JS = {
  handler: MODULES.handler,
  client: MODULES.client,
  testing: MODULES.testing,
  files: MODULES.files,
};

/** Stay imports of `sagemaker-tfs`: their types are part of its own, and users pass their own instances. */
const TYPED = ['@aws-sdk/client-sagemaker-runtime', '@bufbuild/protobuf', 'zod'];

async function buildCommand(folder: string): Promise<void> {
  const dist = join(folder, 'dist');
  const metafiles = [
    await bundleModules({ bin: 'cli/src/bin.ts', ...MODULES }, dist, { external: TYPED }),
    await bundlePlayground(dist),
  ];
  for (const [name, entry] of Object.entries(COMMON_JS)) {
    const metafile = await bundleCommonJs(entry, join(dist, `${name}.cjs`), {
      external: TYPED,
      sourcemap: true,
      // Test runners load CommonJS where they cannot `import()`.
      supported: { 'dynamic-import': false },
    });
    metafiles.push(metafile);
  }
  const browser = await bundleModules({ 'client.browser': MODULES.client }, dist, {
    external: TYPED,
    platform: 'browser',
    mainFields: ['browser', 'module', 'main'],
    target: 'es2022',
    banner: {},
  });
  await writeThirdParty(dist, ...metafiles, browser);
  for (const room of ['container', 'local-model-server']) {
    await bundleProgram(room, join(folder, room, 'dist'));
  }
  for (const part of ['Dockerfile', '.dockerignore', 'image']) {
    cpSync(join(ROOT, 'container', part), join(folder, 'container', part), { recursive: true });
  }
  for (const [from, to] of [
    ['cli/bin', 'bin'],
    ['local-model-server/bin', 'local-model-server/bin'],
    ['model-packaging/python', 'python'],
    ['prices', 'prices'],
    ['test/fixtures/models/half_plus_two/2', 'example-model/1'],
  ] as const) {
    cpSync(join(ROOT, from), join(folder, to), { recursive: true });
  }
}

async function buildCdk(folder: string): Promise<void> {
  await bundleConstructs(join(folder, 'dist'), { sourcemap: true });
}

/** Manifest, licence, README; and maps that show this project's sources, not those of others. */
function finish(folder: string, manifest: Manifest, readme: string): void {
  for (const dist of ['dist', 'container/dist', 'local-model-server/dist']) {
    shortenSourceMaps(join(folder, dist), ROOT);
  }
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(import.meta.dirname, readme, 'README.md'), join(folder, 'README.md'));
}

/** Every package that declarations name must come with the one that they are in. */
function requireDependencies(manifest: Manifest, used: ReadonlySet<string>): void {
  const known = { ...manifest.dependencies, ...manifest.peerDependencies };
  const missing = [...used].filter((name) => !(name in known));
  if (missing.length === 0) return;
  throw new Error(`${manifest.name}: its types name ${missing.join(', ')}, no dependencies of it`);
}

function declare(folder: string, emitted: string, manifest: Manifest): void {
  const tree = { emitted, root: ROOT };
  if (manifest.name === 'sagemaker-tfs') {
    const esm = copyDeclarations({
      ...tree,
      entries: MODULES,
      out: join(folder, 'types/esm'),
      type: 'module',
      published: [],
    });
    copyDeclarations({
      ...tree,
      entries: COMMON_JS,
      out: join(folder, 'types/cjs'),
      type: 'commonjs',
      published: [],
    });
    requireDependencies(manifest, esm);
    return;
  }
  const used = copyDeclarations({
    ...tree,
    entries: { index: 'lib/index.ts' },
    out: join(folder, 'types'),
    type: 'commonjs',
    published: ['sagemaker-tfs'],
  });
  requireDependencies(manifest, used);
}

async function main(): Promise<void> {
  process.chdir(ROOT);
  rmSync(OUT, { recursive: true, force: true });
  const emitted = join(OUT, 'types');
  emitDeclarations(ROOT, emitted);
  const packages = [
    { name: 'sagemaker-tfs', manifest: commandManifest(ROOT), build: buildCommand },
    { name: 'cdk', manifest: cdkManifest(ROOT), build: buildCdk },
  ];
  for (const { name, manifest, build } of packages) {
    const folder = join(OUT, name);
    mkdirSync(folder, { recursive: true });
    await build(folder);
    declare(folder, emitted, manifest);
    finish(folder, manifest, name);
    const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', OUT];
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
  rmSync(emitted, { recursive: true });
  for (const file of readdirSync(OUT).filter((name) => name.endsWith('.tgz'))) {
    const kilobytes = Math.ceil(readFileSync(join(OUT, file)).length / 1_000);
    process.stdout.write(`dist-packages/${file}  ${kilobytes} kB\n`);
  }
}

await main();
