/** The tarballs themselves: publint, arethetypeswrong, and how large they are. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ownProgram, type Project, TARBALLS } from './project.ts';

/** Bytes of each tarball, at most, by the start of its name. */
const TARBALL_BYTES: Readonly<Record<string, number>> = {
  'sagemaker-tfs-cdk-': 900_000,
  'sagemaker-tfs-': 7_500_000,
};

/** Bytes of `sagemaker-tfs` itself when installed, and packages that come with it and the constructs. */
const INSTALLED_BYTES = 33_000_000;
const PACKAGES = 150;
/** Bytes of `sagemaker-tfs` with all that it depends on; docs/decisions/two-packages.md says what they are for. */
const WITH_DEPENDENCIES_BYTES = 115_000_000;

/** Resolutions that are as meant: the programmatic API is an ES module, and Node 20.19 can require it. */
const ATTW = ['--profile', 'node16', '--ignore-rules', 'cjs-resolves-to-esm', '--no-color'];

/** @throws AssertionError where a tarball is not as registries and compilers want it, or has grown beyond its budget */
export async function checkPackages(project: Project): Promise<void> {
  for (const tarball of TARBALLS) {
    for (const [program, args] of [
      ['publint', ['run', tarball, '--strict']],
      ['attw', [tarball, ...ATTW]],
    ] as const) {
      const { status, stdout } = ownProgram(program, args);
      assert.equal(status, 0, `${program} ${basename(tarball)}:\n${stdout}`);
    }
    const [, most = 0] =
      Object.entries(TARBALL_BYTES).find(([start]) => basename(tarball).startsWith(start)) ?? [];
    const { size } = statSync(tarball);
    assert.ok(size <= most, `${basename(tarball)} has ${size} bytes, more than ${most}`);
  }
  const modules = join(project.directory, 'node_modules');
  checkLicences(modules);
  const bytes = bytesBelow(join(modules, 'sagemaker-tfs'));
  assert.ok(bytes <= INSTALLED_BYTES, `sagemaker-tfs takes ${bytes} bytes`);
  const whole = dependenciesOf('sagemaker-tfs', modules)
    .map((name) => bytesBelow(join(modules, name)))
    .reduce((sum, size) => sum + size, 0);
  assert.ok(whole <= WITH_DEPENDENCIES_BYTES, `with its dependencies it takes ${whole} bytes`);
  for (const name of ['sagemaker-tfs', '@sagemaker-tfs/cdk']) {
    checkManifest(join(modules, name));
    checkSourceMaps(join(modules, name));
  }
  const packages = packagesIn(modules);
  assert.ok(packages <= PACKAGES, `${packages} packages were installed, more than ${PACKAGES}`);
}

/** What registries show, and what npm needs to publish with provenance. */
function checkManifest(folder: string): void {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const { name, engines, sideEffects, publishConfig, private: isPrivate } = manifest;
  assert.deepEqual(
    { engines, sideEffects, publishConfig, isPrivate },
    {
      engines: { node: '>=20.19' },
      sideEffects: false,
      publishConfig: { access: 'public', provenance: true },
      isPrivate: undefined,
    },
  );
  assert.ok(readFileSync(join(folder, 'README.md'), 'utf8').startsWith(`# ${name}\n`));
}

/** Where third parties' code lies in what is installed, and packages whose licence must be told there. */
const LICENCES: Readonly<Record<string, readonly string[]>> = {
  'sagemaker-tfs/dist/THIRD-PARTY-LICENSES.txt': ['preact', '@aws-sdk/client-s3', 'commander'],
  'sagemaker-tfs/dist/playground.html': ['preact'],
  'sagemaker-tfs/container/dist/THIRD-PARTY-LICENSES.txt': ['pino'],
  'sagemaker-tfs/local-model-server/dist/THIRD-PARTY-LICENSES.txt': ['yauzl'],
  '@sagemaker-tfs/cdk/dist/THIRD-PARTY-LICENSES.txt': ['zod'],
};

/** Most licences ask that their text goes with every copy. */
function checkLicences(modules: string): void {
  for (const [file, names] of Object.entries(LICENCES)) {
    const text = readFileSync(join(modules, file), 'utf8');
    for (const name of names) {
      assert.ok(text.includes(`\n${name} `) || text.startsWith(`${name} `), `${file}: no ${name}`);
      assert.match(text, /Permission is hereby granted|Apache License/, file);
    }
  }
}

/** A package and all that it needs, as far as this machine has it: binaries of other platforms are not installed. */
function dependenciesOf(name: string, modules: string, found = new Set<string>()): string[] {
  const file = join(modules, name, 'package.json');
  if (found.has(name) || !existsSync(file)) return [...found];
  found.add(name);
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(file, 'utf8'));
  for (const needed of Object.keys({ ...dependencies, ...optionalDependencies })) {
    dependenciesOf(needed, modules, found);
  }
  return [...found];
}

/** Debuggers and stack traces show this project's sources from the maps alone: they are not installed. */
function checkSourceMaps(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const maps = names.filter((name) => name.endsWith('.map') && !name.includes('node_modules'));
  assert.ok(maps.length > 0, `${folder} has no source maps`);
  for (const name of maps) {
    const { sources, sourcesContent } = JSON.parse(readFileSync(join(folder, name), 'utf8'));
    const own = (sources as string[]).flatMap((source, i) =>
      source.includes('node_modules/') ? [] : [[source, sourcesContent[i]]],
    );
    assert.ok(own.length > 0, `${name} shows no source`);
    for (const [source, text] of own) {
      assert.doesNotMatch(source, /^(\/|\.\.)/, name);
      assert.ok(text, `${name} does not show ${source}`);
    }
    const program = readFileSync(join(folder, name.replace(/\.map$/, '')), 'utf8');
    assert.ok(program.includes(`//# sourceMappingURL=${basename(name)}`), name);
  }
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

function packagesIn(modules: string): number {
  return readdirSync(modules)
    .filter((name) => !name.startsWith('.'))
    .flatMap((name) => (name.startsWith('@') ? readdirSync(join(modules, name)) : [name])).length;
}
