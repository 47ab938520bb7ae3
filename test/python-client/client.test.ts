/** The Python client as pip installs it: its types, by itself, and against the runtime and a stand-in of SageMaker. */
import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type RunningRuntime, startRuntime } from 'sagemaker-tfs/development/serving';
import { standIn } from '../../client/test/sagemaker-stand-in.ts';
import type { TestServer } from '../../client/test/servers.ts';
import { fixtureModel } from '../fixtures/index.ts';
import { installClient, testPython } from './python.ts';

const execute = promisify(execFile);
const ROOT = join(__dirname, '..', '..');
const CLIENT = join(ROOT, 'client-python');
const MODELS = ['digits', 'dtypes', 'detection', 'busy'];

let work: string;
let python: string;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'python-client-'));
  python = await testPython();
  await installClient(python, join(work, 'site'));
}, 300_000);

afterAll(() => rm(work, { recursive: true, force: true }));

/** Runs Python with the installed client; a failure throws with all that it printed. */
async function run(args: readonly string[], variables: Record<string, string> = {}, cwd = CLIENT) {
  const env = { PYTHONPATH: join(work, 'site'), PYTHONDONTWRITEBYTECODE: '1', ...variables };
  const { stdout, stderr } = await execute(python, args, {
    cwd,
    env: { ...process.env, ...env },
  });
  return stdout + stderr;
}

/** Number of tests that unittest says it ran. */
function ran(output: string): number {
  return Number(/^Ran (\d+) tests? in/m.exec(output)?.[1]);
}

test('the types are strict, and users get them', async () => {
  await run(['-m', 'mypy', '--cache-dir', join(work, 'mypy')]);
  const program =
    'import sagemaker_tfs_client as c\nreveal_type(c.predict(c.Url(""), "").tensors())\n';
  // Away from the project's own settings of mypy.
  const strict = ['-m', 'mypy', '--strict', '--cache-dir', join(work, 'mypy'), '-c', program];
  const all = await run(strict, { MYPYPATH: join(work, 'site') }, work);
  expect(all).toContain('dict[str, numpy.ndarray[');
});

test('by itself', async () => {
  const all = await run(['-m', 'unittest', 'tests.test_alone']);
  expect(ran(all)).toBeGreaterThan(25);
});

describe('against the runtime', () => {
  let runtime: RunningRuntime;
  let sagemaker: TestServer;

  beforeAll(async () => {
    const modelDirectory = join(work, 'model');
    for (const name of MODELS) {
      await cp(fixtureModel(name).basePath, join(modelDirectory, name), { recursive: true });
    }
    runtime = await startRuntime({
      modelDirectory,
      log: join(work, 'runtime.log'),
      environment: { SAGEMAKER_TFS_DEFAULT_MODEL_NAME: 'digits' },
    });
    sagemaker = await standIn(runtime.url);
  });

  afterAll(async () => {
    await sagemaker?.stop();
    await runtime?.stop();
  });

  test('at its URL and behind an endpoint', async () => {
    const all = await run(['-m', 'unittest', 'tests.test_runtime'], {
      TEST_RUNTIME_URL: runtime.url,
      TEST_SAGEMAKER_URL: sagemaker.url,
    });
    expect(ran(all)).toBeGreaterThan(15);
  });
});

test('its version is that of the packages for Node', async () => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'));
  const project = await readFile(join(CLIENT, 'pyproject.toml'), 'utf8');
  expect(/^version = "(.*)"$/m.exec(project)?.[1]).toBe(version);
});
