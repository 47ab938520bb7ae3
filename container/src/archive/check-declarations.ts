/** Checks a package's preprocess and postprocess against the model that is really loaded. */
import { checkPostprocess, checkPreprocess } from '@sagemaker-tfs/manifest';
import type { SignatureMap } from '@sagemaker-tfs/tensors';
import { StartError } from '../errors.ts';
import type { Archive } from './archive.ts';

/**
 * A declaration must fit at least one signature, the one that requests will mean.
 * @throws StartError ARCHIVE_INVALID naming every field that does not fit
 */
export function checkDeclarations({ manifest }: Archive, signatures: SignatureMap): void {
  const { preprocess, postprocess } = manifest ?? {};
  if (!preprocess && !postprocess) return;
  const problems = Object.values(signatures).map((signature) => [
    ...(preprocess ? checkPreprocess(preprocess, signature) : []),
    ...(postprocess ? checkPostprocess(postprocess, signature) : []),
  ]);
  const best = problems.reduce((a, b) => (b.length < a.length ? b : a), problems[0] ?? []);
  if (best.length === 0) return;
  throw new StartError(
    'ARCHIVE_INVALID',
    `code/manifest.json does not fit the model: ${best.map(({ field, message }) => `${field}: ${message}`).join('; ')}`,
  );
}
