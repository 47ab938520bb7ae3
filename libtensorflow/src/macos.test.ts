/** macOS on Apple silicon, as far as Linux shows it: files as its wheel lays them out, and the packages with native code. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { cacheDirectory } from './fetch/cache.ts';
import { pinnedWheel } from './fetch/pinned-wheel.ts';
import { findLibrary } from './find-library.ts';

const { platform, arch, env } = process;
let scratch: string;

beforeEach(() => {
  scratch = mkdtempSync(join(tmpdir(), 'macos-'));
  process.env = { ...env, PATH: scratch, XDG_CACHE_HOME: join(scratch, 'cache') };
  delete process.env.LIBTENSORFLOW_PATH;
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  Object.defineProperty(process, 'arch', { value: 'arm64' });
});
afterEach(() => {
  process.env = env;
  Object.defineProperty(process, 'platform', { value: platform });
  Object.defineProperty(process, 'arch', { value: arch });
  rmSync(scratch, { recursive: true, force: true });
});

/** `site-packages/tensorflow` of the wheel `macosx_12_0_arm64`, read from its directory on 28 November 2026. */
function layOut(directory: string, names = WHEEL): string {
  for (const name of names) {
    mkdirSync(join(directory, name, '..'), { recursive: true });
    writeFileSync(join(directory, name), '');
  }
  return directory;
}
const WHEEL = [
  'libtensorflow_cc.2.dylib',
  'libtensorflow_framework.2.dylib',
  'python/_pywrap_tfe.so',
  'python/lib_pywrap_tensorflow_common.dylib',
];

test('LIBTENSORFLOW_PATH names a folder with the names of macOS, and not those of Linux', async () => {
  process.env.LIBTENSORFLOW_PATH = layOut(join(scratch, 'tensorflow'));
  expect(await findLibrary()).toMatchObject({
    cc: join(scratch, 'tensorflow', 'libtensorflow_cc.2.dylib'),
    framework: join(scratch, 'tensorflow', 'libtensorflow_framework.2.dylib'),
  });
  const linux = ['libtensorflow_cc.so.2', 'libtensorflow_framework.so.2'];
  process.env.LIBTENSORFLOW_PATH = layOut(join(scratch, 'linux'), linux);
  await expect(findLibrary()).rejects.toThrow(
    'does not hold libtensorflow_cc.2.dylib and libtensorflow_framework.2.dylib side by side',
  );
});

test('a Python installation is found', async () => {
  const directory = layOut(join(scratch, 'site', 'tensorflow'));
  const answer = JSON.stringify({ folders: [directory], version: '2.21.0' });
  writeFileSync(join(scratch, 'python3'), `#!/bin/sh\necho '${answer}'\n`, { mode: 0o755 });
  expect(await findLibrary()).toMatchObject({ directory, source: 'python', version: '2.21.0' });
});

test('the cache holds the libraries of the wheel for macOS, beside those for Linux', async () => {
  const wheel = pinnedWheel();
  expect(wheel).toMatchObject({ package: 'tensorflow', platform: 'macosx_12_0_arm64' });
  const directory = cacheDirectory();
  expect(basename(directory)).toBe(`${wheel?.version}-macos-arm64`);
  mkdirSync(directory, { recursive: true });
  for (const { entry, bytes } of wheel?.libraries ?? []) {
    // A sparse file: it has the length and takes no disk.
    writeFileSync(join(directory, basename(entry)), '');
    truncateSync(join(directory, basename(entry)), bytes);
  }
  expect(await findLibrary()).toMatchObject({
    cc: join(directory, 'libtensorflow_cc.2.dylib'),
    source: 'cache',
  });
});

test('Macs with processors of Intel have no wheel', () => {
  Object.defineProperty(process, 'arch', { value: 'x64' });
  expect(pinnedWheel()).toBeUndefined();
});

test('every package with native code has a build for Apple silicon', () => {
  const root = join(__dirname, '..', '..');
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, unknown>;
  };
  for (const name of ['@koromix/koffi', '@img/sharp', '@img/sharp-libvips', '@node-rs/crc32']) {
    expect(packages).toHaveProperty([`node_modules/${name}-darwin-arm64`]);
  }
  const turbo = 'node_modules/@julusian/jpeg-turbo/prebuilds/jpeg-turbo-darwin-arm64';
  const [build = ''] = ['node-napi-v7.node'].map((name) => join(root, turbo, name));
  // Mach-O of 64 bits, for ARM64.
  expect(readFileSync(build).subarray(0, 8).toString('hex')).toBe('cffaedfe0c000001');
});
