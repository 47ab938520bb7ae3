import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { useScratch, withCode } from '../testing/scratch.ts';
import { readWarmup } from '../warmup/warmup.ts';
import { requireRegularFile } from './regular-file.ts';
import { readSavedModel } from './saved-model.ts';
import { readTable } from './sstable.ts';

const scratch = useScratch();

test.each<[string, (directory: string) => unknown]>([
  ['saved_model.pb', readSavedModel],
  [
    'variables/variables.index',
    (directory) => readTable(join(directory, 'variables/variables.index')),
  ],
  ['assets.extra/tf_serving_warmup_requests', readWarmup],
])('%s may be no pipe', (name, read) => {
  const path = scratch.path(name);
  mkdirSync(dirname(path), { recursive: true });
  execFileSync('mkfifo', [path]);
  expect(() => read(scratch.path())).toThrow(withCode('BAD_FILE_NAME'));
});

test("a file that is not there is the reader's to say", () => {
  expect(() => requireRegularFile(scratch.path('none'))).toThrow(/ENOENT/);
});
