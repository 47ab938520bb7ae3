/** What lies below prefixes of a bucket goes by itself, after a time. */
import { Bucket } from 'aws-cdk-lib/aws-s3';
import type { Duration } from 'aws-cdk-lib/core';
import type { AnyBucket } from './cdk-types.ts';
import { checkInteger, invalidProp, type Where } from './validation.ts';

/** Longest time taken, days: a hundred years. */
const MAX_DAYS = 36_500;

/**
 * Adds a lifecycle rule for each prefix; none without `expiration`.
 * @param prop path of the prop that gave `expiration`
 * @throws InvalidProp if the bucket is not made in the app: only whoever makes it can give it rules
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/object-lifecycle-mgmt.html
 */
export function expireBelow(
  where: Where,
  prop: string,
  bucket: AnyBucket,
  prefixes: readonly string[],
  expiration: Duration | undefined,
): void {
  if (!expiration) return;
  checkInteger(where, prop, expiration.toDays({ integral: false }), 1, MAX_DAYS, 'days');
  if (!(bucket instanceof Bucket)) {
    const problem = 'the bucket is not made in this app, so it takes no lifecycle rules from here';
    invalidProp(where, prop, problem, 'Leave it out, and add the rules where the bucket is made');
  }
  for (const prefix of prefixes) bucket.addLifecycleRule({ prefix, expiration });
}
