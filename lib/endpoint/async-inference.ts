/** Asynchronous inference: requests and answers in S3, up to 1 GB and an hour each, with a queue between. */
import { Grant } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { CfnEndpointConfig } from 'aws-cdk-lib/aws-sagemaker';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { AnyBucket } from '../cdk-types.ts';
import type { TensorFlowModel } from '../tensorflow-model.ts';
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
   * Topic told of every answer.
   * @default - none
   */
  readonly successTopic?: ITopic;
  /**
   * Topic told of every failure.
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
}

/** SageMaker's form of the props; grants the models what they need. */
export function renderAsyncInference(
  where: Where,
  props: AsyncInferenceProps,
  models: readonly TensorFlowModel[],
): CfnEndpointConfig.AsyncInferenceConfigProperty {
  const { outputBucket, successTopic, errorTopic, encryptionKey } = props;
  const { outputPrefix = 'async-output/', failurePrefix = 'async-failures/' } = props;
  const concurrent = props.maxConcurrentInvocationsPerInstance;
  checkInteger(where, 'asyncInference.maxConcurrentInvocationsPerInstance', concurrent, 1, 1000);
  for (const model of models) grantQueue(model, props, [outputPrefix, failurePrefix]);
  return {
    outputConfig: {
      s3OutputPath: outputBucket.s3UrlForObject(outputPrefix),
      s3FailurePath: outputBucket.s3UrlForObject(failurePrefix),
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

function grantQueue(
  grantee: TensorFlowModel,
  props: AsyncInferenceProps,
  written: readonly string[],
): void {
  const { outputBucket, inputBucket = outputBucket, inputPrefix = 'async-input/' } = props;
  const writes = written.map((prefix) => outputBucket.arnForObjects(`${prefix}*`));
  const reads = [inputBucket.arnForObjects(`${inputPrefix}*`)];
  Grant.addToPrincipal({ grantee, actions: ['s3:PutObject'], resourceArns: writes });
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
