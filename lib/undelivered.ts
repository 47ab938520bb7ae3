/** Events that came to nothing: a queue that keeps them, and an alarm that tells of them. */
import { Alarm, TreatMissingData } from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import { Queue, QueueEncryption } from 'aws-cdk-lib/aws-sqs';
import { Duration, Validations } from 'aws-cdk-lib/core';
import { Construct } from 'constructs';
import { allowPublisher } from './encryption.ts';

/**
 * A queue that keeps events for 14 days. Under SQS's own key: a customer's would have to let EventBridge in by
 * its policy, and an event has no more than names.
 * @see https://docs.aws.amazon.com/eventbridge/latest/userguide/eb-rule-dlq.html
 */
export function keepUndelivered(scope: Construct): Queue {
  const queue = new Queue(scope, 'Undelivered', {
    encryption: QueueEncryption.SQS_MANAGED,
    enforceSSL: true,
    retentionPeriod: Duration.days(14),
  });
  Validations.of(queue).acknowledge({
    id: 'AwsSolutions-SQS3',
    reason: 'It is the dead-letter queue of a rule or a schedule of EventBridge',
  });
  return queue;
}

/** Lets EventBridge put events of one rule into a queue. */
export function allowUndelivered(queue: Queue, ruleArn: string): void {
  queue.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('events.amazonaws.com')],
      actions: ['sqs:SendMessage'],
      resources: [queue.queueArn],
      conditions: { ArnEquals: { 'aws:SourceArn': ruleArn } },
    }),
  );
}

/** An alarm that stays until the queue is empty. */
export function alarmOfUndelivered(
  scope: Construct,
  queue: Queue,
  alarmDescription: string,
  topic: ITopic | undefined,
): Alarm {
  const alarm = new Alarm(scope, 'Alarm', {
    alarmDescription,
    metric: queue.metricApproximateNumberOfMessagesVisible({ statistic: 'Maximum' }),
    threshold: 1,
    evaluationPeriods: 1,
    treatMissingData: TreatMissingData.NOT_BREACHING,
  });
  if (!topic) return alarm;
  allowPublisher(scope, topic, 'cloudwatch.amazonaws.com');
  alarm.addAlarmAction(new SnsAction(topic));
  return alarm;
}

/** A queue for events that should have started a batch run, with an alarm that tells of them. */
export function keepUnstarted(scope: Construct, topic: ITopic | undefined): Queue {
  const starts = new Construct(scope, 'Starts');
  const queue = keepUndelivered(starts);
  const advice = `A batch run did not start: ${scope.node.path}. Start it by hand, and empty the queue`;
  alarmOfUndelivered(starts, queue, advice, topic);
  return queue;
}
