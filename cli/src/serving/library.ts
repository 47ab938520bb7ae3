/** The TensorFlow library on this machine, fetched where it is not here, with progress on stderr. */
import { ensureLibrary, type LibraryLocation, progressBar } from '@sagemaker-tfs/libtensorflow';
import { isQuiet } from '../output/quiet.ts';

/**
 * @param signal ends the fetch; the terminal is left as it was
 * @throws LibTensorFlowError if it can be neither found nor fetched
 */
export async function libraryHere(signal?: AbortSignal): Promise<LibraryLocation> {
  const stop = signal && { signal };
  if (isQuiet()) return ensureLibrary({ ...stop });
  const bar = progressBar();
  return ensureLibrary({ onProgress: bar.onProgress, ...stop }).finally(bar.stop);
}
