import { execFileSync } from 'node:child_process';
import { mkdirSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readSavedModel } from '../saved-model/saved-model.ts';
import { readTable } from '../saved-model/sstable.ts';
import { manifestIn } from '../source/manifest-in.ts';
import { useScratch, withCode } from '../testing/scratch.ts';
import { verifyArchive } from '../verify/verify.ts';
import { readWarmup } from '../warmup/warmup.ts';

const scratch = useScratch();

const READERS: readonly [string, (directory: string) => unknown][] = [
  ['saved_model.pb', readSavedModel],
  [
    'variables/variables.index',
    (directory) => readTable(join(directory, 'variables/variables.index')),
  ],
  ['assets.extra/tf_serving_warmup_requests', readWarmup],
  ['code/manifest.json', manifestIn],
];

test.each(READERS)('%s may be no pipe, no directory, and no link to a device', (name, read) => {
  for (const make of ['mkfifo', 'mkdir', 'ln -s /dev/zero']) {
    const path = scratch.path(make, name);
    mkdirSync(dirname(path), { recursive: true });
    const [program = '', ...words] = make.split(' ');
    execFileSync(program, [...words, path]);
    expect(() => read(scratch.path(make))).toThrow(withCode('BAD_FILE_NAME'));
  }
});

test.each(READERS)('%s of 3 GB is refused unread', (name, read) => {
  truncateSync(scratch.write(name, ''), 3e9);
  expect(() => read(scratch.path())).toThrow(withCode('CORRUPT_FILE'));
});

test('a folder with a pipe anywhere is not verified', async () => {
  scratch.model('half_plus_two', '1');
  execFileSync('mkfifo', [scratch.path('1/variables.txt')]);
  await expect(verifyArchive(scratch.path())).rejects.toThrow(withCode('BAD_FILE_NAME'));
});
