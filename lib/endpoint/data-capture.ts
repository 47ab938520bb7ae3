/** Keeps a sample of requests and answers in S3. */
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { CfnEndpointConfig } from 'aws-cdk-lib/aws-sagemaker';
import type { Duration } from 'aws-cdk-lib/core';
import type { AnyBucket } from '../cdk-types.ts';
import type { IModel } from '../model.ts';
import { expireBelow } from '../s3-expiry.ts';
import { checkInteger, type Where } from '../validation.ts';
import { justifyWildcard } from '../wildcards.ts';

/** Props of data capture. */
export interface DataCaptureProps {
  /** Bucket that captures are written to. */
  readonly bucket: AnyBucket;
  /**
   * Key prefix of the captures.
   * @default 'data-capture/'
   */
  readonly prefix?: string;
  /**
   * Part of the requests that is captured, percent, 1-100.
   * @default 100
   */
  readonly samplingPercentage?: number;
  /**
   * What is captured.
   * @default - both
   */
  readonly capture?: readonly ('Input' | 'Output')[];
  /**
   * Key that captures are encrypted with.
   * @default - the endpoint's `encryptionKey`, or the bucket's own encryption
   */
  readonly encryptionKey?: IKey;
  /**
   * Time after which captures are deleted, whole days: a lifecycle rule for `prefix`. A bucket with versions keeps the
   * deleted ones.
   * @default - nothing is deleted
   */
  readonly expiration?: Duration;
}

/** Kept as text; everything else is captured as base64. */
const TEXT_TYPES = ['application/json', 'application/jsonlines'];

/** SageMaker's form of the props; grants the models what they need. */
export function renderDataCapture(
  where: Where,
  props: DataCaptureProps,
  models: readonly IModel[],
): CfnEndpointConfig.DataCaptureConfigProperty {
  const { bucket, prefix = 'data-capture/', samplingPercentage = 100, encryptionKey } = props;
  checkInteger(where, 'dataCapture.samplingPercentage', samplingPercentage, 1, 100);
  expireBelow(where, 'dataCapture.expiration', bucket, [prefix], props.expiration);
  const captures = bucket.arnForObjects(`${prefix}*`);
  for (const grantee of models) {
    Grant.addToPrincipal({ grantee, actions: ['s3:PutObject'], resourceArns: [captures] });
    justifyWildcard(grantee, captures, 'SageMaker names the captures below this prefix');
    encryptionKey?.grantEncrypt(grantee);
    bucket.encryptionKey?.grantEncrypt(grantee);
  }
  return {
    enableCapture: true,
    // AWS's examples have no slash at the end, and nothing says that a second one is left out.
    destinationS3Uri: bucket.s3UrlForObject(prefix.replace(/\/+$/, '')),
    initialSamplingPercentage: samplingPercentage,
    captureOptions: (props.capture ?? ['Input', 'Output']).map((captureMode) => ({ captureMode })),
    captureContentTypeHeader: { jsonContentTypes: TEXT_TYPES, csvContentTypes: ['text/csv'] },
    ...(encryptionKey && { kmsKeyId: encryptionKey.keyArn }),
  };
}
