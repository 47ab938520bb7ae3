/** A real `tensorflow_model_server` for `npm run with-real-server`: a program here, or the one of an image. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { access, chmod, mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

const PROGRAM = 'tensorflow_model_server';
/** Where the images of TensorFlow Serving have it. */
const IN_IMAGE = 'usr/bin/tensorflow_model_server';
/** What the program needs of an image; models, Python and documents stay there. */
const LEFT_OUT = ['proc', 'sys', 'dev', 'tmp', 'models', 'usr/share', 'usr/lib/python*', 'var'];
/** What can unpack an image here. */
const ENGINES: readonly string[] = ['docker', 'podman'];
const TRIPLES: Readonly<Record<string, string>> = {
  x64: 'x86_64-linux-gnu',
  arm64: 'aarch64-linux-gnu',
};

/** Where the server comes from: one of the two. */
export type ServerSource = { readonly image: string } | { readonly binary: string };

/** A server to try. */
export interface RealServer {
  /** Directory for the front of PATH; it holds `tensorflow_model_server` alone. */
  readonly bin: string;
  /** The image with its digest, or the path of the program. */
  readonly from: string;
  readonly sha256: string;
  /** What `--version` prints. */
  readonly version: string;
  /** Removes what was made for it. */
  remove(): Promise<void>;
}

/**
 * Makes it ready to start by name.
 * @param engines programs that can unpack an image, the first that works is used
 * @throws Error if there is none, or it does not print its version
 */
export async function prepareServer(source: ServerSource, engines = ENGINES): Promise<RealServer> {
  const directory = await mkdtemp(join(tmpdir(), 'real-model-server-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    const bin = join(directory, 'bin');
    await mkdir(bin);
    const { from, program, script } =
      'image' in source
        ? await ofImage(source.image, directory, engines)
        : await ofBinary(resolve(source.binary));
    await writeFile(join(bin, PROGRAM), script, { mode: 0o755 });
    const { stdout } = await run(join(bin, PROGRAM), ['--version']);
    return { bin, from, sha256: await sha256Of(program), version: stdout.trim(), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** A server's program, and the script that becomes it. */
interface Found {
  readonly from: string;
  readonly program: string;
  readonly script: string;
}

async function ofBinary(path: string): Promise<Found> {
  const program = (await stat(path)).isDirectory() ? join(path, PROGRAM) : path;
  await access(program);
  return { from: program, program, script: scriptOf([program]) };
}

/**
 * Unpacks the image and runs its program as a process of this machine, with the image's own loader and libraries: the
 * tests send it signals and share sockets and files with it, which a container would not let them.
 */
async function ofImage(
  image: string,
  directory: string,
  engines: readonly string[],
): Promise<Found> {
  const root = join(directory, 'image');
  await mkdir(root);
  const from = await unpack(image, root, await engineHere(engines));
  const program = join(root, IN_IMAGE);
  await access(program).catch(() => {
    throw new Error(`${image} has no /${IN_IMAGE}; name an image of TensorFlow Serving`);
  });
  await chmod(program, 0o755);
  if (!(await isElf(program))) return { from, program, script: scriptOf([program]) };
  const triple = TRIPLES[process.arch] ?? '';
  const libraries = ['lib', 'usr/lib'].map((path) => join(root, path, triple));
  const loader = `ld-linux-${process.arch === 'x64' ? 'x86-64.so.2' : 'aarch64.so.1'}`;
  const command = [join(root, 'lib', triple, loader), '--library-path'];
  const cuda = ['usr/local/cuda/lib64', 'usr/local/nvidia/lib64'].map((path) => join(root, path));
  const all = [...libraries, ...cuda, `/usr/lib/${triple}`];
  return { from, program, script: scriptOf([...command, all.join(':'), program]) };
}

/** @returns the image's name and id */
async function unpack(image: string, root: string, engine: string): Promise<string> {
  const container = (await run(engine, ['create', image])).stdout.trim();
  try {
    await exportInto(engine, container, root);
  } finally {
    await run(engine, ['rm', container]).catch(() => undefined);
  }
  const inspect = run(engine, ['image', 'inspect', '--format', '{{.Id}}', image]);
  const { stdout } = await inspect.catch(() => ({ stdout: '' }));
  return `${image} ${stdout.trim()}`.trim();
}

async function exportInto(engine: string, container: string, root: string): Promise<void> {
  const leftOut = LEFT_OUT.map((path) => `--exclude=${path}`);
  const exporting = spawn(engine, ['export', container], { stdio: ['ignore', 'pipe', 'inherit'] });
  const unpacking = spawn('tar', ['-x', '-C', root, '--no-same-owner', '--anchored', ...leftOut], {
    stdio: ['pipe', 'inherit', 'inherit'],
  });
  const ends = Promise.all([once(exporting, 'close'), once(unpacking, 'close')]);
  await pipeline(exporting.stdout, unpacking.stdin);
  if ((await ends).some(([status]) => status !== 0))
    throw new Error(`${engine} export ${container} could not be unpacked into ${root}`);
}

async function engineHere(engines: readonly string[]): Promise<string> {
  for (const engine of engines) {
    const works = run(engine, ['version']).then(
      () => true,
      () => false,
    );
    if (await works) return engine;
  }
  throw new Error(`--image needs ${engines.join(' or ')} here; --binary takes a program`);
}

function scriptOf(command: readonly string[]): string {
  const quoted = command.map((word) => `'${word.replaceAll("'", "'\\''")}'`);
  return `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`;
}

async function isElf(path: string): Promise<boolean> {
  const file = await open(path);
  try {
    const { buffer } = await file.read(Buffer.alloc(4), 0, 4, 0);
    return buffer.toString('latin1') === '\x7fELF';
  } finally {
    await file.close();
  }
}

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
