/** Messages on the way: after each shard the function counts the progress of the run, and the topic receives a message at some points. */
import type { DefinitionProps } from './definition-props.ts';
import { callFunction } from './function-state.ts';
import { jsonata, literal } from './jsonata.ts';
import { publishState } from './publish-state.ts';

/** First state behind a shard that is done; without notices that is its end. */
export function afterShard({ topicArn, noticesAt = [] }: DefinitionProps, end: string): string {
  return topicArn !== undefined && noticesAt.length > 0 ? 'Count progress' : end;
}

/** @param end of the shard, whatever happens to the message */
export function noticeStates(props: DefinitionProps, end: string) {
  const { shardFunctionArn, topicArn, noticesAt } = props;
  if (topicArn === undefined || afterShard(props, end) === end) return {};
  return {
    'Count progress': {
      ...callFunction(
        shardFunctionArn,
        `{ "action": "progress", "settings": $states.input.settings, "shard": $states.input.shard, "noticesAt": ${literal(noticesAt)} }`,
        '$merge([{ "execution": $states.input.execution }, $states.result.Payload])',
        'Notice?',
      ),
      Catch: [{ ErrorEquals: ['States.ALL'], Next: end }],
    },
    'Notice?': {
      Type: 'Choice',
      Choices: [{ Condition: jsonata('$exists($states.input.percent)'), Next: 'Notify progress' }],
      Default: end,
    },
    // The execution of a map's item has another ARN than the run.
    'Notify progress': publishState(
      topicArn,
      jsonata('"Batch transform " & $string($states.input.percent) & "% done"'),
      '$states.input',
      end,
    ),
  };
}
