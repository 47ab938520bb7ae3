/** The request that a packaged handler declares, to be sent. */
import type { Manifest } from '@sagemaker-tfs/manifest';
import { readDeclaredBodies } from '../handler/read-declared-bodies.ts';
import { declaredRequest } from './declared-request.ts';
import type { SampleRequest } from './sample-file.ts';

/**
 * Named `declared` if it is the handler's own example, `synthetic` if it is made of the schema. Undefined if no handler declares
 * requests in JSON.
 * @param directory where the package is laid out
 */
export function declaredSample(
  directory: string,
  manifest: Manifest | undefined,
  signature: string,
): SampleRequest | undefined {
  const declared = manifest?.handler && declaredRequest(readDeclaredBodies(directory));
  if (!declared) return undefined;
  return {
    name: declared.isDeclared ? 'declared' : 'synthetic',
    contentType: declared.contentType,
    body: Buffer.from(JSON.stringify(declared.value)),
    signature,
  };
}
