/** The workflow files are as GitHub wants them: actionlint, in a process of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const lint = (...files: string[]) =>
  spawnSync(process.execPath, ['packages/lint-workflows.mjs', ...files], {
    cwd: join(__dirname, '..'),
    encoding: 'utf8',
  });

test('the workflows of this repository', () => {
  expect(lint()).toMatchObject({ status: 0, stderr: '' });
});

test('a release is published only after all that a change must pass', () => {
  const release = readFileSync(join(__dirname, '..', '.github/workflows/release.yml'), 'utf8');
  expect(release).toMatch(/^ {2}check:\n {4}uses: \.\/\.github\/workflows\/ci\.yml$/m);
  expect(release).toMatch(/^ {2}npm:\n {4}needs: check$/m);
});

test('what is wrong is found', () => {
  const work = mkdtempSync(join(tmpdir(), 'workflows-'));
  try {
    const file = join(work, 'a.yml');
    writeFileSync(file, 'on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n    stepz: []\n');
    const { status, stderr } = lint(file);
    expect(status).toBe(1);
    expect(stderr).toContain('stepz');
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
});
