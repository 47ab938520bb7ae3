/** Writes an object of S3 on a condition, so that of several writers one has it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PutObjectCommand, type PutObjectCommandInput, type S3Client } from '@aws-sdk/client-s3';

/** Only if there is none, or only in place of the one with this ETag. */
export type WriteCondition = { readonly IfNoneMatch: '*' } | { readonly IfMatch: string };

/** Answers for a condition that does not hold; the second one if the object to be replaced is gone. */
const NOT_WRITTEN: ReadonlySet<string> = new Set(['PreconditionFailed', 'NoSuchKey']);

/** Tries of a write that meets others at the same moment: together about three seconds. */
const MAX_TRIES = 6;
/** Milliseconds, doubled before each further try. */
const FIRST_WAIT = 100;

/**
 * Writes an object if a condition holds. A conflict with a request at the same moment says nothing of the condition, as that
 * request may fail or delete: the write is tried again.
 * @returns the ETag; undefined if the condition does not hold. That may be of an own write whose answer was lost, and which
 *   the SDK has sent again: who must know reads the object
 * @throws ConditionalRequestConflict if there is a conflict each time
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/conditional-writes.html
 */
export async function putIf(
  s3: S3Client,
  object: PutObjectCommandInput,
  condition: WriteCondition,
): Promise<string | undefined> {
  for (let tries = 1; ; tries++) {
    try {
      return (await s3.send(new PutObjectCommand({ ...object, ...condition }))).ETag ?? '';
    } catch (error) {
      const { name } = error as Error;
      if (NOT_WRITTEN.has(name)) return undefined;
      if (name !== 'ConditionalRequestConflict' || tries >= MAX_TRIES) throw error;
      await sleep(FIRST_WAIT * 2 ** (tries - 1) * (0.5 + Math.random() / 2));
    }
  }
}
