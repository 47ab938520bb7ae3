/** A request made up for a model, as a file of samples would hold it. */
import { DEFAULT_SIGNATURE } from '@sagemaker-tfs/tensors';
import { readSavedModel, servingGraph } from '../saved-model/saved-model.ts';
import type { OpenOptions } from '../source/open-options.ts';
import { withSource } from '../source/open-source.ts';
import type { SampleRequest } from './sample-file.ts';
import { isNoSynthetic, syntheticInputs } from './synthetic.ts';
import { syntheticExample } from './synthetic-example.ts';
import { type SyntheticForms, syntheticForms } from './synthetic-request.ts';

/**
 * What a client of the source's first model would most likely send to it, zeros or a plain picture.
 * @returns undefined if none can be made up
 * @throws PackagingError if the source is no model
 */
export async function sampleOfModel(
  source: string,
  options: OpenOptions = {},
): Promise<SampleRequest | undefined> {
  const [first] = (await sampleForms(source, options)).values();
  return first?.();
}

/**
 * The same by the ending of a file's name, in every form that a client could send.
 * @returns an empty map if none can be made up
 * @throws PackagingError if the source is no model
 */
export function sampleForms(source: string, options: OpenOptions = {}): Promise<SyntheticForms> {
  return withSource(source, options, async ({ models }) => {
    const newest = models[0]?.versions.at(-1);
    if (!newest) return new Map();
    const { signatures } = servingGraph(readSavedModel(newest.directory));
    const signature = signatures[DEFAULT_SIGNATURE] ?? Object.values(signatures)[0];
    const inputs =
      signature && syntheticInputs(signature, syntheticExample(newest.directory, signature));
    if (!signature || !inputs || isNoSynthetic(inputs)) return new Map();
    return syntheticForms(signature, inputs, undefined);
  });
}
