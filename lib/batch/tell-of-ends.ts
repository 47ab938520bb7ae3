/** Tells a topic of executions that ended without a word of their own: stopped, out of time, or beyond a quota. */
import { Match, Rule, RuleTargetInput } from 'aws-cdk-lib/aws-events';
import { SnsTopic } from 'aws-cdk-lib/aws-events-targets';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import type { StateMachine } from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { allowPublisher } from '../encryption.ts';

/**
 * Adds the rule. The machine itself tells of every end that it comes to; an error of Step Functions' own, such as
 * `States.Runtime`, ends it where no state can catch it.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/concepts-error-handling.html
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-create-pattern-operators.html
 */
export function tellOfSilentEnds(scope: Construct, machine: StateMachine, topic: ITopic): void {
  // By AWS's text the key must know the service; the rule's role may use it too.
  // https://repost.aws/knowledge-center/sns-not-getting-eventbridge-notification
  allowPublisher(scope, topic, 'events.amazonaws.com');
  new Rule(scope, 'SilentEnd', {
    description: 'Tells of batch runs that ended without a word',
    eventPattern: {
      source: ['aws.states'],
      detailType: ['Step Functions Execution Status Change'],
      detail: {
        stateMachineArn: [machine.stateMachineArn],
        $or: [
          { status: ['ABORTED', 'TIMED_OUT'] },
          { status: ['FAILED'], error: Match.prefix('States.') },
        ],
      },
    },
    targets: [
      new SnsTopic(topic, {
        message: RuleTargetInput.fromEventPath('$.detail'),
        // By a role, as the machine publishes: a topic from elsewhere needs no policy for EventBridge.
        authorizeUsingRole: true,
      }),
    ],
  });
}
