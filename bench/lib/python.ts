/** The Python front end's own environment, made once with the user's Python. */
import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';

/** Where the programs and the generated protobuf modules lie. */
interface PythonFrontEnd {
  readonly bin: string;
  readonly protos: string;
}

/** Installs the pinned requirements and compiles the protobuf messages. @throws where there is no Python 3 */
export async function ensurePythonFrontEnd(root: string): Promise<PythonFrontEnd> {
  const home = join(root, '.cache', 'bench-python');
  const found = { bin: join(home, 'venv', 'bin'), protos: join(home, 'protos') };
  if (existsSync(found.protos)) return found;
  process.stderr.write('Install the Python front end (once)\n');
  await rm(home, { recursive: true, force: true });
  await mkdir(home, { recursive: true });
  const show = { stdio: ['ignore', 'ignore', 'inherit'] as const };
  await execa('python3', ['-m', 'venv', join(home, 'venv')], show);
  const python = join(found.bin, 'python');
  const requirements = join(root, 'bench', 'python-front-end', 'requirements.txt');
  await execa(python, ['-m', 'pip', 'install', '--quiet', '-r', requirements], show);
  const partial = `${found.protos}.partial`;
  await mkdir(partial);
  const protos = join(root, 'tensors', 'proto');
  const files = ['tensorflow.proto', 'serving.proto', 'error_codes.proto'];
  await execa(
    python,
    ['-m', 'grpc_tools.protoc', `-I${protos}`, `--python_out=${partial}`, ...files],
    show,
  );
  await rename(partial, found.protos);
  return found;
}
