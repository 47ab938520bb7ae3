/** How a signature of a report takes pictures. */
import {
  ManifestError,
  type Preprocess,
  type ResolvedPreprocess,
  resolvePreprocess,
} from '@sagemaker-tfs/manifest';
import { DTYPES, type DType, type Signature } from '@sagemaker-tfs/tensors';
import type { SignatureReport } from './report.ts';

/** How the runtime would feed a picture to the signature; undefined if it refuses pictures. */
export function pictureInput(
  key: string,
  report: SignatureReport,
  preprocess: Preprocess | undefined,
): ResolvedPreprocess | undefined {
  try {
    return resolvePreprocess(preprocess, signatureOf(key, report));
  } catch (error) {
    if (error instanceof ManifestError) return undefined;
    throw error;
  }
}

/** The report's signature in the runtime's form. */
export function signatureOf(
  key: string,
  { methodName, inputs, outputs }: SignatureReport,
): Signature {
  return { key, methodName, inputs: specsOf(inputs), outputs: specsOf(outputs) };
}

function specsOf(reports: SignatureReport['inputs']): Signature['inputs'] {
  return Object.fromEntries(
    Object.entries(reports).map(([name, { dtype, shape, tensorName }]) => [
      name,
      {
        tensorName,
        dtype: isDType(dtype) ? dtype : undefined,
        dtypeEnum: isDType(dtype) ? DTYPES[dtype].enumValue : 0,
        shape: shape ?? undefined,
      },
    ]),
  );
}

function isDType(name: string): name is DType {
  return Object.hasOwn(DTYPES, name);
}
