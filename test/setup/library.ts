/**
 * Before all tests: the programs are those of the sources as they are now, and the TensorFlow library is on this
 * machine, fetched once with progress where it is not.
 */
import { ensureLibrary, progressBar } from '@sagemaker-tfs/libtensorflow';
import { freshBundles } from '../../bin/fresh-bundles.js';

export default async function prepareTests(): Promise<void> {
  freshBundles(['cli', 'container', 'local-model-server', 'lib']);
  const bar = progressBar();
  const library = await ensureLibrary({ onProgress: bar.onProgress }).finally(bar.stop);
  process.env.LIBTENSORFLOW_PATH = library.directory;
}
