/** Versions of a model, by the names of their directories. */

/** TensorFlow Serving's versions are int64. */
const LIMIT = 2n ** 63n;

/**
 * The version that a directory's name says. Leading zeros do not count: `0001` is version 1.
 * @returns undefined if it is no version: other characters than digits, or beyond int64
 */
export function versionOf(name: string): bigint | undefined {
  const [, digits] = /^0*(\d{1,19})$/.exec(name) ?? [];
  if (digits === undefined) return undefined;
  const version = BigInt(digits);
  return version < LIMIT ? version : undefined;
}
