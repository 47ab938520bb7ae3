/** Converts Keras files to SavedModels with the user's Python TensorFlow. */

import type { OpenOptions } from './open-options.ts';
import { runPython } from './run-python.ts';

/**
 * Writes the SavedModel of a `.keras` or `.h5` file to `directory`.
 * @throws PackagingError PYTHON_TENSORFLOW if there is none, CONVERSION_FAILED with Python's message
 */
export async function convertKeras(
  file: string,
  directory: string,
  { signal, onStep }: OpenOptions,
): Promise<void> {
  await runPython('convert_keras.py', {
    purpose: `converting ${file}`,
    input: file,
    output: directory,
    signal,
    onStep,
  });
}
