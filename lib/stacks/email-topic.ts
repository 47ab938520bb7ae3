/** A topic that sends mail. */
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { Aws } from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import { encryptionKeyOf } from '../encryption.ts';

/** Adds a topic with one subscriber, who has to confirm by mail. */
export function emailTopic(scope: Construct, id: string, email: string): Topic {
  const masterKey = encryptionKeyOf(scope);
  const topic = new Topic(scope, id, { enforceSSL: true, ...(masterKey && { masterKey }) });
  // A policy of its own replaces the one that lets everything of the account publish; alarms need to be let in again.
  // https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/Notify_Users_Alarm_Changes.html
  topic.addToResourcePolicy(
    new PolicyStatement({
      principals: [new ServicePrincipal('cloudwatch.amazonaws.com')],
      actions: ['sns:Publish'],
      resources: [topic.topicArn],
      conditions: { StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID } },
    }),
  );
  topic.addSubscription(new EmailSubscription(email));
  return topic;
}
