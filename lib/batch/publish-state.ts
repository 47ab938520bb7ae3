/** A state that sends a message to a topic; the input continues as it is. */
import { jsonata } from './jsonata.ts';
import { statesArn } from './states-arn.ts';

/**
 * Publishes `{execution, detail}`.
 * @param subject text, or JSONata
 * @param detail JSONata
 */
export function publishState(topicArn: string, subject: string, detail: string, Next: string) {
  return {
    Type: 'Task',
    Resource: statesArn('sns:publish'),
    Arguments: {
      TopicArn: topicArn,
      Subject: subject,
      Message: jsonata(
        `$string({ "execution": $states.context.Execution.Id, "detail": ${detail} })`,
      ),
    },
    Retry: [
      {
        ErrorEquals: ['States.TaskFailed', 'States.Timeout'],
        IntervalSeconds: 5,
        BackoffRate: 2,
        MaxAttempts: 5,
        JitterStrategy: 'FULL',
      },
    ],
    // A message that cannot be sent changes nothing about the work.
    Catch: [{ ErrorEquals: ['States.ALL'], Output: jsonata('$states.input'), Next }],
    Output: jsonata('$states.input'),
    Next,
  };
}
