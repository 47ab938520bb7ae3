/** Retries of the AWS SDK for many calls at once. */
import type { S3ClientConfig } from '@aws-sdk/client-s3';

/** Tries of a call, the first included; the SDK's own variable sets another number. */
export const ATTEMPTS = Number(process.env.AWS_MAX_ATTEMPTS ?? 10);
/** Milliseconds before the second try at most; doubled before each further one, up to the longest. */
const FIRST_WAIT = 100;
const LONGEST_WAIT = 20_000;

/**
 * Repeats a call that was throttled, or failed at S3 or on the way to it. The SDK's own strategy shares a quota of about a
 * hundred retries among all calls: hundreds of reads that are refused at the same moment, as while S3 splits a prefix, use
 * it up, and all of them fail.
 */
export function patientRetries(): NonNullable<S3ClientConfig['retryStrategy']> {
  const token = (count: number, delay: number) => ({
    getRetryCount: () => count,
    getRetryDelay: () => delay,
  });
  return {
    acquireInitialRetryToken: async () => token(0, 0),
    async refreshRetryTokenForRetry(before, { errorType }) {
      const count = before.getRetryCount() + 1;
      if (errorType === 'CLIENT_ERROR' || count >= ATTEMPTS) throw new Error('no more retries');
      const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** count);
      return token(count, longest * (0.5 + Math.random() / 2));
    },
    recordSuccess: () => undefined,
  };
}
