/** Stops the jobs of an execution that was stopped: they would continue, and cost, without it. */
import { MAX_JOB_PREFIX } from '@sagemaker-tfs/batch';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Architecture, Runtime } from 'aws-cdk-lib/aws-lambda';
import { NodejsFunction } from 'aws-cdk-lib/aws-lambda-nodejs';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { ArnFormat, Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { createLogGroup } from '../encryption.ts';
import { bundledFunction } from '../hashing/bundled-function.ts';
import { justifyWildcard } from '../wildcards.ts';
import { grantReadRuns } from './machine-key.ts';

const DESCRIPTION = 'Stops the transform jobs of executions that ended before them';

/** Adds a rule for executions that did not succeed, and the function that it calls. */
export function stopJobsOfEndedRuns(
  scope: Construct,
  machine: StateMachine,
  jobNamePrefix: string,
): void {
  const stop = new Construct(scope, 'StopJobs');
  const logGroup = createLogGroup(stop, 'Log');
  const role = new Role(stop, 'Role', {
    description: DESCRIPTION,
    assumedBy: new ServicePrincipal('lambda.amazonaws.com'),
  });
  logGroup.grantWrite(role);
  const prefix = jobNamePrefix.slice(0, MAX_JOB_PREFIX);
  const jobs = Stack.of(stop).formatArn({
    service: 'sagemaker',
    resource: 'transform-job',
    resourceName: `${prefix}-*`,
  });
  role.addToPolicy(
    new PolicyStatement({ actions: ['sagemaker:StopTransformJob'], resources: [jobs] }),
  );
  role.addToPolicy(
    new PolicyStatement({ actions: ['sagemaker:ListTransformJobs'], resources: ['*'] }),
  );
  // An event has no input where that is large or under a key.
  const executions = Stack.of(stop).formatArn({
    service: 'states',
    resource: 'execution',
    resourceName: `${machine.stateMachineName}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  role.addToPolicy(
    new PolicyStatement({ actions: ['states:DescribeExecution'], resources: [executions] }),
  );
  grantReadRuns(role, machine);
  justifyWildcard(role, executions, 'Executions of this one state machine');
  justifyWildcard(role, jobs, 'Every job has a name of its own with this prefix');
  justifyWildcard(role, '*', 'sagemaker:ListTransformJobs has no resource to restrict it to');
  const handler = new NodejsFunction(stop, 'Function', {
    description: DESCRIPTION,
    ...bundledFunction('stop-jobs'),
    runtime: Runtime.NODEJS_24_X,
    architecture: Architecture.ARM_64,
    memorySize: 256,
    timeout: Duration.minutes(5),
    role,
    logGroup,
    environment: { JOB_NAME_PREFIX: prefix },
  });
  new Rule(stop, 'Rule', {
    description: DESCRIPTION,
    eventPattern: {
      source: ['aws.states'],
      detailType: ['Step Functions Execution Status Change'],
      detail: {
        stateMachineArn: [machine.stateMachineArn],
        status: ['ABORTED', 'FAILED', 'TIMED_OUT'],
      },
    },
    targets: [new LambdaFunction(handler)],
  });
}
