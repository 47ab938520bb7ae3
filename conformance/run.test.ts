import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

test('a section that is not there is refused, with those that are', () => {
  const args = ['--import', 'tsx', join(__dirname, 'run.ts'), '--only', 'images,picures'];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  expect({ status, stdout, stderr }).toEqual({
    status: 2,
    stdout: '',
    stderr: expect.stringMatching(/^No section picures\. Use of: arrays, .*\bimages, .*\.\n$/),
  });
});
