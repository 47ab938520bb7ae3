/** Apps with the strictest TypeScript settings can use every construct: the CDK's classes fit all props. */
import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';

test('an ES module app compiles with exactOptionalPropertyTypes and the like', () => {
  const tsc = resolve('node_modules', '.bin', 'tsc');
  const compile = () =>
    execFileSync(tsc, ['-p', 'test/stacks/strict-app'], { encoding: 'utf8', stdio: 'pipe' });
  expect(compile).not.toThrow();
});
