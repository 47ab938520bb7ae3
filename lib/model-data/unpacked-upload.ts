/** Uploads an unpacked model to an S3 prefix, for instances that read files instead of one archive. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { PolicyStatement } from 'aws-cdk-lib/aws-iam';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { BlockPublicAccess, Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Asset } from 'aws-cdk-lib/aws-s3-assets';
import { BucketDeployment, type ISource } from 'aws-cdk-lib/aws-s3-deployment';
import {
  Annotations,
  CfnResource,
  Duration,
  Names,
  RemovalPolicy,
  Size,
  Stack,
} from 'aws-cdk-lib/core';
import type { Construct, IDependable } from 'constructs';
import { bucketEncryption, createLogGroup, encryptionKeyOf } from '../encryption.ts';
import { ConstructError } from '../errors.ts';
import type { PackagedModel } from './packaged-model.ts';

/** Where an unpacked model lies once it is deployed. */
interface UnpackedUpload {
  readonly bucket: Bucket;
  /** Ends in `/`; another for every revision, so that the model being replaced keeps its files. */
  readonly prefix: string;
  /** The upload. */
  readonly deployment: IDependable;
  /** Lets the files of earlier revisions stay until the bucket goes. */
  keepReplaced(): void;
}

/**
 * Adds a bucket and the upload of `model` to `scope`. Every revision is a resource of its own: CloudFormation makes the
 * new one first, and deletes the old one, with its files, when the update is complete. After a rollback it is the new
 * one that goes.
 * @see https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/using-cfn-updating-stacks-update-behaviors.html
 */
export function uploadUnpacked(scope: Construct, model: PackagedModel): UnpackedUpload {
  warnOfSize(scope, model.unpackedPath);
  const bucket = new Bucket(scope, 'ModelBucket', {
    ...bucketEncryption(scope),
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    lifecycleRules: [{ abortIncompleteMultipartUploadAfter: Duration.days(7) }],
    // Every file here can be packaged again from its sources.
    removalPolicy: RemovalPolicy.DESTROY,
    autoDeleteObjects: true,
  });
  keepLogOfEmptying(scope);
  const prefix = `${model.assetHash}/`;
  const deployment = new BucketDeployment(scope, 'Upload', {
    sources: [sourceOf(model)],
    destinationBucket: bucket as IBucket,
    destinationKeyPrefix: prefix,
    prune: false,
    retainOnDelete: false,
    ephemeralStorageSize: Size.gibibytes(UPLOAD_ROOM),
    memoryLimit: 3008,
    logGroup: createLogGroup(scope, 'UploadLog'),
  });
  const resource = resourceOf(deployment);
  // Of this resource alone, and not of the function and its layer, which stay.
  resource.overrideLogicalId(Names.uniqueId(deployment) + model.assetHash.slice(0, 8));
  const keepReplaced = () => resource.addPropertyOverride('RetainOnDelete', true);
  return { bucket, prefix, deployment, keepReplaced };
}

/**
 * GiB that the function has for the files, which are there twice, packed and unpacked. Lambda has no more.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
 */
const UPLOAD_ROOM = 10;

/** Warns of a model that does not fit the function: weights hardly become smaller when they are packed. */
export function warnOfSize(scope: Construct, directory: string): void {
  const gibibytes = bytesBelow(directory) / 2 ** 30;
  if (2 * gibibytes <= UPLOAD_ROOM) return;
  Annotations.of(scope).addWarningV2(
    '@sagemaker-tfs/cdk:unpackedTooLarge',
    `compression: the model has ${gibibytes.toFixed(1)} GiB, and the function that uploads it unpacked has room for about ${UPLOAD_ROOM / 2}. Upload the files of 'package --uncompressed' with 'aws s3 sync', and name their prefix with ModelData.fromPrefix.`,
  );
}

function bytesBelow(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isDirectory()) return found?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + bytesBelow(join(path, name)), 0);
}

/** The resource that uploads. @throws where the CDK makes none under its usual name */
function resourceOf(deployment: BucketDeployment): CfnResource {
  const all = deployment.node.findAll().filter((one) => CfnResource.isCfnResource(one));
  const upload = all.find((one) => one.cfnResourceType === 'Custom::CDKBucketDeployment');
  if (upload) return upload;
  throw new ConstructError(
    'BUILD_INCOMPLETE',
    `${deployment.node.path} has no Custom::CDKBucketDeployment. Use a version of aws-cdk-lib that these constructs were tried with.`,
  );
}

/** The files as an asset that the function may read, and nothing else of the CDK's bucket, as the CDK's own would let it. */
function sourceOf(model: PackagedModel): ISource {
  return {
    bind(scope, context) {
      const asset = new Asset(scope, 'Files', { path: model.unpackedPath });
      context?.handlerRole.addToPrincipalPolicy(
        new PolicyStatement({
          actions: ['s3:GetObject'],
          resources: [asset.bucket.arnForObjects(asset.s3ObjectKey)],
        }),
      );
      return { bucket: asset.bucket, zipObjectKey: asset.s3ObjectKey };
    },
  };
}

/** Id of the CDK's one function in a stack that empties buckets. */
const EMPTIER = 'Custom::S3AutoDeleteObjectsCustomResourceProvider';

/** Makes a log group for that function, which expires and takes the key. Lambda's own would stay for ever. */
function keepLogOfEmptying(scope: Construct): void {
  const provider = Stack.of(scope).node.tryFindChild(EMPTIER);
  const handler = provider?.node.tryFindChild('Handler');
  if (!provider || !CfnResource.isCfnResource(handler) || provider.node.tryFindChild('Log')) return;
  const { logGroupName } = createLogGroup(
    provider as Construct,
    'Log',
    RetentionDays.ONE_MONTH,
    encryptionKeyOf(scope),
  );
  handler.addPropertyOverride('LoggingConfig', { LogGroup: logGroupName });
}
