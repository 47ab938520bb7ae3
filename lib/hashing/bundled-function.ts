/** Code of the Lambda functions of this package, bundled when the package is built. */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs';
import { ConstructError } from '../errors.ts';
import { PACKAGE_ROOT } from '../package-root.ts';
import { StagedCode } from './staged-code.ts';

/** The functions; `build.mjs` bundles each to `dist/functions/<name>.js`. */
export type FunctionName = 'authorizer' | 'drift' | 'shards' | 'smoke-test' | 'stop-jobs';

/**
 * Props of a `NodejsFunction`. Its own bundling would hash the path of the checkout along with the sources, or
 * bundle at every synthesis.
 * @throws ConstructError BUILD_INCOMPLETE if the package has not been built
 */
export function bundledFunction(name: FunctionName): Pick<NodejsFunctionProps, 'code' | 'handler'> {
  const file = join(PACKAGE_ROOT, 'dist', 'functions', `${name}.js`);
  if (!existsSync(file)) {
    throw new ConstructError('BUILD_INCOMPLETE', `${file} is missing. Run 'npm run build' first.`);
  }
  const code = new StagedCode({
    sourcePath: dirname(file),
    assetHash: createHash('sha256').update(readFileSync(file)).digest('hex'),
    write: (directory) => copyFileSync(file, join(directory, 'index.js')),
  });
  return { code, handler: 'index.handler' };
}
