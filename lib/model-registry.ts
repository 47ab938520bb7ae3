/** A Model Registry: groups of versions, the bucket of their archives, and who else may use them. */
import { SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import { AccountPrincipal, PolicyDocument, PolicyStatement } from 'aws-cdk-lib/aws-iam';
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
   * Accounts that may read the groups and the archives, and make models of them.
   * @default - this account alone
   */
  readonly readers?: readonly string[];
  /**
   * Accounts that may read the groups and change versions: their approval, and all else that SageMaker lets change, such
   * as archive and image. An account that deploys too is among both.
   * @default - this account alone
   */
  readonly approvers?: readonly string[];
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
    const { readers = [], approvers = [] } = props;
    checkAccounts(this, 'readers', readers);
    checkAccounts(this, 'approvers', approvers);
    this.bucket = createDataBucket(this, 'Models', { filledOnCreate: false });
    if (readers.length > 0) this.shareBucket(readers);
    const isShared = readers.length + approvers.length > 0;
    this.groups = new Map(
      props.groups.map((name, i) => {
        // By its name: one that moved in the list would be made anew under the name of another.
        const id = Token.isUnresolved(name) ? `Group${i}` : `Group-${name}`;
        const group = new CfnModelPackageGroup(this, id, {
          modelPackageGroupName: name,
          ...(isShared && { modelPackageGroupPolicy: this.policyFor(name, readers, approvers) }),
        });
        // One that a failed first deployment left would be in the way of the next, as its name is fixed.
        // https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-deletionpolicy.html
        group.applyRemovalPolicy(RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE);
        return [name, group];
      }),
    );
  }

  /** ARN of a group. @throws if it is not among the groups */
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
   * What other accounts need to deploy a version, or to approve one. AWS's example lets all that deploy do both; but
   * `UpdateModelPackage` takes archive and image too.
   * @see https://docs.aws.amazon.com/sagemaker/latest/dg/model-registry-deploy-xaccount.html
   * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_UpdateModelPackage.html
   */
  private policyFor(
    name: string,
    readers: readonly string[],
    approvers: readonly string[],
  ): PolicyDocument {
    const arn = (resource: string) =>
      Stack.of(this).formatArn({
        service: 'sagemaker',
        resource,
        resourceName: resource === 'model-package' ? `${name}/*` : name,
        arnFormat: ArnFormat.SLASH_RESOURCE_NAME,
      });
    const allow = (
      sid: string,
      accounts: readonly string[],
      resource: string,
      ...actions: readonly string[]
    ) =>
      accounts.length === 0
        ? []
        : new PolicyStatement({
            sid,
            principals: accounts.map((account) => new AccountPrincipal(account)),
            actions: actions.map((action) => `sagemaker:${action}`),
            resources: [arn(resource)],
          });
    const all = [...new Set([...readers, ...approvers])];
    const version = 'model-package';
    return new PolicyDocument({
      statements: [
        allow('ReadGroup', all, 'model-package-group', 'DescribeModelPackageGroup'),
        allow('ReadVersions', all, version, 'DescribeModelPackage', 'ListModelPackages'),
        allow('DeployVersions', readers, version, 'CreateModel'),
        allow('ApproveVersions', approvers, version, 'UpdateModelPackage'),
      ].flat(),
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

function checkAccounts(
  scope: Construct,
  prop: 'readers' | 'approvers',
  accounts: readonly string[],
): void {
  accounts.forEach((account, i) => {
    if (Token.isUnresolved(account) || /^\d{12}$/.test(account)) return;
    const fix = 'Write the 12 digits of an account';
    invalidProp(scope, `${prop}[${i}]`, `'${account}' is no account`, fix);
  });
}
