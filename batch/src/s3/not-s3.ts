/** What to say of an answer that S3 would not give. */

/** What to look at. */
export const NOT_S3 = 'Is AWS_ENDPOINT_URL or a proxy set?';

/** Of an object that came without its length: it might never end. */
export function withoutLength(uri: string): string {
  return `${uri} came without a Content-Length, which S3 always sends. ${NOT_S3}`;
}
