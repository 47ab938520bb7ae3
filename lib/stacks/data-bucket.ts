/** A bucket for what a stack's users put in and take out. */
import { BlockPublicAccess, Bucket, BucketEncryption, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { bucketEncryption } from '../encryption.ts';

/** An encrypted, private bucket that outlives its stack: what is in it cannot be made again from here. */
export function createDataBucket(scope: Construct, id: string): Bucket {
  const logs = new Bucket(scope, `${id}AccessLogs`, {
    // S3 writes access logs only to buckets under its own keys.
    // https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    lifecycleRules: [{ expiration: Duration.days(90) }],
    // But not of a first deployment that failed: nobody has put anything into it.
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });
  return new Bucket(scope, id, {
    ...bucketEncryption(scope),
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    serverAccessLogsBucket: logs as IBucket,
    lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(7) }],
    // But not of a first deployment that failed: nobody has put anything into it.
    removalPolicy: RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });
}
