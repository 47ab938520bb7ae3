/** A bucket for what a stack's users put in and take out. */
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { BlockPublicAccess, Bucket, BucketEncryption, type CfnBucket } from 'aws-cdk-lib/aws-s3';
import { Duration, RemovalPolicy } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { bucketEncryption } from './encryption.ts';

/** Props of {@link createDataBucket}. */
interface DataBucketProps {
  /** Whether something writes to it before its stack is complete, such as a smoke test or data capture. */
  readonly filledOnCreate: boolean;
}

/**
 * An encrypted, private bucket that outlives its stack: what is in it cannot be made again from here. One that is
 * surely empty goes with a first deployment that fails. One that is not stays then too: CloudFormation cannot
 * delete a bucket with objects, and would end in ROLLBACK_FAILED.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-attribute-deletionpolicy.html
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/troubleshooting.html
 */
export function createDataBucket(scope: Construct, id: string, props: DataBucketProps): Bucket {
  const logs = new Bucket(scope, `${id}AccessLogs`, {
    // S3 writes access logs only to buckets under its own keys.
    // https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html
    encryption: BucketEncryption.S3_MANAGED,
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    lifecycleRules: [{ expiration: Duration.days(90) }],
    // S3 logs what CloudFormation itself does to the other bucket.
    removalPolicy: RemovalPolicy.RETAIN,
  });
  const bucket = new Bucket(scope, id, {
    ...bucketEncryption(scope),
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(7) }],
    removalPolicy: props.filledOnCreate
      ? RemovalPolicy.RETAIN
      : RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE,
  });
  writeAccessLogs(bucket, logs);
  return bucket;
}

/**
 * S3 may write by the policy of the bucket of logs. `serverAccessLogsBucket` would do it by an ACL where the app lacks a
 * flag of the CDK, and organizations may forbid ACLs.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/enable-server-access-logging.html
 */
function writeAccessLogs(bucket: Bucket, logs: Bucket): void {
  logs.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('logging.s3.amazonaws.com')],
      actions: ['s3:PutObject'],
      resources: [logs.arnForObjects('*')],
      conditions: {
        ArnLike: { 'aws:SourceArn': bucket.bucketArn },
        StringEquals: { 'aws:SourceAccount': bucket.env.account },
      },
    }),
  );
  const resource = bucket.node.defaultChild as CfnBucket;
  resource.loggingConfiguration = { destinationBucketName: logs.bucketName };
}
