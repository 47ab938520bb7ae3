/** Booleans as bytes. */

/** Any byte but 0 is true, as NumPy has it; TensorFlow's kernels count on 0 and 1. A copy only where one is neither. */
export function booleans(bytes: Uint8Array): Uint8Array {
  return bytes.some((byte) => byte > 1) ? bytes.map((byte) => (byte === 0 ? 0 : 1)) : bytes;
}
