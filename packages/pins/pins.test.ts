/** `npm run pins` in a small repository, with registries that answer as the real ones. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Available, Registries, Wheel } from './registries.ts';
import { Repository } from './repository.ts';
import { pins } from './run.ts';

const hash = (digit: string) => digit.repeat(64);
const digest = (digit: string) => `sha256:${hash(digit)}`;
const DOCKERFILE = `ARG TFS_BASE=docker.io/tensorflow/serving:2.20.0
ARG NODE_BASE=docker.io/library/node:24-slim@${digest('1')}
`;
const TEXTS = {
  'CHANGELOG.md': '# Changelog\n\n## [Unreleased]\n\n### Added\n\n- Before.\n',
  'package.json': '{\n  "dependencies": {\n    "a": "1.2.3",\n    "b": "0.3.1"\n  }\n}\n',
  'container/Dockerfile': DOCKERFILE,
  'container/image/tensorflow-serving.json': JSON.stringify({
    default: '2.20.0',
    releases: [{ versions: ['2.20', '2.21'], runs: true }],
  }).replace('":"', '": "'),
  'container/image/tensorflow.txt': `tensorflow-cpu==2.21.0 --hash=sha256:${hash('a')}\n`,
  'container/image/tensorflow-gpu.txt': `tensorflow==2.21.0 --hash=sha256:${hash('b')}
nvidia-cuda-runtime-cu12==12.5.82 --hash=sha256:${hash('c')}
`,
  'examples/requirements.txt': 'tensorflow-cpu==2.21.0\n',
};

const wheel = (filename: string, sha256: string): Wheel => ({
  filename,
  sha256,
  bytes: 1,
  url: '',
});
const releases = (...list: readonly (readonly [string, ...Wheel[]])[]): Available => {
  const versions = list.map(([version]) => version);
  return { versions, usable: versions, wheels: new Map(list.map(([v, ...files]) => [v, files])) };
};
const LINUX = 'cp311-cp311-manylinux_2_27_x86_64.whl';
const PYPI: Record<string, Available> = {
  'tensorflow-cpu': releases(
    ['2.21.0', wheel(`tensorflow_cpu-2.21.0-${LINUX}`, hash('a'))],
    ['2.22.0', wheel(`tensorflow_cpu-2.22.0-${LINUX.replace('_2_27', '2014')}`, hash('d'))],
    ['2.23.0', wheel(`tensorflow_cpu-2.23.0-${LINUX}`, hash('8'))],
    ['2.24.0', wheel(`tensorflow_cpu-2.24.0-${LINUX.replace('27', '40')}`, hash('9'))],
  ),
  tensorflow: releases(
    ['2.21.0', wheel(`tensorflow-2.21.0-${LINUX}`, hash('b'))],
    [
      '2.22.0',
      wheel('tensorflow-2.22.0-cp311-cp311-macosx_12_0_arm64.whl', hash('7')),
      wheel(`tensorflow-2.22.0-${LINUX}`, hash('e')),
    ],
  ),
  'nvidia-cuda-runtime-cu12': releases(
    [
      '12.5.82',
      wheel('nvidia_cuda_runtime_cu12-12.5.82-py3-none-manylinux1_x86_64.whl', hash('c')),
    ],
    ['12.8.1', wheel('nvidia_cuda_runtime_cu12-12.8.1-py3-none-manylinux1_x86_64.whl', hash('f'))],
    ['12.9.1', wheel('nvidia_cuda_runtime_cu12-12.9.1-py3-none-manylinux1_x86_64.whl', hash('2'))],
  ),
};
const NPM: Record<string, Available> = {
  a: {
    versions: ['1.2.3', '1.9.0', '1.10.0', '2.0.0-rc.1', '2.0.0'],
    usable: ['1.2.3', '1.9.0', '1.10.0', '2.0.0'],
  },
  b: { versions: ['0.3.1', '0.4.0'], usable: ['0.3.1', '0.4.0'] },
};
const REGISTRIES: Registries = {
  npm: async (name) => NPM[name] as Available,
  pypi: async (name) => PYPI[name] as Available,
  requirements: async () => ['nvidia-cuda-runtime-cu12<13.0,>=12.8.1; extra == "and-cuda"'],
  image: async (name) => {
    const versions = name.endsWith('serving')
      ? ['2.20.0', '2.21.1', '2.22.0', '2.21']
      : ['24', '26', '26.1'];
    return { versions, usable: versions };
  },
  digest: async (_, tag) => digest(tag.startsWith('2.21.1') ? '3' : '4'),
  action: async () => ({ versions: [], usable: [] }),
};

let root: string;
let printed: string;
const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@localhost', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** A repository whose lockfile npm need not ask anybody for. */
class WithoutNpm extends Repository {
  override lock(paths: readonly string[]): void {
    if (paths.includes('package.json'))
      writeFileSync(join(this.root, 'package-lock.json'), '"new"\n');
  }
  override install(): void {
    printed += `installed ${readFileSync(join(this.root, 'package-lock.json'), 'utf8')}`;
  }
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pins-'));
  for (const [path, text] of Object.entries({ ...TEXTS, 'package-lock.json': '"old"\n' })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'all');
  printed = '';
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function run(args: readonly string[], registries: Partial<Registries> = {}): Promise<number> {
  return pins(args, {
    repository: new WithoutNpm(root),
    registries: { ...REGISTRIES, ...registries },
    print: (text) => {
      printed += text;
    },
  });
}
/** The cells of a name in the table: pinned, newest, moves, where. */
const row = (name: string) =>
  printed
    .split('\n')
    .find((line) => line.startsWith(`| ${name} |`))
    ?.split(' | ')
    .slice(1);

test('--dry-run shows what is pinned, what is newest and where, and changes nothing', async () => {
  expect(await run(['--dry-run'])).toBe(0);
  expect(row('a')).toEqual(['1.2.3', '2.0.0', '1.10.0', 'package.json:3 |']);
  expect(row('b')).toEqual([
    '0.3.1',
    '0.4.0',
    'no: another major version: --major b',
    'package.json:4 |',
  ]);
  expect(row('tensorflow-cpu')?.slice(0, 3)).toEqual(['2.21.0', '2.24.0', '2.22.0']);
  expect(row('tensorflow')?.slice(0, 3)).toEqual(['2.21.0', '2.22.0', '2.22.0']);
  expect(row('nvidia-cuda-runtime-cu12')?.slice(0, 3)).toEqual(['12.5.82', '12.9.1', '12.8.1']);
  expect(row('docker.io/tensorflow/serving')?.slice(0, 3)).toEqual(['2.20.0', '2.22.0', '2.21.1']);
  expect(row('docker.io/library/node')?.slice(2, 3)).toEqual([
    'no: another major version: --major docker.io/library/node',
  ]);
  expect(git('status', '--porcelain')).toBe('');
});

test('everything moves with its hashes, digests, lockfile and an entry in the changelog', async () => {
  expect(await run(['--check', 'test "$(cat package-lock.json)" = \'"new"\''])).toBe(0);
  expect(read('package.json')).toBe(TEXTS['package.json'].replace('1.2.3', '1.10.0'));
  expect(read('container/image/tensorflow.txt')).toBe(
    `tensorflow-cpu==2.22.0 --hash=sha256:${hash('d')}\n`,
  );
  expect(read('container/image/tensorflow-gpu.txt')).toBe(
    `tensorflow==2.22.0 --hash=sha256:${hash('e')}\nnvidia-cuda-runtime-cu12==12.8.1 --hash=sha256:${hash('f')}\n`,
  );
  expect(read('examples/requirements.txt')).toBe('tensorflow-cpu==2.22.0\n');
  expect(read('container/Dockerfile')).toBe(
    `ARG TFS_BASE=docker.io/tensorflow/serving:2.21.1@${digest('3')}\nARG NODE_BASE=docker.io/library/node:24-slim@${digest('4')}\n`,
  );
  expect(JSON.parse(read('container/image/tensorflow-serving.json'))).toMatchObject({
    default: '2.21.1',
  });
  const [, entry = ''] = /### Added\n\n(- .*)\n- Before\.\n$/.exec(read('CHANGELOG.md')) ?? [];
  for (const part of [
    'a 1.2.3 to 1.10.0',
    'docker.io/library/node:24-slim sha256:111111111111 to sha256:444444444444',
  ])
    expect(entry).toContain(part);
});

test('if what must pass does not pass, everything is as before', async () => {
  expect(await run(['a', 'docker.io/library/node', '--check', 'exit 3'])).toBe(1);
  expect(printed).toContain('ended with 3. Everything is as before.');
  expect(git('status', '--porcelain')).toBe('');
  expect(printed).toContain('installed "old"');
});

test('names limit what moves, and --major lets one of them move further', async () => {
  expect(await run(['b', '--major', 'b', '--check', 'true'])).toBe(0);
  expect(read('package.json')).toBe(TEXTS['package.json'].replace('0.3.1', '0.4.0'));
  expect(read('container/Dockerfile')).toBe(DOCKERFILE);
  await expect(run(['nobody'])).rejects.toThrow('Nothing is pinned by the name nobody');
});

test('a registry that does not answer is named, and the others move', async () => {
  const lost = async () => {
    throw new TypeError('fetch failed', {
      cause: new Error('getaddrinfo ENOTFOUND registry-1.docker.io'),
    });
  };
  expect(await run(['--check', 'true'], { image: lost, digest: lost })).toBe(0);
  expect(printed).toContain('Not reached, so they stay as they are:');
  expect(printed).toContain(
    'docker.io/library/node 24: getaddrinfo ENOTFOUND registry-1.docker.io',
  );
  expect(read('container/Dockerfile')).toBe(DOCKERFILE);
  expect(read('package.json')).toContain('1.10.0');
});

test('a release of TensorFlow Serving whose facts nobody has written stays', async () => {
  const versions = ['2.20.0', '2.22.0'];
  await run(['--dry-run'], { image: async () => ({ versions, usable: versions }) });
  expect(row('docker.io/tensorflow/serving')?.[2]).toBe(
    'no: write the facts of 2.22 into container/image/tensorflow-serving.json first',
  );
});

test('changes that are not committed are refused, as they could not be restored', async () => {
  writeFileSync(join(root, 'package.json'), '{}');
  await expect(run([])).rejects.toThrow('Commit or undo these changes first');
});

test('one name with two versions is refused', async () => {
  writeFileSync(join(root, 'examples/requirements.txt'), 'tensorflow-cpu==2.20.0\n');
  await expect(run(['--dry-run'])).rejects.toThrow(
    'tensorflow-cpu is 2.21.0 in container/image/tensorflow.txt:1 and 2.20.0 in examples/requirements.txt:1',
  );
});
