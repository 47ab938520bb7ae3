/** Retries of the AWS SDK for many calls at once. */
import type { S3ClientConfig } from '@aws-sdk/client-s3';
import { isThrottledByKms } from './errors.ts';

const DEFAULT_ATTEMPTS = 10;
/** Longest wait before the second try, milliseconds; doubled before each further one, up to the longest. */
const FIRST_WAIT = 100;
const LONGEST_WAIT = 20_000;

/** Tries of a call, the first included. The SDK's variable sets another number, if it is a whole one from 1 on. */
export function attempts({ AWS_MAX_ATTEMPTS: text }: NodeJS.ProcessEnv = process.env): number {
  const given = Number(text);
  return Number.isSafeInteger(given) && given > 0 ? given : DEFAULT_ATTEMPTS;
}

/**
 * Repeats a call that was throttled, or failed at S3 or on the way to it. The SDK's own strategy shares a quota of about a
 * hundred retries among all calls: hundreds of reads that are refused at the same moment, as while S3 splits a prefix, use
 * it up, and all of them fail.
 */
export function patientRetries(): Extract<
  S3ClientConfig['retryStrategy'],
  { acquireInitialRetryToken: unknown }
> {
  const most = attempts();
  const token = (count: number, delay: number) => ({
    getRetryCount: () => count,
    getRetryDelay: () => delay,
  });
  return {
    acquireInitialRetryToken: async () => token(0, 0),
    async refreshRetryTokenForRetry(before, { errorType, error }) {
      const count = before.getRetryCount() + 1;
      const isFinal = errorType === 'CLIENT_ERROR' && !isThrottledByKms(error);
      if (isFinal || count >= most) throw new Error('no more retries');
      const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (count - 1));
      return token(count, longest * (0.5 + Math.random() / 2));
    },
    recordSuccess: () => undefined,
  };
}
