/** The state machine of a batch transform, in Amazon States Language with JSONata. */

import { beginStates, holdStates, releaseStates } from './begin-states.ts';
import type { DefinitionProps, Ends } from './definition-props.ts';
import { runFailure } from './function-state.ts';
import { jsonata } from './jsonata.ts';
import { publishState } from './publish-state.ts';
import { shardStates } from './shard-states.ts';
import { FAILURE_REASON, JOB_NAME, transformStates } from './transform-state.ts';
import { validateStates } from './validate-state.ts';

const SUCCEEDED = 'Succeeded';
const FAILED = 'Failed';
const NOTIFY_SUCCESS = 'Notify success';
const NOTIFY_FAILURE = 'Notify failure';

/** The whole machine. */
export function definition(props: DefinitionProps) {
  const outcomes: Ends = props.topicArn
    ? { success: NOTIFY_SUCCESS, failure: NOTIFY_FAILURE }
    : { success: SUCCEEDED, failure: FAILED };
  const ends: Ends = { success: 'Release', failure: 'Stop jobs' };
  return {
    Comment: 'Runs SageMaker transform jobs to their end',
    QueryLanguage: 'JSONata',
    StartAt: 'Validate',
    States: {
      ...validateStates(props.defaults, 'Begin', outcomes.failure),
      ...beginStates(props, {
        next: 'Sharded?',
        held: ends.failure,
        failure: outcomes.failure,
        repeated: SUCCEEDED,
      }),
      'Sharded?': {
        Type: 'Choice',
        Choices: [
          { Condition: jsonata('$states.input.settings.objectsPerShard > 0'), Next: 'Plan shards' },
        ],
        Default: 'Transform',
      },
      ...transformStates(
        'Transform',
        props,
        '$states.input.settings',
        '{ "S3DataType": $s.dataType, "S3Uri": $s.inputUri }',
        {
          Output: jsonata(
            `{ "jobs": [${JOB_NAME}], "outputUri": $states.input.settings.outputUri }`,
          ),
          Next: ends.success,
          onError: {
            Output: jsonata(runFailure('TransformFailed', FAILURE_REASON)),
            Next: ends.failure,
          },
          onRedrive: {
            Output: jsonata('$sift($states.input, function($v, $k) { $k != "job" })'),
            Next: 'Hold outputs',
          },
        },
      ),
      ...holdStates(props, 'Hold outputs', 'Transform', ends.failure),
      ...shardStates(props, ends),
      ...releaseStates(props, ends, outcomes),
      ...(props.topicArn && notifyStates(props.topicArn)),
      [SUCCEEDED]: { Type: 'Succeed' },
      [FAILED]: {
        Type: 'Fail',
        Error: jsonata('$states.input.error'),
        Cause: jsonata('$states.input.reason'),
      },
    },
  };
}

function notifyStates(topicArn: string) {
  const publish = (subject: string, next: string) =>
    publishState(topicArn, subject, '$states.input', next);
  return {
    [NOTIFY_SUCCESS]: publish('Batch transform succeeded', SUCCEEDED),
    [NOTIFY_FAILURE]: publish('Batch transform failed', FAILED),
  };
}
