/**
 * `npm run image`: builds the real Dockerfile, starts the result with a real model, and asks it from inside; the same
 * with the Dockerfile of an image that holds the model, without an archive.
 * Needs buildah and debootstrap and to be root; the bases are stand-ins (see stand-in-base.ts).
 */
import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ensureLibrary } from '@sagemaker-tfs/libtensorflow';
import { layOut, packageModel } from '@sagemaker-tfs/model-packaging';
import { execa } from 'execa';
import { freePort, freePortRange } from 'sagemaker-tfs/development/serving';
import { bakedContext } from './baked-context.ts';
import { buildah, type Run, runIn } from './buildah.ts';
import { makeStandInBase, STAND_IN_BASE } from './stand-in-base.ts';

const root = join(import.meta.dirname, '..', '..');
const IMAGE = 'localhost/sagemaker-tfs-serving';
const BAKED = 'localhost/sagemaker-tfs-baked';
const SAMPLE = 'examples/digits/samples';

/** Of what is bundled, of Node, and of libvips. TensorFlow Serving's are its base's; the library's, of `in-process`. */
const LICENSES = [
  '/opt/sagemaker-tfs/dist/THIRD-PARTY-LICENSES.txt',
  '/opt/sagemaker-tfs/node_modules/sharp/LICENSE',
  '/licenses/node/LICENSE',
  ...['README.md', 'LGPL-3', 'GPL-3', 'MPL-1.1'].map((name) => `/licenses/libvips/${name}`),
];

/** What the image says about itself, as `buildah inspect` prints it. */
interface ImageConfig {
  readonly User: string;
  readonly Entrypoint: string[];
  readonly Labels: Record<string, string>;
}

async function main(): Promise<void> {
  for (const tool of ['buildah', 'debootstrap']) {
    const found = await execa('which', [tool], { reject: false });
    if (found.exitCode !== 0)
      throw new Error(`${tool} is not here; on Debian: apt-get install ${tool}`);
  }
  console.log('Base image');
  await makeStandInBase(root);
  console.log('Build container/Dockerfile');
  await build();
  const config = await inspect();
  assert.equal(config.User.split(':')[0], '0', 'SageMaker asks for images that run as root');
  assert.equal(config.Labels['com.amazonaws.sagemaker.capabilities.multi-models'], 'true');
  await checkBillOfMaterials();
  console.log('Serve examples/digits from the image');
  await withArchive((model) => serve(IMAGE, config, model));
  console.log('Build the image that holds the model, and serve it without an archive');
  await withFolder(async (work) => {
    await buildBaked(join(work, 'assembly'));
    // What SageMaker has at /opt/ml/model for a model without data.
    const empty = join(work, 'empty');
    await mkdir(empty);
    await serve(BAKED, config, empty);
  });
  console.log('Both images build, start without root, and answer /ping and /invocations.');
}

