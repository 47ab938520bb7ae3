/** Names that tell contents apart. */
import { createHash } from 'node:crypto';

/** Eight hex digits of the text's SHA-256, for logical ids and names. */
export function shortDigest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
