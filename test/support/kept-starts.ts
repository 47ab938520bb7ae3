/** Rules of EventBridge whose target may refuse an event: the queues that keep those, and the alarms that tell of them. */
import type { Template } from 'aws-cdk-lib/assertions';

interface Resource {
  readonly Properties: {
    readonly Targets: {
      readonly Arn: unknown;
      readonly DeadLetterConfig?: { readonly Arn: unknown };
    }[];
    readonly Dimensions?: { readonly Name: string; readonly Value: unknown }[];
    readonly AlarmActions?: readonly unknown[];
  };
}

/**
 * Targets of rules, messages of topics left out, that no queue with an alarm stands behind.
 * @param mails whether the alarm must have somebody to tell
 */
export function unkeptStarts(template: Template, mails: boolean): string[] {
  const all = (type: string) =>
    Object.entries(template.findResources(type)) as [string, Resource][];
  const watched = all('AWS::CloudWatch::Alarm')
    .filter(([, { Properties }]) => !mails || (Properties.AlarmActions ?? []).length > 0)
    .flatMap(([, { Properties }]) => Properties.Dimensions ?? [])
    .filter(({ Name }) => Name === 'QueueName')
    .map(({ Value }) => JSON.stringify(Value).replace('QueueName', 'Arn'));
  const topics = all('AWS::SNS::Topic').map(([id]) => JSON.stringify({ Ref: id }));
  return all('AWS::Events::Rule').flatMap(([id, { Properties }]) =>
    Properties.Targets.filter(
      ({ Arn, DeadLetterConfig }) =>
        !topics.includes(JSON.stringify(Arn)) &&
        !watched.includes(JSON.stringify(DeadLetterConfig?.Arn)),
    ).map(() => id),
  );
}
