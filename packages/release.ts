/**
 * `npm run release -- 0.2.0`: the version in every package and on every page, the changelog's heading and the tarballs. It commits and
 * publishes nothing: it says what is left to do. The first time, `--repository git+https://github.com/OWNER/NAME.git`
 * says where the sources are; package.json keeps it.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  releasedChangelog,
  repositoryOf,
  requireLater,
  versioned,
  versionedLock,
  versionedPage,
  versionedPyproject,
} from './version.ts';

const ROOT = join(import.meta.dirname, '..');

type Fields = Record<string, unknown>;

const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const readJson = (path: string) => JSON.parse(read(path)) as Fields;
const write = (path: string, text: string) => writeFileSync(join(ROOT, path), text);
const writeJson = (path: string, value: Fields) =>
  write(path, `${JSON.stringify(value, null, 2)}\n`);

function requireClean(): void {
  const changes = execFileSync('git', ['status', '--porcelain'], { cwd: ROOT, encoding: 'utf8' });
  if (changes !== '') throw new Error(`commit or undo these changes first:\n${changes}`);
}

/** Every page of the repository. */
function pages(): string[] {
  const args = ['ls-files', '-z', '*.md'];
  const listed = execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return listed.split('\0').filter((path) => path !== '' && path !== 'CHANGELOG.md');
}

function main(): void {
  const { positionals, values } = parseArgs({
    options: { repository: { type: 'string' } },
    allowPositionals: true,
  });
  const [version = ''] = positionals;
  const root = readJson('package.json');
  const repository = repositoryOf(root.repository, values.repository);
  requireLater(version, String(root.version));
  requireClean();
  const rooms = root.workspaces as string[];
  const date = new Date().toISOString().slice(0, 10);
  const changelog = releasedChangelog(read('CHANGELOG.md'), version, date);
  for (const path of ['package.json', ...rooms.map((room) => `${room}/package.json`)]) {
    writeJson(path, versioned(readJson(path), version));
  }
  writeJson('package.json', { ...readJson('package.json'), repository });
  writeJson('package-lock.json', versionedLock(readJson('package-lock.json'), rooms, version));
  write(
    'client-python/pyproject.toml',
    versionedPyproject(read('client-python/pyproject.toml'), version),
  );
  write('CHANGELOG.md', changelog);
  for (const path of pages()) {
    write(path, versionedPage(read(path), String(root.version), version));
  }
  execFileSync('npm', ['run', 'packages'], { cwd: ROOT, stdio: 'inherit' });
  process.stdout.write(
    `\nNext:\n  git commit --all --message 'Release ${version}'\n  git tag v${version}\n  git push --follow-tags origin main v${version}\nOnce the tag has passed CI, its workflow publishes packages and images.\n`,
  );
}

try {
  main();
} catch (error) {
  process.stderr.write(`release: ${(error as Error).message}\n`);
  process.exitCode = 1;
}
