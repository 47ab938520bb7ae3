/** Asynchronous inference: requests and answers in S3, up to 1 GB and an hour each, with a queue between. */
import { Grant, type IGrantable } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { CfnEndpointConfig } from 'aws-cdk-lib/aws-sagemaker';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { Duration } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import type { AnyBucket } from '../cdk-types.ts';
import { grantFormerKeys } from '../encryption.ts';
import type { IModel } from '../model.ts';
import { grantReadBelow, grantWriteBelow } from '../s3-access.ts';
import { expireBelow } from '../s3-expiry.ts';
import { checkInteger, type Where } from '../validation.ts';
import { justifyWildcard } from '../wildcards.ts';

/** Props of asynchronous inference. */
export interface AsyncInferenceProps {
  /** Bucket that answers are written to. */
  readonly outputBucket: AnyBucket;
  /**
   * Key prefix of the answers.
   * @default 'async-output/'
   */
  readonly outputPrefix?: string;
  /**
   * Key prefix of the reports about failed requests.
   * @default 'async-failures/'
   */
  readonly failurePrefix?: string;
  /**
   * Bucket that callers put requests into.
   * @default - `outputBucket`
   */
  readonly inputBucket?: AnyBucket;
  /**
   * Key prefix of the requests, which the endpoint may read.
   * @default 'async-input/'
   */
  readonly inputPrefix?: string;
  /**
   * Topic that gets a message for every answer.
   * @default - none
   */
  readonly successTopic?: ITopic;
  /**
   * Topic that gets a message for every failure.
   * @default - none
   */
  readonly errorTopic?: ITopic;
  /**
   * Requests that one instance works on at once, 1-1000.
   * @default - SageMaker chooses
   */
  readonly maxConcurrentInvocationsPerInstance?: number;
  /**
   * Key that answers are encrypted with.
   * @default - the endpoint's `encryptionKey`, or the bucket's own encryption
   */
  readonly encryptionKey?: IKey;
  /**
   * Time after which requests, answers and reports of failures are deleted, whole days: a lifecycle rule for each of
   * the three prefixes. Buckets with versions keep the deleted ones.
   * @default - nothing is deleted
   */
  readonly expiration?: Duration;
}

/** Where requests and answers of an asynchronous endpoint lie. */
export interface AsyncFiles {
  /** `s3://BUCKET/PREFIX/` that callers put requests below. */
  readonly inputUri: string;
  /** `s3://BUCKET/PREFIX/` below which answers are found. */
  readonly outputUri: string;
  /** `s3://BUCKET/PREFIX/` below which reports about failed requests are found. */
  readonly failureUri: string;
  /** Lets `grantee` put and delete requests, and read answers and failures. */
  grantReadWrite(grantee: Construct & IGrantable): void;
}

/** The props with every prefix. */
function placesOf(props: AsyncInferenceProps) {
  const { outputBucket, inputBucket = outputBucket } = props;
  const { outputPrefix = 'async-output/', failurePrefix = 'async-failures/' } = props;
  const { inputPrefix = 'async-input/' } = props;
  return { outputBucket, inputBucket, outputPrefix, failurePrefix, inputPrefix };
}

/** What callers of an asynchronous endpoint need to know, and leave to use it. */
export function asyncFiles(endpoint: Construct, props: AsyncInferenceProps): AsyncFiles {
  const { outputBucket, inputBucket, outputPrefix, failurePrefix, inputPrefix } = placesOf(props);
  return {
    inputUri: inputBucket.s3UrlForObject(inputPrefix),
    outputUri: outputBucket.s3UrlForObject(outputPrefix),
    failureUri: outputBucket.s3UrlForObject(failurePrefix),
    grantReadWrite(grantee) {
      grantWriteBelow(grantee, inputBucket, inputPrefix, ['s3:PutObject', 's3:DeleteObject']);
      // With permission to list, S3 distinguishes a missing answer from a forbidden one.
      for (const prefix of [outputPrefix, failurePrefix]) {
        grantReadBelow(grantee, outputBucket, prefix);
      }
      props.encryptionKey?.grantDecrypt(grantee);
      grantFormerKeys(endpoint, grantee);
    },
  };
}

/** SageMaker's form of the props; grants the models what they need. */
export function renderAsyncInference(
  where: Construct,
  props: AsyncInferenceProps,
  models: readonly IModel[],
): CfnEndpointConfig.AsyncInferenceConfigProperty {
  const { successTopic, errorTopic, encryptionKey } = props;
  const { outputUri, failureUri } = asyncFiles(where, props);
  const concurrent = props.maxConcurrentInvocationsPerInstance;
  checkInteger(where, 'asyncInference.maxConcurrentInvocationsPerInstance', concurrent, 1, 1000);
  for (const model of models) grantQueue(model, props);
  expireFiles(where, props);
  return {
    outputConfig: {
      s3OutputPath: outputUri,
      s3FailurePath: failureUri,
      ...(encryptionKey && { kmsKeyId: encryptionKey.keyArn }),
      ...((successTopic || errorTopic) && {
        notificationConfig: {
          ...(successTopic && { successTopic: successTopic.topicArn }),
          ...(errorTopic && { errorTopic: errorTopic.topicArn }),
        },
      }),
    },
    ...(concurrent !== undefined && {
      clientConfig: { maxConcurrentInvocationsPerInstance: concurrent },
    }),
  };
}

function expireFiles(where: Where, props: AsyncInferenceProps): void {
  const { outputBucket, inputBucket, outputPrefix, failurePrefix, inputPrefix } = placesOf(props);
  const { expiration } = props;
  const prop = 'asyncInference.expiration';
  expireBelow(where, prop, inputBucket, [inputPrefix], expiration);
  expireBelow(where, prop, outputBucket, [outputPrefix, failurePrefix], expiration);
}

function grantQueue(grantee: IModel, props: AsyncInferenceProps): void {
  const { outputBucket, inputBucket, outputPrefix, failurePrefix, inputPrefix } = placesOf(props);
  const writes = [outputPrefix, failurePrefix].map((prefix) =>
    outputBucket.arnForObjects(`${prefix}*`),
  );
  const reads = [inputBucket.arnForObjects(`${inputPrefix}*`)];
  // An answer in several parts that fails leaves none of them.
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
  const put = ['s3:PutObject', 's3:AbortMultipartUpload'];
  Grant.addToPrincipal({ grantee, actions: put, resourceArns: writes });
  Grant.addToPrincipal({ grantee, actions: ['s3:GetObject'], resourceArns: reads });
  for (const arn of [...writes, ...reads]) {
    justifyWildcard(grantee, arn, 'Callers and SageMaker name the objects below these prefixes');
  }
  props.successTopic?.grantPublish(grantee);
  props.errorTopic?.grantPublish(grantee);
  // Decrypt too: S3 asks for it where an answer is uploaded in several parts.
  // https://docs.aws.amazon.com/AmazonS3/latest/userguide/mpuoverview.html
  props.encryptionKey?.grantEncryptDecrypt(grantee);
  outputBucket.encryptionKey?.grantEncryptDecrypt(grantee);
  inputBucket.encryptionKey?.grantDecrypt(grantee);
}
