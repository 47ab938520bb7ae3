/** One model for batch inference by workers on AWS Batch. */
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Aws, CfnOutput, Duration, Size, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { BatchWorker } from '../batch-worker.ts';
import type { BatchWorkerConfig } from '../config.ts';
import { createDataBucket } from '../data-bucket.ts';
import { definedOnly } from '../defined-only.ts';
import { setEncryptionKeyArn } from '../encryption.ts';
import { configuredModel } from '../endpoint-variants.ts';
import { invalidProp } from '../validation.ts';
import { consoleUrl } from './console.ts';
import { emailTopic } from './email-topic.ts';
import { newModelFromConfig, vpcFromConfig } from './model-from-config.ts';
import type { ModelStackProps } from './model-stack-props.ts';

/** Props of {@link BatchWorkerStack}. */
export interface BatchWorkerStackProps extends ModelStackProps {
  /** The field `batchWorker` of that model, which needs a `vpcConfig`. */
  readonly batchWorker: BatchWorkerConfig;
}

const INPUT_PREFIX = 'input/';
const OUTPUT_PREFIX = 'output/';

/** The model, a bucket for inputs and answers, and the instances, queue and job of AWS Batch. */
export class BatchWorkerStack extends Stack {
  readonly worker: BatchWorker;

  constructor(scope: Construct, id: string, props: BatchWorkerStackProps) {
    super(scope, id, props);
    setEncryptionKeyArn(this, props.encryptionKeyArn, props.formerEncryptionKeyArns);
    const { email, schedule, memoryMiB, diskGiB, timeoutSeconds, ...rest } = props.batchWorker;
    const { provisioningTimeoutSeconds: wait, ...settings } = rest;
    const { vpc, ...network } = vpcFromConfig(this, props.vpcConfig);
    if (!vpc) {
      invalidProp(this, 'vpcConfig', 'instances of AWS Batch are in a VPC', 'Give one');
    }
    const bucket = createDataBucket(this, 'Data', { filledOnCreate: false });
    this.worker = new BatchWorker(this, 'Worker', {
      // Not in the VPC: SageMaker runs nothing of it.
      model: newModelFromConfig(
        this,
        configuredModel(props.model),
        props.image,
        {},
        props.archiveName,
      ),
      input: { bucket, prefix: INPUT_PREFIX },
      output: { bucket, prefix: OUTPUT_PREFIX },
      vpc,
      ...network,
      ...definedOnly(settings),
      ...(memoryMiB !== undefined && { memory: Size.mebibytes(memoryMiB) }),
      ...(diskGiB !== undefined && { diskSize: Size.gibibytes(diskGiB) }),
      ...(timeoutSeconds !== undefined && { timeout: Duration.seconds(timeoutSeconds) }),
      ...(wait !== undefined && { provisioningTimeout: Duration.seconds(wait) }),
      ...(schedule && { schedule: Schedule.expression(schedule) }),
      ...(email && { topic: emailTopic(this, 'Notifications', email) }),
    });
    const { queue, definitionName, workers } = this.worker;
    const outputs = {
      InputUri: bucket.s3UrlForObject(INPUT_PREFIX),
      OutputUri: bucket.s3UrlForObject(OUTPUT_PREFIX),
      JobQueueArn: queue.jobQueueArn,
      JobDefinition: definitionName,
      JobQueueUrl: `${consoleUrl(this)}/batch/home?region=${Aws.REGION}#queues/detail/${queue.jobQueueArn}`,
      StartCommand: `npx sagemaker-tfs batch start --engine batch --job-queue ${queue.jobQueueArn} --job-definition ${definitionName} --instance-count ${workers}`,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}
