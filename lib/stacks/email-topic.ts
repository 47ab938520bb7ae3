/** A topic that sends mail. */
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { allowAlarms, encryptionKeyOf } from '../encryption.ts';

/** Adds a topic with one subscriber, who has to confirm by mail. */
export function emailTopic(scope: Construct, id: string, email: string): Topic {
  const masterKey = encryptionKeyOf(scope);
  if (masterKey) allowAlarms(masterKey);
  const topic = new Topic(scope, id, { enforceSSL: true, ...(masterKey && { masterKey }) });
  topic.addSubscription(new EmailSubscription(email));
  return topic;
}
