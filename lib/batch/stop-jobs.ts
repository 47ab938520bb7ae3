/** Stops the jobs of an execution that was stopped: they would continue, and cost, without it. */
import { MAX_JOB_PREFIX } from '@sagemaker-tfs/batch';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { ArnFormat, Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { addFunction } from '../add-function.ts';
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
  const prefix = jobNamePrefix.slice(0, MAX_JOB_PREFIX);
  const { handler, role } = addFunction(stop, 'stop-jobs', {
    description: DESCRIPTION,
    memorySize: 256,
    timeout: Duration.minutes(5),
    environment: { JOB_NAME_PREFIX: prefix },
  });
  grantStop(role, machine, prefix);
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

function grantStop(role: Role, machine: StateMachine, prefix: string): void {
  const stack = Stack.of(role);
  const jobs = stack.formatArn({
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
  const executions = stack.formatArn({
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
}
