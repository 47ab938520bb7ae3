/**
 * `tsx test/gpu/bundle.ts [FOLDER]`: puts what `npm run gpu` needs into one folder, default `bench/.build-gpu`. The
 * folder runs by itself on a machine that has Node, a driver and TensorFlow's library:
 *
 *   LIBTENSORFLOW_PATH=DIR node FOLDER/bench/gpu/main.js --out RESULTS
 *
 * Made once with Python: the models. What is there already is kept.
 */
import { existsSync, readFileSync } from 'node:fs';
import { cp, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { type BenchModel, ensureModel } from '../../bench/lib/models.ts';
import { ROOT } from '../../bench/lib/programs.ts';
import { bundleModules, bundleProgram, NATIVE } from '../../bundling.mjs';

const MODELS: readonly BenchModel[] = ['resnet50', 'mobilenet-uint8', 'ready-S8'];
const FIXTURES = [
  'test/fixtures/models',
  ...['detection', 'digits', 'tabular', 'tiles'].map(model),
];
/** Of packages with native code: what only builds it from source. */
const BUILDERS = ['cmake-js', 'node-addon-api', 'esbuild'];

function model(example: string): string {
  return `examples/${example}/model`;
}

async function main(): Promise<void> {
  const folder = resolve(process.argv[2] ?? join(ROOT, 'bench', '.build-gpu'));
  const program = join(folder, 'bench', 'gpu');
  await rm(program, { recursive: true, force: true });
  await bundleModules({ main: join(ROOT, 'test', 'gpu', 'main.ts') }, program, {
    sourcemap: false,
  });
  await bundleProgram('container', join(folder, 'container', 'dist'));
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }\n');
  const copy = (from: string, to: string) =>
    cp(from, join(folder, to), { recursive: true, dereference: true });
  // Where `test/fixtures/index.ts` looks for them, once it is bundled.
  await copy(join(ROOT, 'test', 'fixtures', 'goldens'), join('bench', 'gpu', 'goldens'));
  for (const path of FIXTURES) await copy(join(ROOT, path), path);
  for (const name of packages(NATIVE)) {
    await copy(join(ROOT, 'node_modules', name), join('node_modules', name));
  }
  for (const name of MODELS) {
    if (!existsSync(join(folder, 'models', name)))
      await copy(await ensureModel(name), join('models', name));
  }
  process.stdout.write(`${folder}\n`);
}

/** Those packages and what they need, as far as it is installed for this machine. */
function packages(names: readonly string[], known = new Set<string>()): Set<string> {
  for (const name of names) {
    const manifest = join(ROOT, 'node_modules', name, 'package.json');
    if (known.has(name) || BUILDERS.includes(name) || !existsSync(manifest)) continue;
    known.add(name);
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(manifest, 'utf8'),
    ) as Partial<Record<'dependencies' | 'optionalDependencies', Record<string, string>>>;
    packages([...Object.keys(dependencies), ...Object.keys(optionalDependencies)], known);
  }
  return known;
}

main().catch((error: Error) => {
  process.stderr.write(`${error.stack}\n`);
  process.exitCode = 1;
});
