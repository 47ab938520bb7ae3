/** A Model Registry: groups of versions, the bucket of their archives, and who else may use them. */
import { SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import { AccountPrincipal, Effect, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { CfnModelPackageGroup } from 'aws-cdk-lib/aws-sagemaker';
import { ArnFormat, RemovalPolicy, Stack, Token } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { createDataBucket } from './data-bucket.ts';
import { allowAccount, setEncryptionKey } from './encryption.ts';
import { invalidProp } from './validation.ts';

/** Props of {@link ModelRegistry}. */
export interface ModelRegistryProps {
  /** Names of the model package groups: one for each model that is versioned. */
  readonly groups: readonly string[];
  /**
   * Accounts that may read the groups and the archives, make models of them, and approve versions.
   * @default - this account alone
   */
  readonly readers?: readonly string[];
  /**
   * Key of the bucket.
   * @default - the key of the stack, or S3's own
   */
  readonly encryptionKey?: IKey;
}

/**
 * Model package groups for `sagemaker-tfs register`, with a bucket for the archives. Groups and bucket stay if the stack
 * is deleted: SageMaker deletes no group that has versions.
 */
export class ModelRegistry extends Construct {
  /** For `register --to`. */
  readonly bucket: Bucket;
  private readonly groups: ReadonlyMap<string, CfnModelPackageGroup>;

  constructor(scope: Construct, id: string, props: ModelRegistryProps) {
    super(scope, id);
    setEncryptionKey(this, props.encryptionKey);
    checkGroups(this, props.groups);
    const { readers = [] } = props;
    checkReaders(this, readers);
    this.bucket = createDataBucket(this, 'Models', { filledOnCreate: false });
    const principals = readers.map((account) => new AccountPrincipal(account));
    if (readers.length > 0) this.shareBucket(readers);
    this.groups = new Map(
      props.groups.map((name, i) => {
        const group = new CfnModelPackageGroup(this, `Group${i === 0 ? '' : i}`, {
          modelPackageGroupName: name,
          ...(readers.length > 0 && { modelPackageGroupPolicy: this.policyFor(name, principals) }),
        });
        group.applyRemovalPolicy(RemovalPolicy.RETAIN);
        return [name, group];
      }),
    );
  }

  /** ARN of a group. @throws where it is not among the groups */
  groupArn(name: string): string {
    const group = this.groups.get(name);
    if (group) return group.attrModelPackageGroupArn;
    const names = [...this.groups.keys()].join(', ');
    return invalidProp(this, 'groups', `there is no '${name}'`, `Name one of ${names}`);
  }

  /** Lets accounts read the archives; who there may is up to their own policies. */
  private shareBucket(readers: readonly string[]): void {
    const { bucket } = this;
    const principals = readers.map((account) => new AccountPrincipal(account));
    const allow = (actions: string[], resource: string) =>
      bucket.addToResourcePolicy(
        new PolicyStatement({ principals, actions, resources: [resource] }),
      );
    allow(['s3:GetObject'], bucket.arnForObjects('*'));
    allow(['s3:ListBucket'], bucket.bucketArn);
    const key = bucket.encryptionKey;
    if (key) for (const account of readers) allowAccount(this, key, account);
  }

  /**
   * What other accounts need to deploy a version.
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/model-registry-deploy-xaccount.html
   */
  private policyFor(name: string, principals: readonly AccountPrincipal[]): PolicyDocument {
    const arn = (resource: string) =>
      Stack.of(this).formatArn({
        service: 'sagemaker',
        resource,
        resourceName: resource === 'model-package' ? `${name}/*` : name,
        arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
      });
    return new PolicyDocument({
      statements: [
        new PolicyStatement({
          sid: 'ReadGroup',
          effect: Effect.ALLOW,
          principals: [...principals],
          actions: ['sagemaker:DescribeModelPackageGroup'],
          resources: [arn('model-package-group')],
        }),
        new PolicyStatement({
          sid: 'UseVersions',
          effect: Effect.ALLOW,
          principals: [...principals],
          actions: [
            'sagemaker:DescribeModelPackage',
            'sagemaker:ListModelPackages',
            'sagemaker:UpdateModelPackage',
            'sagemaker:CreateModel',
          ],
          resources: [arn('model-package')],
        }),
      ],
    });
  }
}

function checkGroups(scope: Construct, groups: readonly string[]): void {
  if (groups.length === 0) invalidProp(scope, 'groups', 'it is empty', 'Name at least one');
  groups.forEach((name, i) => {
    if (Token.isUnresolved(name)) return;
    const fix = 'Use letters, digits and hyphens between them, at most 63 characters';
    if (!SAGEMAKER_NAME.test(name)) {
      invalidProp(scope, `groups[${i}]`, `'${name}' is not a name of a group`, fix);
    }
    if (groups.indexOf(name) === i) return;
    invalidProp(scope, `groups[${i}]`, `'${name}' is there twice`, 'Leave one out');
  });
}

function checkReaders(scope: Construct, readers: readonly string[]): void {
  readers.forEach((account, i) => {
    if (Token.isUnresolved(account) || /^\d{12}$/.test(account)) return;
    const fix = 'Write the 12 digits of an account';
    invalidProp(scope, `readers[${i}]`, `'${account}' is no account`, fix);
  });
}
