/** Where a model's files are: packaged by this project, or in S3 already. */
import { createHash } from 'node:crypto';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { Grant, type Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { CfnModel } from 'aws-cdk-lib/aws-sagemaker';
import { Arn, Aws, Stack, Token } from 'aws-cdk-lib/core';
import type { Construct, IDependable } from 'constructs';
import type { AnyBucket } from '../cdk-types.ts';
import { invalidProp } from '../validation.ts';
import { justifyWildcard } from '../wildcards.ts';
import type { ModelSources } from './inputs.ts';
import { checkModelPackage, type ModelPackageOptions } from './model-package.ts';
import { PackagedModel } from './packaged-model.ts';
import { uploadUnpacked } from './unpacked-upload.ts';

/** How model data travels to an instance. */
export type ModelCompression =
  /** One `model.tar.gz`; works everywhere. */
  | 'gzip'
  /** Files under an S3 prefix; large models start sooner. Not for batch transform or serverless endpoints. */
  | 'none';

/** Model data bound to a construct tree. */
export interface ModelDataConfig {
  /** The part of SageMaker's container definition that says where the data is. */
  readonly container: Pick<
    CfnModel.ContainerDefinitionProperty,
    'mode' | 'modelDataUrl' | 'modelDataSource' | 'modelPackageName'
  >;
  readonly compression: ModelCompression;
  readonly multiModel: boolean;
  /**
   * SHA-256 (hex) of model and handler; the smoke test compares it with the answering model's.
   * @default - unknown: not compared
   */
  readonly fingerprint?: string;
  /** What the archive holds, where it was packaged here. */
  readonly manifest?: Manifest;
  /** Changes with the data; names the policy that reads it. */
  readonly revision: string;
  /** Lets a policy's role read this data, and no other. Absent where there is nothing in S3. */
  grantRead?(policy: Policy): void;
  /**
   * Lets a policy's role read this data and what stood in its place before: models of earlier deployments,
   * which jobs still name. Absent where the data's place does not change with a deployment, or is not known.
   */
  grantReadAll?(policy: Policy): void;
  /** Keeps the files of models that a deployment replaces. Absent where they stay anyway. */
  keepReplaced?(): void;
  /** What must exist before the model is created. */
  readonly dependency?: IDependable;
}

/** Options of {@link ModelData.fromDirectory}. */
export interface FromDirectoryOptions extends Omit<ModelSources, 'model'> {
  /** @default 'gzip' */
  readonly compression?: ModelCompression;
  /**
   * Start of the archives' keys in the CDK's asset bucket, before their hash. Models with the same one share uploads;
   * the role of a model that batch transforms run may read every archive under it, those of earlier deployments too.
   * @default - the construct's path
   */
  readonly archiveName?: string;
}

/** Options of {@link ModelData.multiModel}. */
export interface MultiModelDataOptions {
  /**
   * Key that the data is under, of any account: the model's role may decrypt with it. The key's own policy must let this
   * account, too.
   * @default - the key of `bucket`, if it is known
   */
  readonly encryptionKey?: IKey;
}

/** Options of {@link ModelData.inImage}. */
export interface InImageOptions {
  /**
   * `fingerprint` of its `code/manifest.json`, as `sagemaker-tfs package --json` reports it.
   * @default - the smoke test does not compare it
   */
  readonly fingerprint?: string;
  /**
   * Its `code/manifest.json`.
   * @default - nothing is checked by it
   */
  readonly manifest?: Manifest;
}

/** Options for data that is in S3 already. */
export interface ExistingModelDataOptions extends MultiModelDataOptions {
  /**
   * `fingerprint` of its `code/manifest.json`, as `sagemaker-tfs package --json` reports it.
   * @default - the smoke test does not compare it
   */
  readonly fingerprint?: string;
  /**
   * Prefix that the data of all releases lies below, with a `/` at the end. The role of a model that batch runs, or an
   * endpoint of another stack, use may read all of it: such a run continues with its own archive when a deployment names another.
   * @default - the folder that the archive or the prefix lies in; at the top of the bucket, the data alone
   */
  readonly releasesPrefix?: string;
}

/** Model data of a `TensorFlowModel`. */
export abstract class ModelData {
  /** A SavedModel on this machine, packaged with its handler when the app is synthesized. */
  static fromDirectory(model: string, options: FromDirectoryOptions = {}): ModelData {
    return new DirectoryModelData(model, options);
  }

  /** A `model.tar.gz` in S3. */
  static fromArchive(bucket: AnyBucket, key: string, options: ExistingModelDataOptions = {}) {
    return new ExistingModelData(bucket, key, 'archive', options);
  }

  /** The files of an archive, unpacked under an S3 prefix. */
  static fromPrefix(bucket: AnyBucket, prefix: string, options: ExistingModelDataOptions = {}) {
    return new ExistingModelData(bucket, prefix, 'prefix', options);
  }

  /** Every `model.tar.gz` under an S3 prefix, loaded when a request names it (multi-model endpoint). */
  static multiModel(bucket: AnyBucket, prefix: string, options: MultiModelDataOptions = {}) {
    return new ExistingModelData(bucket, prefix, 'multi-model', options);
  }

  /**
   * A version of the Model Registry, which `sagemaker-tfs register` made. The container's image is the version's; the
   * model's `image` names it too, for what is checked and for the leave to pull it.
   * @param arn `arn:aws:sagemaker:REGION:ACCOUNT:model-package/GROUP/VERSION`, in the model's region
   */
  static fromModelPackage(arn: string, options: ModelPackageOptions): ModelData {
    return new ModelPackageData(arn, options);
  }

  /** A model that the image holds: SageMaker downloads nothing. */
  static inImage(options: InImageOptions = {}): ModelData {
    return new InImageData(options);
  }

  /** Called by `TensorFlowModel`. */
  abstract bind(scope: Construct): ModelDataConfig;
}

class DirectoryModelData extends ModelData {
  private readonly model: string;
  private readonly options: FromDirectoryOptions;

  constructor(model: string, options: FromDirectoryOptions) {
    super();
    this.model = model;
    this.options = options;
  }

  bind(scope: Construct): ModelDataConfig {
    const { compression = 'gzip', archiveName, ...sources } = this.options;
    const packaged = new PackagedModel(scope, 'Package', {
      ...sources,
      model: this.model,
      unpacked: compression === 'none',
      ...(archiveName !== undefined && { archiveName }),
    });
    const common = {
      compression,
      multiModel: false,
      fingerprint: packaged.fingerprint,
      ...(packaged.manifest && { manifest: packaged.manifest }),
      revision: packaged.assetHash,
    };
    if (compression === 'none') {
      const { bucket, prefix, deployment, keepReplaced } = uploadUnpacked(scope, packaged);
      return {
        ...common,
        container: { modelDataSource: s3Prefix(bucket, prefix) },
        grantRead: (policy) => grantRead(policy, bucket, `${prefix}*`),
        grantReadAll: (policy) => grantRead(policy, bucket, '*'),
        keepReplaced,
        dependency: deployment,
      };
    }
    const { bucketName, objectKey, allKeys } = packaged.uploadArchive();
    const bucketArn = Arn.format({
      partition: Aws.PARTITION,
      service: 's3',
      region: '',
      account: '',
      resource: bucketName,
    });
    return {
      ...common,
      container: { modelDataUrl: `s3://${bucketName}/${objectKey}` },
      grantRead: (policy) => allowRead(policy, bucketArn, objectKey),
      ...(allKeys !== undefined && {
        grantReadAll: (policy: Policy) => allowRead(policy, bucketArn, allKeys),
      }),
    };
  }
}

const ARCHIVE_END = '.tar.gz';

/** What is below a prefix that releases share; empty if none do. @param key of this release, or its prefix */
function releasesOf(scope: Construct, key: string, prefix: string | undefined): string {
  const folder = key.slice(0, key.lastIndexOf('/', key.length - 2) + 1);
  if (prefix === undefined || Token.isUnresolved(prefix)) return prefix ?? folder;
  const endless = !prefix.endsWith('/');
  if (endless || !(Token.isUnresolved(key) || key.startsWith(prefix))) {
    const problem = endless ? `does not end in '/'` : `does not hold '${key}'`;
    const fix = endless ? `Write '${prefix}/'` : 'Name a folder that the data lies in';
    invalidProp(scope, 'modelData.releasesPrefix', `'${prefix}' ${problem}`, fix);
  }
  return prefix;
}

class ExistingModelData extends ModelData {
  private readonly bucket: AnyBucket;
  private readonly key: string;
  private readonly kind: 'archive' | 'prefix' | 'multi-model';
  private readonly options: ExistingModelDataOptions;

  constructor(
    bucket: AnyBucket,
    key: string,
    kind: 'archive' | 'prefix' | 'multi-model',
    options: ExistingModelDataOptions,
  ) {
    super();
    this.bucket = bucket;
    this.key = key;
    this.kind = kind;
    this.options = options;
  }

  bind(scope: Construct): ModelDataConfig {
    const { bucket, key, kind } = this;
    const { fingerprint, encryptionKey, releasesPrefix } = this.options;
    if (kind === 'archive' && !key.endsWith(ARCHIVE_END)) {
      invalidProp(
        scope,
        'modelData',
        `the key '${key}' does not end in .tar.gz`,
        'Name an archive',
      );
    }
    if (kind !== 'archive' && !key.endsWith('/')) {
      invalidProp(scope, 'modelData', `the prefix '${key}' does not end in '/'`, `Write '${key}/'`);
    }
    const releases = kind === 'multi-model' ? '' : releasesOf(scope, key, releasesPrefix);
    const allKeys = `${releases}*${kind === 'archive' ? ARCHIVE_END : ''}`;
    const container =
      kind === 'prefix'
        ? { modelDataSource: s3Prefix(bucket, key) }
        : {
            modelDataUrl: bucket.s3UrlForObject(key),
            ...(kind === 'multi-model' && { mode: 'MultiModel' }),
          };
    return {
      container,
      compression: kind === 'prefix' ? 'none' : 'gzip',
      multiModel: kind === 'multi-model',
      ...(fingerprint !== undefined && { fingerprint }),
      revision: revisionOf(kind, scope, key, encryptionKey),
      grantRead: (policy) =>
        grantRead(policy, bucket, kind === 'archive' ? key : `${key}*`, encryptionKey),
      ...(releases && {
        grantReadAll: (policy: Policy) => grantRead(policy, bucket, allKeys, encryptionKey),
      }),
    };
  }
}

class InImageData extends ModelData {
  private readonly options: InImageOptions;

  constructor(options: InImageOptions) {
    super();
    this.options = options;
  }

  bind(scope: Construct): ModelDataConfig {
    return {
      container: {},
      // As SageMaker sees it: nothing that batch transform or serverless endpoints would refuse.
      compression: 'gzip',
      multiModel: false,
      ...this.options,
      revision: revisionOf('image', scope, this.options.fingerprint ?? '', undefined),
    };
  }
}

class ModelPackageData extends ModelData {
  private readonly arn: string;
  private readonly options: ModelPackageOptions;

  constructor(arn: string, options: ModelPackageOptions) {
    super();
    this.arn = arn;
    this.options = options;
  }

  bind(scope: Construct): ModelDataConfig {
    const { arn } = this;
    const { bucket, prefix = '', fingerprint, encryptionKey } = this.options;
    checkModelPackage(scope, arn);
    return {
      container: { modelPackageName: arn },
      compression: 'gzip',
      multiModel: false,
      ...(fingerprint !== undefined && { fingerprint }),
      revision: revisionOf('model-package', scope, arn, encryptionKey),
      grantRead: (policy) => grantRead(policy, bucket, `${prefix}*`, encryptionKey),
    };
  }
}

/** Text that changes with the data's place and with its key, as far as synthesis can see them. */
function revisionOf(kind: string, scope: Construct, place: string, key: IKey | undefined): string {
  const text = Token.isUnresolved(place) ? scope.node.path : place;
  const under = key === undefined || Token.isUnresolved(key.keyArn) ? '' : ` ${key.keyArn}`;
  return createHash('sha256').update(`${kind} ${text}${under}`).digest('hex');
}

function s3Prefix(bucket: AnyBucket, prefix: string): CfnModel.ModelDataSourceProperty {
  return {
    s3DataSource: {
      s3Uri: bucket.s3UrlForObject(prefix),
      s3DataType: 'S3Prefix',
      compressionType: 'None',
    },
  };
}

/** Reads objects that match one pattern, and lists a bucket only below it. */
function allowRead(policy: Policy, bucketArn: string, pattern: string): void {
  const objects = `${bucketArn}/${pattern}`;
  const grantee = policy;
  Grant.addToPrincipal({ grantee, actions: ['s3:GetObject'], resourceArns: [objects] });
  if (pattern.includes('*')) {
    justifyWildcard(policy, objects, 'The files of one model, those that running jobs name too');
  }
  allowList(policy, bucketArn, pattern);
}

/** Statements that list, by policy and bucket: IAM counts characters, and one statement of many prefixes has few. */
const LISTS = new WeakMap<
  Policy,
  Map<string, { statement: PolicyStatement; patterns: string[] }>
>();

function allowList(policy: Policy, bucketArn: string, pattern: string): void {
  const lists = LISTS.get(policy) ?? new Map();
  LISTS.set(policy, lists);
  const bucket = JSON.stringify(Stack.of(policy).resolve(bucketArn));
  const known = lists.get(bucket);
  if (known && !known.statement.frozen) {
    known.patterns.push(pattern);
    known.statement.addCondition('StringLike', { 's3:prefix': known.patterns });
    return;
  }
  const statement = new PolicyStatement({
    actions: ['s3:ListBucket'],
    resources: [bucketArn],
    conditions: { StringLike: { 's3:prefix': pattern } },
  });
  policy.addStatements(statement);
  lists.set(bucket, { statement, patterns: [pattern] });
}

/**
 * Reads below a bucket, and what its key encrypts: a download takes no other action of the key. If the key is another
 * account's, both its policy and the role's must allow it.
 * @see https://repost.aws/knowledge-center/decrypt-kms-encrypted-objects-s3
 * @see https://docs.aws.amazon.com/kms/latest/developerguide/key-policy-modifying-external-accounts.html
 */
function grantRead(
  policy: Policy,
  bucket: AnyBucket,
  pattern: string,
  key: IKey | undefined = bucket.encryptionKey,
): void {
  allowRead(policy, bucket.bucketArn, pattern);
  key?.grantDecrypt(policy);
}
