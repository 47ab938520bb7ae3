/** What the runs of signatures do, with this room's errors. */
import { join } from 'node:path';
import {
  compilingSignatures as compiling,
  type SignatureOutputs,
  writingSignatures as writing,
} from '@sagemaker-tfs/libtensorflow/graph';
import { inOwnErrors } from '../files/own-errors.ts';

type Signatures = Readonly<Record<string, SignatureOutputs>>;

/**
 * The keys of the signatures that write what other requests read.
 * @param directory the one with `saved_model.pb`
 * @throws PackagingError CORRUPT_FILE
 */
export function writingSignatures(directory: string, signatures: Signatures): ReadonlySet<string> {
  return inOwnErrors(join(directory, 'saved_model.pb'), () => writing(directory, signatures));
}

/**
 * The keys of the signatures that run a function with `jit_compile=True`.
 * @param directory the one with `saved_model.pb`
 * @throws PackagingError CORRUPT_FILE
 */
export function compilingSignatures(
  directory: string,
  signatures: Signatures,
): ReadonlySet<string> {
  return inOwnErrors(join(directory, 'saved_model.pb'), () => compiling(directory, signatures));
}
