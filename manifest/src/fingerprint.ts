/** A fingerprint, and the hash of a file. */
export const SHA256 = /^[0-9a-f]{64}$/;

/** Digits of the fingerprint that fit the custom attributes of an answer. */
const SHORT_DIGITS = 16;

/** The start of a fingerprint, by which answers, documents and the smoke test name an archive. */
export function shortFingerprint(fingerprint: string): string {
  return fingerprint.slice(0, SHORT_DIGITS);
}
