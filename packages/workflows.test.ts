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

test('packages and images are published only after all that a change must pass', () => {
  const workflow = (name: string) =>
    readFileSync(join(__dirname, '..', '.github/workflows', name), 'utf8');
  const release = workflow('release.yml');
  expect(release).toMatch(/^ {2}check:\n {4}uses: \.\/\.github\/workflows\/ci\.yml$/m);
  for (const job of ['npm', 'images']) {
    expect(release).toMatch(new RegExp(`^ {2}${job}:\\n {4}needs: check$`, 'm'));
  }
  // Nothing else starts it.
  expect(workflow('images.yml')).toMatch(/^on:\n( {2}#.*\n)? {2}workflow_call:\npermissions:$/m);
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
