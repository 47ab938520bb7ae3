/** Leave to read and write below prefixes of a bucket. */
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { Construct } from 'constructs';
import type { AnyBucket } from './cdk-types.ts';
import { justifyWildcard } from './wildcards.ts';

const REASON = 'Users name the objects below this prefix';

/** Whoever gets leave: a construct, so that it can say why. */
export type Reader = Construct & IGrantable;

/** Lets `grantee` list and read everything below a prefix. */
export function grantReadBelow(grantee: Reader, bucket: AnyBucket, prefix: string): void {
  const objects = bucket.arnForObjects(`${prefix}*`);
  Grant.addToPrincipal({ grantee, actions: ['s3:GetObject'], resourceArns: [objects] });
  Grant.addToPrincipal({
    grantee,
    actions: ['s3:ListBucket'],
    resourceArns: [bucket.bucketArn],
    conditions: { StringLike: { 's3:prefix': `${prefix}*` } },
  });
  justifyWildcard(grantee, objects, REASON);
  bucket.encryptionKey?.grantDecrypt(grantee);
}

/** Lets `grantee` write below a prefix. @param actions default: those of uploads, in several parts too */
export function grantWriteBelow(
  grantee: Reader,
  bucket: AnyBucket,
  prefix: string,
  actions: readonly string[] = ['s3:PutObject', 's3:AbortMultipartUpload'],
): void {
  const objects = bucket.arnForObjects(`${prefix}*`);
  Grant.addToPrincipal({ grantee, actions: [...actions], resourceArns: [objects] });
  justifyWildcard(grantee, objects, REASON);
  // Decrypt too: S3 asks for it where an object is uploaded in several parts.
  bucket.encryptionKey?.grantEncryptDecrypt(grantee);
}
