/** Stops the jobs of an execution that was stopped: they would continue, and cost, without it. */
import { MAX_JOB_PREFIX } from '@sagemaker-tfs/batch';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import { ArnFormat, Duration, Stack } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { addFunction } from '../add-function.ts';
import { alarmOfUndelivered, keepUndelivered } from '../undelivered.ts';
import { justifyWildcard } from '../wildcards.ts';
import { grantReadRuns } from './machine-key.ts';

const DESCRIPTION = 'Stops the transform jobs of executions that ended before them';

/** When it looks again, in seconds after the last look: Step Functions stops shards after the run that they are of. */
const LOOK_AGAIN_SECONDS = [60, 120];

/**
 * Adds a rule for executions that did not succeed, and the function that it calls. An event that it could not deal with
 * is kept, and an alarm tells `topic`: its jobs are paid for. Lambda itself tries twice again.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
 */
export function stopJobsOfEndedRuns(
  scope: Construct,
  machine: StateMachine,
  jobNamePrefix: string,
  topic: ITopic | undefined,
): void {
  const stop = new Construct(scope, 'StopJobs');
  const prefix = jobNamePrefix.slice(0, MAX_JOB_PREFIX);
  const undelivered = keepUndelivered(stop);
  const { handler, role } = addFunction(stop, 'stop-jobs', {
    description: DESCRIPTION,
    memorySize: 256,
    timeout: Duration.minutes(15),
    environment: { JOB_NAME_PREFIX: prefix, LOOK_AGAIN_SECONDS: LOOK_AGAIN_SECONDS.join() },
    deadLetterQueue: undelivered,
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
    targets: [new LambdaFunction(handler, { deadLetterQueue: undelivered })],
  });
  const advice = `Jobs of a run that ended continue, and cost: ${machine.node.path}. Stop them by hand, and empty the queue`;
  alarmOfUndelivered(stop, undelivered, advice, topic);
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
  // It may run again by now, and its event has no error under a key.
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
