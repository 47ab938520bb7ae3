/**
 * Expiry and key of the log group that SageMaker writes an endpoint's output to. It is not a `LogGroup` of the stack:
 * SageMaker makes the group when there is none, so that of an endpoint from before is there already, and CloudFormation
 * would fail to make it.
 * @see https://docs.aws.amazon.com/sagemaker/latest/dg/logging-cloudwatch.html
 */
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { type LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs';
import { ArnFormat, Stack } from 'aws-cdk-lib/core';
import { AwsCustomResource, PhysicalResourceId } from 'aws-cdk-lib/custom-resources';
import { Construct } from 'constructs';
import { createLogGroup, encryptionKeyOf } from '../encryption.ts';
import { justifyWildcard } from '../wildcards.ts';

/** How long logs are kept where nothing is said. */
export const DEFAULT_LOG_RETENTION = RetentionDays.THREE_MONTHS;

/**
 * Days that CloudWatch Logs takes.
 * @see https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_PutRetentionPolicy.html
 */
export const RETENTION_DAYS = Object.values(RetentionDays).filter(
  (value): value is RetentionDays => typeof value === 'number' && value !== RetentionDays.INFINITE,
);

/** Name of the group that SageMaker writes to. */
export function endpointLogGroup(endpointName: string): string {
  return `/aws/sagemaker/Endpoints/${endpointName}`;
}

/** Role and log of the CDK's one function for such calls in a stack. */
function callerOf(stack: Stack): { readonly role: Role; readonly logGroup: LogGroup } {
  const known = CALLERS.get(stack);
  if (known) return known;
  const scope = new Construct(stack, 'LogGroupUpkeep');
  const role = new Role(scope, 'Role', {
    description: "Sets expiry and key of SageMaker's log groups",
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  const logGroup = createLogGroup(scope, 'Log');
  logGroup.grantWrite(role);
  const caller = { role, logGroup };
  CALLERS.set(stack, caller);
  return caller;
}

const CALLERS = new WeakMap<Stack, ReturnType<typeof callerOf>>();

/** Calls that set expiry and key, in their order; each may be made again. */
function callsFor(retention: RetentionDays, key: IKey | undefined) {
  return {
    LogGroup: {
      action: 'createLogGroup',
      ignoreErrorCodesMatching: 'ResourceAlreadyExistsException',
    },
    LogRetention:
      retention === RetentionDays.INFINITE
        ? { action: 'deleteRetentionPolicy' }
        : { action: 'putRetentionPolicy', parameters: { retentionInDays: retention } },
    ...(key && { LogKey: { action: 'associateKmsKey', parameters: { kmsKeyId: key.keyArn } } }),
  };
}

/**
 * Makes the group unless it is there, sets its expiry, and its key where the construct around has one. When the stack
 * is deleted the group stays and empties itself.
 * @returns what must come before the endpoint
 */
export function keepLogs(
  parent: Construct,
  endpointName: string,
  retention: RetentionDays,
): Construct {
  const scope = new Construct(parent, 'Logs');
  const stack = Stack.of(scope);
  const logGroupName = endpointLogGroup(endpointName);
  const { role, logGroup } = callerOf(stack);
  const arn = stack.formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: logGroupName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  let before: Construct = role;
  for (const [id, call] of Object.entries(callsFor(retention, encryptionKeyOf(scope)))) {
    const { action, parameters, ...rest } = { parameters: {}, ...call };
    role.addToPolicy(
      new PolicyStatement({
        actions: [`logs:${action.charAt(0).toUpperCase()}${action.slice(1)}`],
        resources: [arn, `${arn}:*`],
      }),
    );
    const resource = new AwsCustomResource(scope, id, {
      resourceType: `Custom::SageMaker${id}`,
      onUpdate: {
        service: 'CloudWatchLogs',
        action,
        parameters: { logGroupName, ...parameters },
        physicalResourceId: PhysicalResourceId.of(logGroupName),
        ...rest,
      },
      role,
      logGroup,
      installLatestAwsSdk: false,
    });
    resource.node.addDependency(before);
    before = resource;
  }
  justifyWildcard(role, `${arn}:*`, 'The streams of this one log group');
  return scope;
}
