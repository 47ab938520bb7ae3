import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cacheDirectory } from './fetch/cache.ts';
import { PINNED_VERSION, pinnedWheel } from './fetch/pinned-wheel.ts';
import { ensureLibrary, findLibrary, loadLibrary } from './index.ts';

const NAMES = ['libtensorflow_cc.so.2', 'libtensorflow_framework.so.2'];
const environment = { ...process.env };
let scratch: string;

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'find-library-'));
});
afterEach(async () => {
  process.env = { ...environment };
  await rm(scratch, { recursive: true });
});

/** Empty files with the libraries' names; finding looks at names only. */
async function putLibraries(directory: string, names = NAMES): Promise<void> {
  await mkdir(directory, { recursive: true });
  for (const name of names) await writeFile(join(directory, name), '');
}

/** A machine with nothing but an empty cache and the Python of the script given. */
async function emptyMachine(python?: string): Promise<void> {
  delete process.env.LIBTENSORFLOW_PATH;
  process.env.XDG_CACHE_HOME = join(scratch, 'cache');
  const bin = join(scratch, 'bin');
  await mkdir(bin);
  if (python) await writeFile(join(bin, 'python3'), python, { mode: 0o755 });
  process.env.PATH = bin;
}

describe('LIBTENSORFLOW_PATH', () => {
  it('names the directory', async () => {
    await putLibraries(scratch);
    process.env.LIBTENSORFLOW_PATH = scratch;
    expect(await findLibrary()).toEqual({
      directory: scratch,
      cc: join(scratch, 'libtensorflow_cc.so.2'),
      framework: join(scratch, 'libtensorflow_framework.so.2'),
      version: undefined,
      source: 'LIBTENSORFLOW_PATH',
    });
  });

  it('names a library file', async () => {
    await putLibraries(scratch);
    process.env.LIBTENSORFLOW_PATH = join(scratch, 'libtensorflow_cc.so.2');
    expect(await findLibrary()).toMatchObject({ directory: scratch });
  });

  it('may hold the plain C library of the libtensorflow archives', async () => {
    await putLibraries(scratch, ['libtensorflow.so.2', 'libtensorflow_framework.so.2']);
    process.env.LIBTENSORFLOW_PATH = scratch;
    expect(await findLibrary()).toMatchObject({ cc: join(scratch, 'libtensorflow.so.2') });
  });

  it('that is wrong is an error and not passed over', async () => {
    process.env.LIBTENSORFLOW_PATH = join(scratch, 'nowhere');
    await expect(findLibrary()).rejects.toMatchObject({
      code: 'LIBRARY_NOT_FOUND',
      message: expect.stringContaining('does not exist'),
    });
    process.env.LIBTENSORFLOW_PATH = scratch;
    await expect(findLibrary()).rejects.toMatchObject({
      code: 'LIBRARY_NOT_FOUND',
      message: expect.stringContaining('libtensorflow_cc.so.2 and libtensorflow_framework.so.2'),
    });
  });
});

describe('without LIBTENSORFLOW_PATH', () => {
  it('the cache counts only where both libraries have their full length', async () => {
    await emptyMachine();
    await putLibraries(cacheDirectory());
    expect(await findLibrary()).toBeUndefined();
  });

  it('the cache comes first', async () => {
    await emptyMachine('#!/bin/sh\nexit 1\n');
    const { truncate } = await import('node:fs/promises');
    await putLibraries(cacheDirectory());
    for (const { entry, bytes } of pinnedWheel()?.libraries ?? []) {
      // A sparse file: it has the length and takes no disk.
      await truncate(join(cacheDirectory(), entry.replace('tensorflow/', '')), bytes);
    }
    expect(await findLibrary()).toMatchObject({ source: 'cache', version: PINNED_VERSION });
  });

  it('an installed Python TensorFlow is next, found where Python says, and not imported', async () => {
    const site = join(scratch, 'site');
    const info = join(site, 'tensorflow_cpu-2.99.0.dist-info');
    await putLibraries(join(site, 'tensorflow'));
    await writeFile(join(site, 'tensorflow', '__init__.py'), 'raise SystemExit("imported")');
    await mkdir(info);
    await writeFile(join(info, 'METADATA'), 'Name: tensorflow-cpu\nVersion: 2.99.0\n');
    await emptyMachine();
    process.env.PATH = environment.PATH;
    process.env.PYTHONPATH = site;
    expect(await findLibrary()).toMatchObject({
      directory: join(site, 'tensorflow'),
      version: '2.99.0',
      source: 'python',
    });
  });

  it('a Python that fails or answers nonsense is the same as none', async () => {
    await emptyMachine('#!/bin/sh\necho nonsense\n');
    expect(await findLibrary()).toBeUndefined();
  });

  it('a Python that Ctrl-C ended is an interruption: nothing is fetched', async () => {
    await emptyMachine('#!/bin/sh\nkill -INT $$\n');
    const onProgress = jest.fn();
    await expect(ensureLibrary({ onProgress })).rejects.toMatchObject({
      code: 'LIBRARY_NOT_FOUND',
      message: 'python3 was ended by SIGINT while it was asked where TensorFlow is. Try again.',
    });
    const reason = new Error('interrupted');
    await expect(ensureLibrary({ onProgress, signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
    expect(onProgress).not.toHaveBeenCalled();
  });
});

describe('loading', () => {
  it('tells the version, and is done once', async () => {
    const location = await findLibrary();
    const tensorflow = loadLibrary(location);
    expect(tensorflow.version).toMatch(/^2\.\d+\.\d+/);
    expect(loadLibrary(location)).toBe(tensorflow);
    expect(loadLibrary()).toBe(tensorflow);
  });

  it('of a file that is no library gives the reason of the system', async () => {
    await putLibraries(scratch);
    process.env.LIBTENSORFLOW_PATH = scratch;
    const location = await findLibrary();
    expect(() => loadLibrary(location)).toThrow(
      expect.objectContaining({
        code: 'LIBRARY_LOAD_FAILED',
        message: expect.stringContaining('file too short'),
      }),
    );
  });
});
