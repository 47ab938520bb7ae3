/** Uploads an unpacked model to an S3 prefix, for instances that read files instead of one archive. */
import { BlockPublicAccess, Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { BucketDeployment, Source } from 'aws-cdk-lib/aws-s3-deployment';
import { RemovalPolicy, Size } from 'aws-cdk-lib/core';
import type { Construct, IDependable } from 'constructs';
import { bucketEncryption, createLogGroup } from '../encryption.ts';
import type { PackagedModel } from './packaged-model.ts';

/** Where an unpacked model lies once it is deployed. */
export interface UnpackedUpload {
  readonly bucket: Bucket;
  /** Ends in `/`; another for every revision, so that the model being replaced keeps its files. */
  readonly prefix: string;
  /** The upload. */
  readonly deployment: IDependable;
}

/** Adds a bucket and the upload of `model` to `scope`. */
export function uploadUnpacked(scope: Construct, model: PackagedModel): UnpackedUpload {
  const bucket = new Bucket(scope, 'ModelBucket', {
    ...bucketEncryption(scope),
    blockPublicAccess: BlockPublicAccess.BLOCK_ALL,
    enforceSSL: true,
    // Every file here can be packaged again from its sources.
    removalPolicy: RemovalPolicy.DESTROY,
    autoDeleteObjects: true,
  });
  const prefix = `${model.assetHash}/`;
  const deployment = new BucketDeployment(scope, 'Upload', {
    sources: [Source.asset(model.unpackedPath)],
    destinationBucket: bucket as IBucket,
    destinationKeyPrefix: prefix,
    // Earlier revisions stay until the bucket goes: a rollback may need them.
    prune: false,
    retainOnDelete: true,
    // The largest that Lambda has: the files are there twice, packed and unpacked.
    ephemeralStorageSize: Size.gibibytes(10),
    memoryLimit: 3008,
    logGroup: createLogGroup(scope, 'UploadLog'),
  });
  return { bucket, prefix, deployment };
}
