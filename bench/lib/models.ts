/** The models of the benchmarks, made once with the user's Python and TensorFlow. */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { ROOT } from './programs.ts';

/** Models that `bench/real-models/make_models.py` makes. */
export type BenchModel =
  | 'mobilenet'
  | 'mobilenet-uint8'
  | 'mobilenet-bytes'
  | 'resnet50'
  | 'detection'
  | 'grids'
  | 'json-row'
  | 'waiting-tiles'
  | 'ready-S'
  | 'ready-S8'
  | 'ready-B'
  | 'ready-Y';

const FOLDER = join(ROOT, '.cache', 'bench-models');
const SCRIPTS = join(ROOT, 'bench', 'real-models');

/**
 * The folder of a model, laid out as SageMaker lays out `/opt/ml/model`; the first call makes it.
 * @throws where there is no Python 3
 */
export async function ensureModel(name: BenchModel): Promise<string> {
  const folder = join(FOLDER, name);
  if (!existsSync(folder)) await makeModel(name, folder);
  return folder;
}

async function makeModel(name: BenchModel, folder: string): Promise<void> {
  process.stderr.write(`Make the model ${name} with TensorFlow (once)\n`);
  const partial = `${FOLDER}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(partial, { recursive: true });
  await mkdir(FOLDER, { recursive: true });
  const python = await pythonWithTensorFlow();
  await execa(python, [join(SCRIPTS, 'make_models.py'), partial, name], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await rename(join(partial, name), folder);
  await rm(partial, { recursive: true });
}

/** `python3` where it has TensorFlow, else an environment made for the purpose. */
async function pythonWithTensorFlow(): Promise<string> {
  const own = await execa('python3', ['-c', 'import tensorflow'], { reject: false });
  if (own.exitCode === 0) return 'python3';
  const home = join(ROOT, '.cache', 'bench-tensorflow');
  const python = join(home, 'bin', 'python');
  if (existsSync(python)) return python;
  const show = { stdio: ['ignore', 'ignore', 'inherit'] as const };
  const partial = `${home}.partial`;
  await rm(partial, { recursive: true, force: true });
  await execa('python3', ['-m', 'venv', partial], show);
  const requirements = join(SCRIPTS, 'requirements.txt');
  await execa(
    join(partial, 'bin', 'python'),
    ['-m', 'pip', 'install', '--quiet', '-r', requirements],
    show,
  );
  await rename(partial, home);
  return python;
}
