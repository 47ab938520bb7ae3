import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '@sagemaker-tfs/libtensorflow';
import { libraryFinding } from './machine.ts';

test('a system for which no library can be fetched is reported', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'doctor-'));
  const { platform } = process;
  const { LIBTENSORFLOW_PATH, XDG_CACHE_HOME, PATH } = process.env;
  const before = { LIBTENSORFLOW_PATH, XDG_CACHE_HOME, PATH };
  Object.assign(process.env, { LIBTENSORFLOW_PATH: '', XDG_CACHE_HOME: empty, PATH: empty });
  Object.defineProperty(process, 'platform', { value: 'darwin' });
  try {
    expect(await libraryFinding()).toMatchObject({
      ok: false,
      detail: `not here, and there is none to fetch for darwin on ${process.arch}`,
      fix: 'use Linux on x86-64 or arm64, for example in a container, or a Mac with Apple silicon',
    });
  } finally {
    Object.defineProperty(process, 'platform', { value: platform });
    for (const [name, value] of Object.entries(before)) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(empty, { recursive: true, force: true });
  }
});
