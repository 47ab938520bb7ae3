/** Errors of S3 that say what was asked. S3's own words, such as "Access Denied", name neither the call nor the place. */
import type { S3Client } from '@aws-sdk/client-s3';
import { formatS3Uri } from '../s3-uri.ts';
import { withBoundedAnswers } from './bounded-answers.ts';
import { httpStatusOf, isOfCaller } from './errors.ts';
import { NOT_S3 } from './not-s3.ts';

/** What a role must be allowed for a call. A listing needs it for the bucket, the others for the object. */
const PERMISSIONS: Readonly<Record<string, string>> = {
  GetObject: 's3:GetObject there, and kms:Decrypt if a key of KMS encrypts it',
  HeadObject: 's3:GetObject there, and kms:Decrypt if a key of KMS encrypts it',
  PutObject: 's3:PutObject there, and kms:GenerateDataKey if a key of KMS encrypts it',
  DeleteObject: 's3:DeleteObject there',
  DeleteObjects: 's3:DeleteObject there',
  ListObjectsV2: 's3:ListBucket for that bucket and prefix',
};
/** An answer to HEAD has no text. */
const NO_WORDS = 'UnknownError';
/** What the SDK says of an answer that it cannot read; its advice is for who writes code. */
const UNREADABLE = /\s*Deserialization error: .*$/s;

interface Asked {
  readonly Bucket?: string;
  readonly Key?: string;
  readonly Prefix?: string;
}

/** A client whose errors say what was asked, and whose answers are bounded. */
export function guarded(client: S3Client): S3Client {
  return withBoundedAnswers(withNamedErrors(client));
}

/**
 * Has every error that S3 answers with name call and place, and say what to do where that is known. Its `name` stays.
 * @returns the client
 */
export function withNamedErrors(client: S3Client): S3Client {
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        try {
          return await next(args);
        } catch (error) {
          if (error instanceof Error && httpStatusOf(error) !== undefined) {
            error.message = named(error, commandName ?? '', args.input as Asked);
          }
          throw error;
        }
      },
    { step: 'initialize', name: 'nameErrors' },
  );
  return client;
}

function named(error: Error, commandName: string, { Bucket = '', Key, Prefix }: Asked): string {
  const call = commandName.replace(/Command$/, '');
  const status = httpStatusOf(error);
  const place = formatS3Uri({ bucket: Bucket, key: Key ?? Prefix ?? '' });
  const where = `(${call} of ${place})`;
  if (UNREADABLE.test(error.message)) {
    return `the answer with status ${status} is not S3's XML: ${error.message.replace(UNREADABLE, '')} ${where}. ${NOT_S3}`;
  }
  const words = error.message === NO_WORDS ? `status ${status}` : error.message.replace(/\.$/, '');
  return `${words} ${where}.${advice(error, call)}`;
}

function advice(error: Error, call: string): string {
  const { name, message } = error;
  if (name === 'NoSuchBucket') return " Check the bucket's name.";
  if (name === 'PermanentRedirect')
    return ' The bucket is in another region. Set AWS_REGION to it.';
  if (call === 'GetObject' && name === 'NotFound') return ` ${NOT_S3}`;
  if (name === 'RequestTimeTooSkewed') return " Set this machine's clock.";
  if (isOfCaller(error)) return ' Renew the credentials.';
  if (name === 'InvalidObjectState') return ' It is archived: restore it first.';
  if (name === 'KMS.DisabledException') return ' Enable the key of KMS that encrypts it.';
  // S3 says 403 of signatures and expired tokens, too, with names of their own.
  const isDenied = name === 'AccessDenied' || message === NO_WORDS;
  const permission = PERMISSIONS[call];
  if (!isDenied || httpStatusOf(error) !== 403 || !permission) return '';
  return ` The credentials need ${permission}.`;
}
