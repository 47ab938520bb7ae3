/**
 * Before all tests: the programs are those of the sources as they are now, the TensorFlow library is on this machine,
 * fetched once with progress where it is not, and temporary files have a folder of their own.
 */
import { ensureLibrary, progressBar } from '@sagemaker-tfs/libtensorflow';
import { freshBundles } from '../../bin/fresh-bundles.js';
import { useOwnTemporary } from './temporary.ts';

export default async function prepareTests(): Promise<void> {
  freshBundles(['cli', 'container', 'local-model-server', 'lib']);
  const bar = progressBar();
  const library = await ensureLibrary({ onProgress: bar.onProgress }).finally(bar.stop);
  process.env.LIBTENSORFLOW_PATH = library.directory;
  // aws-cdk-lib's validation of templates takes half the time of a test that synthesizes: one file of tests turns it on.
  process.env.CDK_VALIDATION = 'false';
  useOwnTemporary();
}
