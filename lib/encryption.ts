/** The one key of a subtree: what is made below a construct with a key is encrypted with it. */
import {
  AccountPrincipal,
  type IGrantable,
  type IPrincipal,
  ServicePrincipal,
} from 'aws-cdk-lib/aws-iam';
import { type IKey, Key } from 'aws-cdk-lib/aws-kms';
import { CfnLogGroup, LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { BucketEncryption, type BucketProps } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import {
  Annotations,
  ArnFormat,
  Aws,
  RemovalPolicy,
  Resource,
  Stack,
  Token,
} from 'aws-cdk-lib/core';
import { RegionInfo } from 'aws-cdk-lib/region-info';
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

const FORMER = new WeakMap<IConstruct, readonly IKey[]>();

/** Says which keys data from before is under, for everything below `scope`. */
export function setFormerKeys(scope: Construct, keys: readonly IKey[] | undefined): void {
  if (keys) FORMER.set(scope, keys);
}

/** Keys that data of a construct may be under beside its own: those of the construct and of all above. */
export function formerKeysOf(scope: IConstruct): IKey[] {
  return scope.node.scopes.flatMap((one) => FORMER.get(one) ?? []);
}

/**
 * Lets `grantee` use the keys that data of `scope` was under before: what is in S3, what waits in a queue, and what
 * instances of the last deployment still write.
 */
export function grantFormerKeys(scope: IConstruct, grantee: IGrantable): void {
  for (const key of formerKeysOf(scope)) key.grantEncryptDecrypt(grantee);
}

/** Fields of a configuration that keys come from; it names keys from outside only. */
const CONFIGURED = new WeakMap<IKey, string>();

/** Makes the keys of a configuration those of a stack. */
export function setEncryptionKeyArn(
  stack: Stack,
  keyArn: string | undefined,
  formerArns: readonly string[] = [],
): void {
  const former = formerArns.map((arn, i) => Key.fromKeyArn(stack, `FormerEncryptionKey${i}`, arn));
  for (const [i, key] of former.entries()) CONFIGURED.set(key, `formerEncryptionKeyArns[${i}]`);
  setFormerKeys(stack, former);
  if (!keyArn) return;
  const key = Key.fromKeyArn(stack, 'EncryptionKey', keyArn);
  CONFIGURED.set(key, 'encryptionKeyArn');
  setEncryptionKey(stack, key);
}

/**
 * Encryption of a bucket below a construct.
 * @returns S3's own keys if there is no key; else the key, with one call of KMS for many objects
 */
export function bucketEncryption(
  scope: IConstruct,
): Pick<BucketProps, 'encryption' | 'encryptionKey' | 'bucketKeyEnabled'> {
  const encryptionKey = encryptionKeyOf(scope);
  if (!encryptionKey) return { encryption: BucketEncryption.S3_MANAGED };
  return { encryption: BucketEncryption.KMS, encryptionKey, bucketKeyEnabled: true };
}

/** What a service, or another account, may do with a key: only the key's own policy can say so. */
interface KeyGrant {
  /** As the warning names it; `REGION` if synthesis does not know the region. */
  readonly name: string;
  readonly principal: IPrincipal;
  readonly actions: readonly string[];
}

/**
 * Lets a service of AWS, or an account, use a key. The policy of a key from outside the app cannot be changed here: a
 * warning says what it must have, once a stack and principal. Whoever writes constructs can acknowledge it. A
 * configuration cannot, and has no other kind of key, so there it is a remark, which `cdk --strict` lets pass.
 */
function allowUse(user: Construct, key: IKey, { name, principal, actions }: KeyGrant): void {
  if (Resource.isOwnedResource(key)) {
    key.grant(principal, ...actions);
    return;
  }
  const stack = Stack.of(user);
  const id = `@sagemaker-tfs/cdk:foreignKey.${name}`;
  const advice = `this app does not make the key, so it cannot change its policy. Let ${name} do ${actions.join(', ')} there, as docs/private-networks.md shows; without it the deployment fails, or messages, logs and inventories are lost`;
  const field = CONFIGURED.get(key);
  if (field) Annotations.of(stack).addInfoV2(id, `${field}: ${advice}`);
  else Annotations.of(stack).addWarningV2(id, `encryptionKey: ${advice}`);
}

/**
 * A log group that goes with its stack.
 * @param encryptionKey default: the key of the construct around it
 * @param logGroupName default: CloudFormation's
 * @see https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/encrypt-log-data-kms.html
 */
export function createLogGroup(
  scope: Construct,
  id: string,
  retention: RetentionDays = RetentionDays.ONE_MONTH,
  encryptionKey: IKey | undefined = encryptionKeyOf(scope),
  logGroupName?: string,
): LogGroup {
  const logGroup = new LogGroup(scope, id, {
    retention,
    removalPolicy: RemovalPolicy.DESTROY,
    ...(logGroupName !== undefined && { logGroupName }),
  });
  if (encryptionKey) encryptLogs(logGroup, encryptionKey);
  return logGroup;
}

/** Encrypts a log group with a key. */
export function encryptLogs(logGroup: LogGroup, key: IKey): void {
  allowLogs(logGroup, key);
  const { defaultChild } = logGroup.node;
  if (!(defaultChild instanceof CfnLogGroup)) return;
  defaultChild.kmsKeyId = key.keyArn;
}

/**
 * Name of CloudWatch Logs as a service of a stack's region: in China it ends in `amazonaws.com.cn`, and the name that
 * other services have there is refused for it.
 * @see https://github.com/serverless/serverless/issues/7589
 * @see https://github.com/serverless/serverless/issues/12087
 */
export function logsService({ region, urlSuffix }: Stack): string {
  const suffix = Token.isUnresolved(region) ? urlSuffix : RegionInfo.get(region).domainSuffix;
  return `logs.${region}.${suffix ?? 'amazonaws.com'}`;
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
  const name = logsService(stack);
  allowUse(scope, key, {
    name: Token.isUnresolved(name) ? 'logs.REGION.amazonaws.com' : name,
    principal: new ServicePrincipal(name, {
      conditions: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': groups } },
    }),
    actions: [
      'kms:Encrypt',
      'kms:Decrypt',
      'kms:ReEncrypt*',
      'kms:GenerateDataKey*',
      'kms:DescribeKey',
    ],
  });
}

/**
 * Lets the service that delivers a state machine's log read what the machine wrote under a key.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html
 */
export function allowLogDelivery(scope: Construct, key: IKey): void {
  const name = 'delivery.logs.amazonaws.com';
  allowUse(scope, key, {
    name,
    principal: new ServicePrincipal(name),
    actions: ['kms:Decrypt'],
  });
}

/**
 * Lets S3 write inventories of the account's buckets under a key. Not of one bucket alone: its ARN in the policy of the
 * key that it is under would be a circle.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/configure-inventory.html#configure-inventory-kms-key-policy
 */
export function allowInventory(user: Construct, key: IKey): void {
  const name = 's3.amazonaws.com';
  allowUse(user, key, {
    name,
    principal: new ServicePrincipal(name, {
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
    actions: ['kms:GenerateDataKey'],
  });
}

/**
 * Lets another account read what is in S3 under a key, and use the key for nothing else. S3's name in China is not proven:
 * either would do.
 * @see https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-modifying-external-accounts.html
 * @see https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html#conditions-kms-via-service
 */
export function allowAccount(user: Construct, key: IKey, account: string): void {
  allowUse(user, key, {
    name: Token.isUnresolved(account) ? 'ACCOUNT' : account,
    principal: new AccountPrincipal(account).withConditions({
      StringLike: { 'kms:ViaService': `s3.${Stack.of(user).region}.amazonaws.com*` },
    }),
    actions: ['kms:Decrypt'],
  });
}

/**
 * Lets a service publish to a topic under its key; nothing if the topic has none, or none that is known.
 * @param name of the service, `cloudwatch.amazonaws.com`
 * @see https://docs.aws.amazon.com/sns/latest/dg/sns-key-management.html
 */
export function allowPublisher(user: Construct, topic: ITopic, name: string): void {
  if (!topic.masterKey) return;
  allowUse(user, topic.masterKey, {
    name,
    principal: new ServicePrincipal(name),
    actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
  });
}
