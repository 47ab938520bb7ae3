/** SavedModels. */
import { ensureLibrary, SavedModelSession } from '@sagemaker-tfs/libtensorflow';
import { type Case, nearTensor, type Section, tensorOf } from './case.ts';

async function differsAsModel({ directory, inputs, outputs }: Case): Promise<string | undefined> {
  const session = await SavedModelSession.load(directory as string, {
    library: await ensureLibrary(),
  });
  try {
    const given = Object.entries(inputs as Record<string, Case>);
    const tensors = Object.fromEntries(given.map(([name, tensor]) => [name, tensorOf(tensor)]));
    const result = await session.run('serving_default', tensors);
    const wrong = Object.entries(outputs as Record<string, Case>).find(
      ([name, expected]) => !nearTensor(result.outputs[name], expected),
    );
    result.release();
    return wrong && `output ${wrong[0]}`;
  } finally {
    await session.close();
  }
}

/** SavedModels and their answers. */
export const models: readonly Section[] = [
  {
    file: 'models',
    title:
      'SavedModels with lookup tables, control flow, ragged and sparse tensors, XLA, run by the C API',
    reference: 'TensorFlow',
    tolerance: 'floats within 1e-5, else every bit',
    differs: differsAsModel,
  },
];
