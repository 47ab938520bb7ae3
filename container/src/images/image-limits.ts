/** The limits of pictures that are decoded without a request: `decodeImage` in a handler. */
import { DEFAULT_DECODE_LIMITS, type ImageLimits } from '../decode-limits.ts';

let ofProcess: ImageLimits = DEFAULT_DECODE_LIMITS;

/** Sets what {@link imageLimits} returns. */
export function setImageLimits(limits: ImageLimits): void {
  ofProcess = limits;
}

/** The limits of this process. */
export function imageLimits(): ImageLimits {
  return ofProcess;
}
