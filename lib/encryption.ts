/** The one key of a subtree: what is made below a construct with a key is encrypted with it. */
import { type IGrantable, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { BucketEncryption, type BucketProps } from 'aws-cdk-lib/aws-s3';
import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib/core';
import type { Construct, IConstruct } from 'constructs';

const KEYS = new WeakMap<IConstruct, IKey>();

/** Makes `key` the key of everything that is made below `scope` from now on. */
export function setEncryptionKey(scope: Construct, key: IKey | undefined): void {
  if (key) KEYS.set(scope, key);
}

/** The key of a construct: its own, or that of the nearest one above. */
export function encryptionKeyOf(scope: IConstruct): IKey | undefined {
  return scope.node.scopes.map((one) => KEYS.get(one)).findLast((key) => key !== undefined);
}

/** Makes the key of a configuration the key of a stack. */
export function setEncryptionKeyArn(stack: Stack, keyArn: string | undefined): void {
  if (keyArn) setEncryptionKey(stack, Key.fromKeyArn(stack, 'EncryptionKey', keyArn));
}

/**
 * Encryption of a bucket below a construct.
 * @returns S3's own keys where there is no key; else the key, with one call of KMS for many objects
 */
export function bucketEncryption(
  scope: IConstruct,
): Pick<BucketProps, 'encryption' | 'encryptionKey' | 'bucketKeyEnabled'> {
  const encryptionKey = encryptionKeyOf(scope);
  if (!encryptionKey) return { encryption: BucketEncryption.S3_MANAGED };
  return { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true };
}

/**
 * Lets a service of AWS use a key. Only the key's own policy can say so: that of a key from outside the app
 * must say it already (docs/private-networks.md).
 */
export function allowService(key: IKey, service: IGrantable): void {
  key.grantEncryptDecrypt(service);
}

/**
 * A log group that goes with its stack, under the key of the construct around it.
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
 */
export function createLogGroup(
  scope: Construct,
  id: string,
  retention: RetentionDays = RetentionDays.ONE_MONTH,
): LogGroup {
  const encryptionKey = encryptionKeyOf(scope);
  if (encryptionKey) allowLogs(scope, encryptionKey);
  return new LogGroup(scope, id, {
    retention,
    removalPolicy: RemovalPolicy.DESTROY,
    ...(encryptionKey && { encryptionKey }),
  });
}

/** Lets CloudWatch Logs use a key for the log groups of this account and region, and for nothing else. */
function allowLogs(scope: Construct, key: IKey): void {
  const stack = Stack.of(scope);
  const groups = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: '*',
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  allowService(
    key,
    new ServicePrincipal(`logs.${stack.region}.amazonaws.com`, {
      conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': groups } },
    }),
  );
}

/**
 * Lets alarms publish to topics under a key.
 * @see https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
 */
export function allowAlarms(key: IKey): void {
  allowService(key, new ServicePrincipal('cloudwatch.amazonaws.com'));
}
