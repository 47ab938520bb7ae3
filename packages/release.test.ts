/** `npm run release` in a copy of the repository: what it writes, and that nothing still names the version before. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');
const NEXT = '99.0.0';
/** What a release reads; the tarballs have tests of their own. */
const COPIED = ['*.md', '*package.json', 'package-lock.json', '*pyproject.toml', 'packages/*.ts'];

let copy: string;
beforeAll(() => {
  copy = mkdtempSync(join(tmpdir(), 'release-'));
  for (const path of git(ROOT, 'ls-files', '-z', ...COPIED)
    .split('\0')
    .filter(Boolean)) {
    cpSync(join(ROOT, path), join(copy, path));
  }
  symlinkSync(join(ROOT, 'node_modules'), join(copy, 'node_modules'));
  edit('package.json', (text) => text.replace(/"packages": ".*"/, '"packages": "node --version"'));
  edit('CHANGELOG.md', (text) => text.replace('## [Unreleased]\n', '$&\n- a change\n'));
  writeFileSync(join(copy, '.gitignore'), 'node_modules\n');
  git(copy, 'init', '--quiet');
  commit();
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

function git(folder: string, ...args: string[]): string {
  const who = ['-c', 'user.name=Test', '-c', 'user.email=test@localhost'];
  return execFileSync('git', [...who, ...args], { cwd: folder, encoding: 'utf8' });
}
function commit(): void {
  git(copy, 'add', '--all');
  git(copy, 'commit', '--quiet', '--message', 'a copy');
}
const read = (path: string) => readFileSync(join(copy, path), 'utf8');
function edit(path: string, change: (text: string) => string): void {
  writeFileSync(join(copy, path), change(read(path)));
}
const release = (...args: string[]) =>
  spawnSync(process.execPath, ['--import', 'tsx', 'packages/release.ts', ...args], {
    cwd: copy,
    encoding: 'utf8',
  });

test('every package, the lockfile, the Python client, the pages and the changelog have the version', () => {
  const { version, workspaces } = JSON.parse(read('package.json'));
  const repository = 'git+https://github.com/owner/name.git';
  expect(release(NEXT)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('--repository'),
  });
  expect(release(NEXT, '--repository', repository)).toMatchObject({ status: 0, stderr: '' });
  for (const room of ['.', ...workspaces]) {
    expect([room, JSON.parse(read(join(room, 'package.json'))).version]).toEqual([room, NEXT]);
  }
  expect(read('package.json')).toContain(repository);
  expect(read('CHANGELOG.md')).toMatch(
    /## \[Unreleased\]\n\n## \[99\.0\.0\] - [-\d]{10}\n\n- a change/,
  );
  expect(read('client-python/pyproject.toml')).toContain(`version = "${NEXT}"`);
  const tarballs = ['grep', '-lE', `sagemaker-tfs(-cdk)?-(${version}|${NEXT})\\.tgz`, '--', '*.md'];
  const pages = git(copy, ...tarballs)
    .trim()
    .split('\n');
  expect(pages).toContain('README.md');
  for (const page of pages) {
    expect(read(page)).toContain(`sagemaker-tfs-${NEXT}.tgz`);
    expect(read(page)).not.toContain(`-${version}.tgz`);
  }
  // What is not committed is not released over.
  expect(release('99.0.1')).toMatchObject({ status: 1, stderr: expect.stringContaining('commit') });
  commit();
  expect(release(NEXT)).toMatchObject({ status: 1, stderr: expect.stringContaining('not after') });
});
