/** One model for batch transform. */
import { Schedule } from 'aws-cdk-lib/aws-events';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { Bucket } from 'aws-cdk-lib/aws-s3';
import { Aws, CfnOutput, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { BatchTransform } from '../batch-transform.ts';
import type { BatchConfig } from '../config.ts';
import { createDataBucket } from '../data-bucket.ts';
import { definedOnly } from '../defined-only.ts';
import { setEncryptionKeyArn } from '../encryption.ts';
import { configuredModel } from '../endpoint-variants.ts';
import { consoleUrl } from './console.ts';
import { emailTopic } from './email-topic.ts';
import { modelFromConfig, vpcFromConfig } from './model-from-config.ts';
import type { ModelStackProps } from './model-stack-props.ts';

/** Props of {@link BatchStack}. */
export interface BatchStackProps extends ModelStackProps {
  /** The field `batch` of that model. */
  readonly batch: BatchConfig;
}

const INPUT_PREFIX = 'input/';
const INVENTORY_PREFIX = 'inventory/';

/** The model, a bucket for inputs and outputs, and the state machine. */
export class BatchStack extends Stack {
  readonly batch: BatchTransform;

  constructor(scope: Construct, id: string, props: BatchStackProps) {
    super(scope, id, props);
    setEncryptionKeyArn(this, props.encryptionKeyArn, props.formerEncryptionKeyArns);
    const { email, schedule, sharding, ...settings } = props.batch;
    const network = vpcFromConfig(this, props.vpcConfig);
    const bucket = createDataBucket(this, 'Data', { filledOnCreate: false });
    allowInventories(bucket);
    this.batch = new BatchTransform(this, 'Batch', {
      model: modelFromConfig(
        this,
        configuredModel(props.model),
        props.image,
        network,
        props.archiveName,
      ),
      input: { bucket, prefix: INPUT_PREFIX },
      output: { bucket, prefix: 'output/' },
      inventory: { bucket, prefix: INVENTORY_PREFIX },
      ...definedOnly(settings),
      ...(sharding && { sharding: definedOnly(sharding) }),
      ...(schedule && { schedule: Schedule.expression(schedule) }),
      ...(email && { topic: emailTopic(this, 'Notifications', email) }),
    });
    const { stateMachineArn } = this.batch.stateMachine;
    const console = consoleUrl(this);
    const outputs = {
      InputUri: bucket.s3UrlForObject(INPUT_PREFIX),
      StateMachineArn: stateMachineArn,
      StateMachineUrl: `${console}/states/home?region=${Aws.REGION}#/statemachines/view/${stateMachineArn}`,
      StartCommand: `aws stepfunctions start-execution --state-machine-arn ${stateMachineArn}`,
    };
    for (const [name, value] of Object.entries(outputs)) new CfnOutput(this, name, { value });
  }
}

/**
 * Lets S3 write inventories of the bucket into it, so that whoever wants one only has to configure it.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/userguide/example-bucket-policies.html#example-bucket-policies-s3-inventory-1
 */
function allowInventories(bucket: Bucket): void {
  bucket.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('s3.amazonaws.com')],
      actions: ['s3:PutObject'],
      resources: [bucket.arnForObjects(`${INVENTORY_PREFIX}*`)],
      conditions: {
        ArnLike: { 'aws:SourceArn': bucket.bucketArn },
        StringEquals: {
          'aws:SourceAccount': Aws.ACCOUNT_ID,
          's3:x-amz-acl': 'bucket-owner-full-control',
        },
      },
    }),
  );
}
