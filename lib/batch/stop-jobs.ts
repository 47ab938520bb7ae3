/** Stops the jobs of an execution that fails or was stopped: they would continue, and cost, without it. */
import { MAX_JOB_PREFIX } from '@sagemaker-tfs/batch';
import { Rule } from 'aws-cdk-lib/aws-events';
import { LambdaFunction } from 'aws-cdk-lib/aws-events-targets';
import { Policy, PolicyStatement, type Role } from 'aws-cdk-lib/aws-iam';
import type { IFunction } from 'aws-cdk-lib/aws-lambda';
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

/** The function, and what it needs once the state machine is there, which calls it. */
export interface JobStopper {
  readonly handler: IFunction;
  /** Calls it for executions that end without success. @param topic receives the alarm of jobs that could not be stopped */
  watch(machine: StateMachine, topic: ITopic | undefined): void;
}

/** Adds the function that stops jobs. Lambda itself tries twice again where an event has called it. */
export function createJobStopper(scope: Construct, jobNamePrefix: string): JobStopper {
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
  grantStop(role, prefix);
  return {
    handler,
    watch(machine, topic) {
      grantLook(stop, role, machine);
      stopAtEnds(stop, machine, new LambdaFunction(handler, { deadLetterQueue: undelivered }));
      const advice = `Jobs of a run that ended continue, and cost: ${machine.node.path}. Stop them by hand, and empty the queue`;
      alarmOfUndelivered(stop, undelivered, advice, topic);
    },
  };
}

/**
 * Adds a rule for executions that did not succeed. An event that the function could not deal with is kept, and an alarm
 * tells of it: its jobs are paid for.
 * @see https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html
 */
function stopAtEnds(stop: Construct, machine: StateMachine, target: LambdaFunction): void {
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
    targets: [target],
  });
}

function grantStop(role: Role, prefix: string): void {
  const jobs = Stack.of(role).formatArn({
    service: 'sagemaker',
    resource: 'transform-job',
    resourceName: `${prefix}-*`,
  });
  role.addToPolicy(
    new PolicyStatement({ actions: ['sagemaker:StopTransformJob'], resources: [jobs] }),
  );
  allowListingJobs(role);
  justifyWildcard(role, jobs, 'Every job has a name of its own with this prefix');
}

/** Lets a function find the jobs of an execution by their names. */
export function allowListingJobs(role: Role): void {
  role.addToPolicy(
    new PolicyStatement({ actions: ['sagemaker:ListTransformJobs'], resources: ['*'] }),
  );
  justifyWildcard(role, '*', 'sagemaker:ListTransformJobs has no resource to restrict it to');
}

/**
 * An execution may run again by now, and its event has no error under a key. In a policy of its own: the function waits for
 * its role's policies, and the machine, which this one names, for the function.
 */
function grantLook(stop: Construct, role: Role, machine: StateMachine): void {
  const executions = Stack.of(role).formatArn({
    service: 'states',
    resource: 'execution',
    resourceName: `${machine.stateMachineName}:*`,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  });
  const policy = new Policy(stop, 'LookPolicy', {
    roles: [role],
    statements: [
      new PolicyStatement({ actions: ['states:DescribeExecution'], resources: [executions] }),
    ],
  });
  grantReadRuns(policy, machine);
  justifyWildcard(policy, executions, 'Executions of this one state machine');
}
