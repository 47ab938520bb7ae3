/** What a worker's container may do. */
import { Policy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Aws } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { formerKeysOf } from '../encryption.ts';
import { grantReadBelow, grantWriteBelow } from '../s3-access.ts';
import { justifyWildcard } from '../wildcards.ts';
import type { BatchWorkerProps } from './props.ts';

function taskRole(scope: Construct, id: string, description: string): Role {
  return new Role(scope, id, {
    description,
    assumedBy: new ServicePrincipal('ecs-tasks.amazonaws.com', {
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  });
}

/** Role of the worker: reads the model and the inputs, and writes answers. */
export function createWorkerRole(scope: Construct, props: BatchWorkerProps): Role {
  const { model, input, output } = props;
  const role = taskRole(scope, 'Role', 'Reads inputs of a batch worker and writes its answers');
  const policy = new Policy(scope, 'Access', { roles: [role] });
  grantReadBelow(policy, input.bucket, input.prefix);
  // What it has written says where it continues.
  grantReadBelow(policy, output.bucket, output.prefix);
  grantWriteBelow(policy, output.bucket, output.prefix);
  // A job that began before a deployment starts again with the model that it began with.
  if (model.data.grantReadAll) model.data.grantReadAll(policy);
  else model.data.grantRead?.(policy);
  for (const key of formerKeysOf(scope)) key.grantDecrypt(policy);
  if (props.noticesAt?.length) props.topic?.grantPublish(role);
  return role;
}

/** Role with which the container is started: it pulls the image and opens the log. */
export function createExecutionRole(scope: Construct, { model }: BatchWorkerProps): Role {
  const role = taskRole(scope, 'ExecutionRole', 'Starts the container of a batch worker');
  model.image.grantPull(role);
  justifyWildcard(role, '*', 'ecr:GetAuthorizationToken has no resource to restrict it to');
  return role;
}
