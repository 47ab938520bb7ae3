/** A Python with what the tests of the Python client need, installed once. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const CLIENT = join(__dirname, '..', '..', 'client-python');
const PIP = ['-m', 'pip', '--disable-pip-version-check', '--quiet'];

/** The Python of an environment with `client-python/requirements-test.txt`. */
export async function testPython(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'sagemaker-tfs');
  const home = join(cache, 'client-python');
  const wanted = await readFile(join(CLIENT, 'requirements-test.txt'), 'utf8');
  const stamp = join(home, 'requirements.txt');
  const python = join(home, 'bin', 'python');
  if (existsSync(stamp) && (await readFile(stamp, 'utf8')) === wanted) return python;
  await rm(home, { recursive: true, force: true });
  await mkdir(cache, { recursive: true });
  await execute('python3', ['-m', 'venv', home]);
  await execute(python, [...PIP, 'install', '-r', join(CLIENT, 'requirements-test.txt')]);
  await writeFile(`${stamp}.partial`, wanted);
  await rename(`${stamp}.partial`, stamp);
  return python;
}

/** Builds the client's wheel and installs it, as pip does for its users, into `directory`. */
export async function installClient(python: string, directory: string): Promise<void> {
  // The build backend is in the environment: nothing is fetched for it.
  const alone = ['--no-deps', '--no-build-isolation', '--no-cache-dir'];
  await execute(python, [...PIP, 'install', ...alone, '--target', directory, CLIENT]);
}
