/** The state machine of a batch transform, in Amazon States Language with JSONata. */
import { jsonata } from './jsonata.ts';
import { shardStates } from './shard-states.ts';
import {
  FAILURE_REASON,
  type FixedJobProps,
  JOB_NAME,
  transformStates,
} from './transform-state.ts';
import { validateStates } from './validate-state.ts';

/** What the definition is made from; texts may hold CloudFormation tokens. */
export interface DefinitionProps extends FixedJobProps {
  /** JSON of the default settings. */
  readonly defaults: string;
  /** Function that plans shards and counts outputs. */
  readonly shardFunctionArn: string;
  /** @default - nobody is told */
  readonly topicArn?: string;
}

const SUCCEEDED = 'Succeeded';
const FAILED = 'Failed';
const NOTIFY_SUCCESS = 'Tell of success';
const NOTIFY_FAILURE = 'Tell of failure';

/** Where the machine goes when the work is done, and when it is not. */
export interface Ends {
  readonly success: string;
  /** Takes `{error, reason}`. */
  readonly failure: string;
}

/** The whole machine. */
export function definition(props: DefinitionProps) {
  const ends: Ends = props.topicArn
    ? { success: NOTIFY_SUCCESS, failure: NOTIFY_FAILURE }
    : { success: SUCCEEDED, failure: FAILED };
  return {
    Comment: 'Runs SageMaker transform jobs to their end',
    QueryLanguage: 'JSONata',
    StartAt: 'Validate',
    States: {
      ...validateStates(props.defaults, 'Sharded?'),
      'Sharded?': {
        Type: 'Choice',
        Choices: [{ Condition: jsonata('$states.input.objectsPerShard > 0'), Next: 'Plan shards' }],
        Default: 'Transform',
      },
      ...transformStates(
        'Transform',
        props,
        '$states.input',
        '{ "S3DataType": $s.dataType, "S3Uri": $s.inputUri }',
        {
          Output: jsonata(`{ "jobs": [${JOB_NAME}], "outputUri": $states.input.outputUri }`),
          Next: ends.success,
          onError: {
            Output: jsonata(`{ "error": "TransformFailed", "reason": ${FAILURE_REASON} }`),
            Next: ends.failure,
          },
        },
      ),
      ...shardStates(props, ends),
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
  const publish = (subject: string, Next: string) => ({
    Type: 'Task',
    Resource: 'arn:aws:states:::sns:publish',
    Arguments: {
      TopicArn: topicArn,
      Subject: subject,
      Message: jsonata(
        '$string({ "execution": $states.context.Execution.Id, "detail": $states.input })',
      ),
    },
    // A message that cannot be sent changes nothing about the work.
    Catch: [{ ErrorEquals: ['States.ALL'], Output: jsonata('$states.input'), Next }],
    Output: jsonata('$states.input'),
    Next,
  });
  return {
    [NOTIFY_SUCCESS]: publish('Batch transform succeeded', SUCCEEDED),
    [NOTIFY_FAILURE]: publish('Batch transform failed', FAILED),
  };
}
