/** Tells a topic of runs that ended, or do not begin. */
import { type EventPattern, Match, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { allowPublisher } from '../encryption.ts';
import { eventsRole } from '../event-role.ts';
import { keysOfMachine } from './machine-key.ts';

/**
 * Tells of executions that ended without a word of their own: stopped, out of time, or beyond a quota. The machine
 * itself tells of every end that it comes to; an error of Step Functions' own, such as `States.Runtime`, ends it where
 * no state can catch it. Events of a machine under a key do not name the error, so there it tells of every failure.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html
 */
export function tellOfSilentEnds(scope: Construct, machine: StateMachine, topic: ITopic): void {
  tellOf(scope, 'SilentEnd', topic, {
    description: 'Tells of batch runs that ended without a word',
    eventPattern: {
      source: ['aws.states'],
      detailType: ['Step Functions Execution Status Change'],
      detail: {
        stateMachineArn: [machine.stateMachineArn],
        ...(keysOfMachine(machine).length > 0
          ? { status: ['ABORTED', 'TIMED_OUT', 'FAILED'] }
          : {
              $or: [
                { status: ['ABORTED', 'TIMED_OUT'] },
                { status: ['FAILED'], error: Match.prefix('States.') },
              ],
            }),
      },
    },
  });
}

/** Tells of jobs of a queue of AWS Batch that ended; of an array once, not of each of its children. */
export function tellOfEndedJobs(scope: Construct, queueArn: string, topic: ITopic): void {
  tellOf(scope, 'Ended', topic, {
    description: 'Tells of runs of batch workers that ended',
    eventPattern: {
      source: ['aws.batch'],
      detailType: ['Batch Job State Change'],
      detail: {
        jobQueue: [queueArn],
        status: ['SUCCEEDED', 'FAILED'],
        arrayProperties: { index: Match.doesNotExist() },
      },
    },
  });
}

/**
 * Tells of a job that waits at the head of a queue, and why: no capacity, a service role, types that do not suit it.
 * @see https://docs.aws.amazon.com/batch/latest/userguide/batch-job-queue-blocked-events.html
 */
export function tellOfBlockedQueue(scope: Construct, queueArn: string, topic: ITopic): void {
  tellOf(scope, 'Blocked', topic, {
    description: 'Tells of batch workers that find no instance',
    eventPattern: {
      source: ['aws.batch'],
      detailType: ['Batch Job Queue Blocked'],
      detail: { jobQueue: [queueArn] },
    },
  });
}

/** Sends the detail of events to a topic. */
function tellOf(
  scope: Construct,
  id: string,
  topic: ITopic,
  rule: { readonly description: string; readonly eventPattern: EventPattern },
): void {
  // By AWS's text the key must know the service; the rule's role may use it too.
  // https://repost.aws/knowledge-center/sns-not-getting-eventbridge-notification
  allowPublisher(scope, topic, 'events.amazonaws.com');
  const published = new Rule(scope, id, rule);
  published.addTarget(
    new SnsTopic(topic, {
      message: RuleTargetInput.fromEventPath('$.detail'),
      // By a role, as the machine publishes: a topic from elsewhere needs no policy for EventBridge.
      role: eventsRole(published),
    }),
  );
}
