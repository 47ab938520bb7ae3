/** Who may do what in a batch transform. */
import { JOB_LOG_GROUP } from '@sagemaker-tfs/batch';
import { Grant, Policy, PolicyStatement } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { ArnFormat, Stack } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { grantFormerKeys } from '../encryption.ts';
import { keepReplaced } from '../model-retention.ts';
import { allowLogging, allowProcessing } from '../model-role.ts';
import { grantReadBelow, grantWriteBelow } from '../s3-access.ts';
import { justifyWildcard } from '../wildcards.ts';
import type { BatchTransformProps, S3Place } from './props.ts';
import { SHARD_MAP_LABELS } from './shard-states.ts';

/** The model's containers read inputs, and write outputs and logs. */
export function grantModel(scope: Construct, props: BatchTransformProps): void {
  const { model, input, output, outputKey, volumeKey } = props;
  keepReplaced(model);
  // The role of a model that is only known by its name must have all of this already.
  if (!model.role) return;
  allowLogging(model.role, JOB_LOG_GROUP);
  allowProcessing(model.role);
  // Here and not in the role's own policy: the model may be in another stack, which must not need this one.
  const policy = new Policy(scope, 'ModelAccess');
  model.role.attachInlinePolicy(policy);
  grantReadBelow(policy, input.bucket, input.prefix);
  // Manifests of shards lie below the output prefix.
  grantReadBelow(policy, output.bucket, output.prefix);
  grantWriteBelow(policy, output.bucket, output.prefix);
  grantFormerKeys(scope, policy);
  outputKey?.grantEncryptDecrypt(policy);
  volumeKey?.grantEncryptDecrypt(policy);
}

/** The state machine starts and watches jobs of its own name. */
export function grantJobs(
  machine: StateMachine,
  jobNamePrefix: string,
  functions: readonly IFunction[],
  { volumeKey }: BatchTransformProps,
): void {
  const stack = Stack.of(machine);
  const jobs = stack.formatArn({
    service: 'sagemaker',
    resource: 'transform-job',
    resourceName: `${jobNamePrefix}-*`,
  });
  justifyWildcard(machine, jobs, 'Every job has a name of its own with this prefix');
  justifyWildcard(
    machine,
    '*',
    'X-Ray and the delivery of logs have no resource to restrict them to; the CDK adds both',
  );
  machine.addToRolePolicy(
    new PolicyStatement({
      actions: [
        'sagemaker:AddTags',
        'sagemaker:CreateTransformJob',
        'sagemaker:DescribeTransformJob',
      ],
      resources: [jobs],
    }),
  );
  machine.addToRolePolicy(
    new PolicyStatement({
      actions: ['lambda:InvokeFunction'],
      resources: functions.map(({ functionArn }) => functionArn),
    }),
  );
  if (volumeKey) allowVolumeGrants(machine, volumeKey);
}

/**
 * SageMaker opens the volumes of a job by a grant, which it makes as the machine; the machine itself makes none.
 * @see https://docs.aws.amazon.com/kms/latest/developerguide/conditions-kms.html (kms:GrantIsForAWSResource)
 */
function allowVolumeGrants(machine: StateMachine, key: IKey): void {
  key.grant(machine, 'kms:DescribeKey');
  Grant.addToPrincipal({
    grantee: machine,
    actions: ['kms:CreateGrant'],
    resourceArns: [key.keyArn],
    conditions: { Bool: { 'kms:GrantIsForAWSResource': 'true' } },
  });
}

/**
 * The state machine starts itself for every shard. A policy of its own, because the machine waits for its
 * role's policies and this one names the machine.
 */
export function grantShards(scope: Construct, machine: StateMachine, output: S3Place): void {
  const executionsOf = (resourceName: string) =>
    Stack.of(machine).formatArn({
      service: 'states',
      resource: 'execution',
      resourceName,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
  // Executions started by users, and those of the map's shards.
  const executions = [':*', ...SHARD_MAP_LABELS.map((label) => `/${label}:*`)].map((suffix) =>
    executionsOf(`${machine.stateMachineName}${suffix}`),
  );
  const everyExecution = executionsOf('*');
  const policy = new Policy(scope, 'ShardPolicy', {
    roles: [machine.role],
    statements: [
      new PolicyStatement({
        actions: ['states:StartExecution'],
        resources: [machine.stateMachineArn],
      }),
      new PolicyStatement({
        actions: ['states:RedriveExecution', 'states:StopExecution'],
        resources: executions,
      }),
      // The lease of the outputs may be that of a machine that this one has replaced, or of another model's.
      // https://docs.aws.amazon.com/service-authorization/latest/reference/list_awsstepfunctions.html
      new PolicyStatement({
        actions: ['states:DescribeExecution'],
        resources: [everyExecution],
      }),
      new PolicyStatement({
        actions: ['s3:ListBucket'],
        resources: [output.bucket.bucketArn],
        conditions: { StringLike: { 's3:prefix': `${output.prefix}*` } },
      }),
    ],
  });
  for (const arn of executions) {
    justifyWildcard(policy, arn, 'Executions of this one state machine');
  }
  justifyWildcard(
    policy,
    everyExecution,
    'Another state machine may have written these outputs before, and its run may still work',
  );
  allowJobLooks(policy);
}

/** The lease of the outputs may be that of a job that the command has started. */
function allowJobLooks(policy: Policy): void {
  const looks = {
    'sagemaker:DescribeTransformJob': 'transform-job',
    'sagemaker:DescribeProcessingJob': 'processing-job',
  };
  for (const [action, resource] of Object.entries(looks)) {
    const every = { service: 'sagemaker', resource, resourceName: '*' };
    const arn = Stack.of(policy).formatArn(every);
    policy.addStatements(new PolicyStatement({ actions: [action], resources: [arn] }));
    justifyWildcard(policy, arn, 'A job that the command has started may write these outputs');
  }
}
