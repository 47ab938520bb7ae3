/** What to try each signature of a model with. */
import { DEFAULT_SIGNATURE } from '@sagemaker-tfs/tensors';
import { readManifest } from '../archive/lay-out.ts';
import { canBeAsked, UNASKED } from '../inspect/can-be-asked.ts';
import { declaredSample } from '../samples/declared-sample.ts';
import { madeUpRequests } from '../samples/made-up-requests.ts';
import type { SampleRequest } from '../samples/sample-file.ts';
import { writingSignatures } from '../saved-model/run-traits.ts';
import { readSavedModel, servingGraph } from '../saved-model/saved-model.ts';
import { withSource } from '../source/open-source.ts';

/** Bytes of an input at most: SageMaker carries no more in a request, and larger ones take longer than people wait. */
const MAX_BYTES = 25e6;

/** One signature of a model's newest version. */
export interface SignatureTrial {
  readonly model: string;
  readonly signature: string;
  /** What the handler declares; else made up, the likeliest first; or why there are none. */
  readonly requests: readonly SampleRequest[] | { readonly reason: string };
}

/**
 * Every signature that clients can call, with requests for it. What a handler declares it takes is tried on the default one alone:
 * the handler decides which it means. Those that would change the model have none: later
 * answers would be other ones.
 * @param directory where models are laid out, with the package's manifest if there is one
 * @throws PackagingError if it holds no model
 */
export async function signatureTrials(directory: string): Promise<SignatureTrial[]> {
  const manifest = await readManifest(directory);
  return withSource(directory, {}, async ({ models }) =>
    models.flatMap(({ name: model, versions }) => {
      const newest = versions.at(-1)?.directory;
      if (newest === undefined) return [];
      const { signatures } = servingGraph(readSavedModel(newest));
      const writing = writingSignatures(newest, signatures);
      const usual = (signatures[DEFAULT_SIGNATURE] ?? Object.values(signatures)[0])?.key ?? '';
      const declared = declaredSample(directory, manifest, usual);
      const callable = Object.values(signatures).filter(({ key }) => !key.startsWith('__'));
      return callable.map((signature): SignatureTrial => {
        const { key } = signature;
        const reason = writing.has(key)
          ? 'it writes variables of the model'
          : !canBeAsked(signature, manifest)
            ? UNASKED
            : Object.keys(signature.inputs).length === 0
              ? 'it takes no inputs'
              : declared && key !== usual
                ? 'the handler declares its requests, which were tried on another one'
                : undefined;
        const requests = reason
          ? { reason }
          : declared
            ? [declared]
            : madeUpRequests(newest, signature, manifest, MAX_BYTES);
        return { model, signature: key, requests };
      });
    }),
  );
}
