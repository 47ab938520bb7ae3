/** What the command says on a Node that cannot run it. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const PROGRAM = join(__dirname, '../bin/sagemaker-tfs.js');

/** Runs the entry of the command as if Node had this version. */
function runOn(version: string) {
  const faked = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${version}' } });`;
  const preload = `data:text/javascript,${encodeURIComponent(faked)}`;
  const argv = ['--import', preload, PROGRAM, '--version'];
  const { status, stdout, stderr } = spawnSync(process.execPath, argv, { encoding: 'utf8' });
  return { status, stdout, stderr };
}

test.each(['12.22.12', '18.20.4', '20.18.3'])('Node %s is refused in one line', (version) => {
  expect(runOn(version)).toEqual({
    status: 1,
    stdout: '',
    stderr: `sagemaker-tfs needs Node 20.19 or later, this is ${version}. Install a newer one from https://nodejs.org.\n`,
  });
});

test.each(['20.19.0', '22.0.0', '100.1.0'])('Node %s runs the command', (version) => {
  expect(runOn(version).stderr).not.toContain('needs Node');
});
