/** Sample and golden files as a Lambda layer: the function needs neither S3 nor a network to read them. */
import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { jsonText } from '@sagemaker-tfs/tensors';
import { LayerVersion, type Runtime } from 'aws-cdk-lib/aws-lambda';
import type { Construct } from 'constructs';
import { FileCache } from '../hashing/file-cache.ts';
import { StagedCode } from '../hashing/staged-code.ts';
import { PACKAGE_ROOT } from '../package-root.ts';
import type { Expectation, SmokeTestSample } from './plan.ts';

/** Where Lambda mounts the files. */
export const SAMPLES_DIR = '/opt/samples';

/** Samples whose files are named as in the layer, and the layer. */
interface SamplesLayer {
  readonly samples: readonly SmokeTestSample[];
  /** Undefined if there are no samples. */
  readonly layer: LayerVersion | undefined;
}

/** Puts every file that the samples name into a layer, under a name that changes with its content. */
export function createSamplesLayer(
  scope: Construct,
  runtime: Runtime,
  samples: readonly SmokeTestSample[],
): SamplesLayer {
  const cache = new FileCache();
  const files = new Map<string, string>();
  const add = (file: string) => {
    const name = `${cache.sha256(file).slice(0, 16)}-${basename(file)}`;
    files.set(name, resolve(file));
    return name;
  };
  const renamed = samples.map((sample) => ({
    ...sample,
    file: add(sample.file),
    ...(sample.expect && { expect: sample.expect.map((item) => planned(item, add)) }),
  }));
  cache.save();
  if (files.size === 0) return { samples: renamed, layer: undefined };
  const layer = new LayerVersion(scope, 'Samples', {
    description: 'Requests of the smoke test, and expected answers',
    compatibleRuntimes: [runtime],
    code: new StagedCode({
      sourcePath: PACKAGE_ROOT,
      assetHash: [...files.keys()].sort().join('\n'),
      write: (directory) => copyAll(files, join(directory, 'samples')),
    }),
  });
  return { samples: renamed, layer };
}

/** As the function gets it: with files of the layer, and values as JSON of their own, which the plan's would lose NaN of. */
function planned(expectation: Expectation, add: (file: string) => string): Expectation {
  if ('golden' in expectation) return { ...expectation, golden: add(expectation.golden) };
  if ('equals' in expectation) return { ...expectation, equals: jsonText(expectation.equals) };
  return expectation;
}

function copyAll(files: ReadonlyMap<string, string>, directory: string): void {
  mkdirSync(directory);
  for (const [name, file] of files) copyFileSync(file, join(directory, name));
}
