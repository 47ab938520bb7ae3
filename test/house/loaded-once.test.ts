/**
 * What answers requests asks for a module once. Each `import()` asks the loader again, which takes a millisecond
 * where a handler's hooks run in a thread of their own (Node 20).
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
const ON_THE_WAY =
  /^container\/src\/(backends|codecs|handler|http|images|inference|postprocess|transport)\//;
/** Loads another function's module at the start, or keeps what it loaded itself. */
const AT_THE_START = [
  'container/src/backends/backends.ts',
  'container/src/handler/loader.ts',
  'container/src/http/lazy-invoke.ts',
];

test('modules on the way of a request are loaded once', () => {
  const files = execFileSync('git', ['ls-files', 'container/src'], { cwd: ROOT, encoding: 'utf8' })
    .split('\n')
    .filter((file) => ON_THE_WAY.test(file) && !/\.test\.ts$/.test(file));
  expect(files.length).toBeGreaterThan(100);
  const asks = files.filter((file) =>
    /\bawait import\(/.test(readFileSync(join(ROOT, file), 'utf8')),
  );
  expect(asks.sort()).toEqual(AT_THE_START);
});