async function build(): Promise<void> {
  const bases = ['TFS_BASE', 'NODE_BASE', 'PYTHON_BASE'].flatMap((name) => [
    '--build-arg',
    `${name}=${STAND_IN_BASE}`,
  ]);
  await buildah(
    [
      'build',
      '--isolation',
      'chroot',
      '--format',
      'docker',
      '--target',
      'model-server',
      ...bases,
      '--tag',
      IMAGE,
      join(root, 'container'),
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
}

/** The last stage of the Dockerfile that the CDK builds; the stage below it is the image that is here already. */
async function buildBaked(outdir: string): Promise<void> {
  const { directory, target } = bakedContext(root, outdir);
  await buildah(
    [
      'build',
      '--isolation',
      'chroot',
      '--format',
      'docker',
      '--target',
      target,
      '--build-context',
      `model-server=container-image://${IMAGE}`,
      '--tag',
      BAKED,
      directory,
    ],
    { stdio: ['ignore', 'inherit', 'inherit'] },
  );
}

async function inspect(): Promise<ImageConfig> {
  const { stdout } = await buildah(['inspect', '--type', 'image', IMAGE]);
  const image = JSON.parse(String(stdout)) as { OCIv1: { config: ImageConfig } };
  return image.OCIv1.config;
}

/** The image names what it holds: bundled, with native code, of the distribution, and TensorFlow Serving. */
async function checkBillOfMaterials(): Promise<void> {
  const container = String((await buildah(['from', '--pull-never', IMAGE])).stdout).trim();
  try {
    const print = runIn(container, { volumes: {}, variables: {} });
    const { stdout } = await print(['cat', '/opt/sagemaker-tfs/sbom.cdx.json']);
    const bom = JSON.parse(String(stdout)) as Record<string, unknown> & {
      components: {
        purl: string;
        'bom-ref': string;
        licenses?: unknown[];
        hashes?: { content: string }[];
      }[];
    };
    assert.equal(bom.bomFormat, 'CycloneDX');
    const purls = bom.components.map(({ purl }) => purl);
    assert.equal(new Set(purls).size, purls.length, 'each component once');
    for (const start of [
      'pkg:generic/node@24',
      'pkg:generic/tensorflow-serving@',
      'pkg:npm/pino@',
      'pkg:npm/sharp@',
      'pkg:npm/%40julusian/jpeg-turbo@',
      'pkg:deb/debian/libc6@',
    ]) {
      assert.ok(
        purls.some((purl) => purl.startsWith(start)),
        `${start} in the bill of materials`,
      );
    }
    const licensed = bom.components.filter(({ licenses }) => licenses).map(({ purl }) => purl);
    const hashed = bom.components.filter(({ hashes }) => hashes?.[0]?.content);
    for (const start of ['pkg:generic/node@', 'pkg:npm/sharp@']) {
      assert.ok(
        hashed.some(({ purl }) => purl.startsWith(start)),
        `the hash of ${start}`,
      );
    }
    for (const start of ['pkg:generic/', 'pkg:npm/sharp@', 'pkg:deb/debian/']) {
      assert.ok(
        licensed.some((purl) => purl.startsWith(start)),
        `the licence of ${start}`,
      );
    }
    for (const file of LICENSES) await print(['test', '-s', file]);
  } finally {
    await buildah(['rm', container]);
  }
}

async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'sagemaker-tfs-image-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** With a packaged model, laid out as SageMaker does. */
function withArchive(work: (model: string) => Promise<void>): Promise<void> {
  return withFolder(async (folder) => {
    const model = join(folder, 'model');
    await mkdir(model);
    const archive = join(folder, 'model.tar.gz');
    await packageModel({
      models: [{ name: 'digits', source: join(root, 'examples/digits/model') }],
      handler: join(root, 'examples/digits/inference.ts'),
      out: archive,
    });
    await layOut(archive, model);
    await work(model);
  });
}

/** @param model what is at `/opt/ml/model` */
async function serve(image: string, config: ImageConfig, model: string): Promise<void> {
  const library = await ensureLibrary();
  // Without network namespaces the container's ports are this machine's.
  const port = await freePort();
  const modelServerPort = await freePortRange(2);
  const container = String((await buildah(['from', '--pull-never', image])).stdout).trim();
  const inside = runIn(container, {
    volumes: {
      [model]: '/opt/ml/model',
      [library.directory]: '/opt/libtensorflow',
      [join(root, SAMPLE)]: '/samples',
    },
    variables: {
      SAGEMAKER_BIND_TO_PORT: String(port),
      SAGEMAKER_SAFE_PORT_RANGE: `${modelServerPort}-${modelServerPort + 1}`,
      LIBTENSORFLOW_PATH: '/opt/libtensorflow',
    },
  });
  const server = inside([...config.Entrypoint, 'serve']);
  server.catch(() => undefined);
  try {
    const answer = await askFromInside(inside, port);
    assert.equal(answer.digit, answer.expected, 'the digit in the picture');
  } finally {
    server.kill('SIGTERM');
    await Promise.race([server.catch(() => undefined), sleep(15_000)]);
    server.kill('SIGKILL');
    await buildah(['rm', container]);
  }
}

/** Run by the image's own Node: waits for /ping, sends one sample, prints what came back. */
const ASK = `
const [port, folder] = process.argv.slice(1);
const { readdirSync, readFileSync } = require('node:fs');
(async () => {
  for (let left = 240; ; left--) {
    const ping = await fetch('http://127.0.0.1:' + port + '/ping').catch(() => undefined);
    if (ping && ping.ok) break;
    if (left === 0) throw new Error('not healthy: ' + (ping ? await ping.text() : 'nothing listens'));
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  const name = readdirSync(folder).filter((file) => /-[0-9][.](png|jpg)$/.test(file))[0];
  const response = await fetch('http://127.0.0.1:' + port + '/invocations', {
    method: 'POST', headers: { 'content-type': 'application/x-image' }, body: readFileSync(folder + '/' + name),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  console.log(JSON.stringify({ digit: JSON.parse(text).predictions[0].digit, expected: Number(/-([0-9])[.]/.exec(name)[1]) }));
})().catch((error) => { console.error(error); process.exit(1); });
`;

async function askFromInside(
  inside: Run,
  port: number,
): Promise<{ digit: number; expected: number }> {
  const { stdout } = await inside(['node', '-e', ASK, String(port), '/samples']);
  return JSON.parse(String(stdout));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
