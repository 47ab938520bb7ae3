/** A Lambda function's code from a module of this package, bundled again only when its sources change. */
import { dirname, join } from 'node:path';
import type { NodejsFunctionProps } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { Construct } from 'constructs';
import { buildSync } from 'esbuild';
import { PACKAGE_ROOT } from '../package-root.ts';
import { hashModule } from './module-files.ts';
import { StagedCode } from './staged-code.ts';

/** In Lambda's runtime already. */
const RUNTIME_MODULES = ['@aws-sdk/*', '@smithy/*'];

/**
 * Props of a `NodejsFunction` for a module that exports `handler`. Its own bundling would hash the path of the
 * checkout along with the sources, or bundle at every synthesis.
 * @param module relative to this package
 */
export function bundledModule(
  scope: Construct,
  module: string,
): Pick<NodejsFunctionProps, 'code' | 'handler'> {
  const entry = join(PACKAGE_ROOT, module);
  const assetHash = hashModule(scope, entry, RUNTIME_MODULES);
  const code = new StagedCode({
    sourcePath: dirname(entry),
    assetHash,
    write: (directory) => bundle(entry, join(directory, 'index.js')),
  });
  return { code, handler: 'index.handler' };
}

function bundle(entry: string, outfile: string): void {
  buildSync({
    entryPoints: [entry],
    outfile,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'cjs',
    external: RUNTIME_MODULES,
    logLevel: 'silent',
  });
}
