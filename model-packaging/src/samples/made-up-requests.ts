/** Requests made up for a signature, as clients would send them. */
import type { Manifest } from '@sagemaker-tfs/manifest';
import type { Signature } from '@sagemaker-tfs/tensors';
import type { SampleRequest } from './sample-file.ts';
import { isNoSynthetic, type NoSynthetic, syntheticInputs } from './synthetic.ts';
import { syntheticExample } from './synthetic-example.ts';
import { syntheticJson, syntheticRequest } from './synthetic-request.ts';

/**
 * What a client of the signature would most likely send. With a handler also JSON, as what it reads is its own affair: it gets
 * what it may read.
 * @param directory the one with `saved_model.pb`
 */
export function madeUpRequests(
  directory: string,
  signature: Signature,
  manifest: Pick<Manifest, 'handler' | 'preprocess'> | undefined,
  mostBytes?: number,
): readonly SampleRequest[] | NoSynthetic {
  const inputs = syntheticInputs(signature, syntheticExample(directory, signature), mostBytes);
  if (isNoSynthetic(inputs)) return inputs;
  const request = syntheticRequest(signature, inputs, manifest?.preprocess);
  return manifest?.handler === undefined
    ? [request]
    : [request, ...syntheticJson(signature, inputs)];
}

/** The made-up request that was read; if none was, one that was refused rather than failed at. */
export function bestOf<T extends { readonly answer: { readonly status: number } }>(
  answered: readonly T[],
): T {
  const below = (limit: number) => answered.find(({ answer }) => answer.status < limit);
  return below(400) ?? below(500) ?? (answered[0] as T);
}
