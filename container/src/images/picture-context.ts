/** What decoding a request's pictures depends on. */
import type { Preprocess } from '@sagemaker-tfs/manifest';
import type { AbortSignalLike, Signature } from '@sagemaker-tfs/tensors';
import type { DecodeLimits } from '../decode-limits.ts';

/** What is known of the input that pictures are for. */
export interface PictureContext {
  /** The signature that the tensors are for: names, dtypes and shapes to decode into. */
  readonly signature: Signature;
  /** How images become tensors where the package declares it. */
  readonly preprocess?: Preprocess | undefined;
  /** True if boxes will be asked for, which are then given in the pictures' own coordinates. */
  readonly wantsFrames?: boolean;
  readonly limits: DecodeLimits;
  readonly signal?: AbortSignalLike | undefined;
}
