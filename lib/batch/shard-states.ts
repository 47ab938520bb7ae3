/**
 * A large input in shards: manifests are planned, each is one job, and at the end every input has an
 * output or is listed for another try. A shard first asks which of its inputs have no output yet, so a run
 * that was stopped and started again does only what is missing.
 */
import type { DefinitionProps, Ends } from './definition.ts';
import { jsonata } from './jsonata.ts';
import { FAILURE_REASON, transformStates } from './transform-state.ts';

/** Names the map's executions, `MACHINE/Shards:...`. */
export const SHARD_MAP_LABEL = 'Shards';

/** Jobs that a shard gets before what is missing is given up. */
const ATTEMPTS = 2;

/** Lambda's own faults, which pass. */
const LAMBDA_RETRY = [
  {
    ErrorEquals: [
      'Lambda.ServiceException',
      'Lambda.AWSLambdaException',
      'Lambda.SdkClientException',
      'Lambda.TooManyRequestsException',
    ],
    IntervalSeconds: 2,
    BackoffRate: 2,
    MaxAttempts: 6,
    JitterStrategy: 'FULL',
  },
];

/** JSONata of the message of an error that the function threw. */
const FUNCTION_ERROR = `(
  $cause := $states.errorOutput.Cause;
  $thrown := $substring($trim($cause), 0, 1) = "{" ? $parse($cause) : {};
  $exists($thrown.errorMessage) ? $thrown.errorMessage : $cause
)`;

/** Calls the shard function; the answer is `$states.result.Payload`. */
function callFunction(functionArn: string, payload: string, Output: string, Next: string) {
  return {
    Type: 'Task',
    Resource: 'arn:aws:states:::lambda:invoke',
    Arguments: { FunctionName: functionArn, Payload: jsonata(payload) },
    Retry: LAMBDA_RETRY,
    Output: jsonata(Output),
    Next,
  };
}

/** States from `Plan shards` to the completeness check. */
export function shardStates(props: DefinitionProps, ends: Ends) {
  const { shardFunctionArn } = props;
  const onError = {
    Catch: [
      {
        ErrorEquals: ['States.ALL'],
        Output: jsonata(`{ "error": "ShardsFailed", "reason": ${FUNCTION_ERROR} }`),
        Next: ends.failure,
      },
    ],
  };
  return {
    'Plan shards': {
      ...callFunction(
        shardFunctionArn,
        '{ "action": "plan", "settings": $sift($states.input, function($v, $k) { $k != "position" }), "position": $states.input.position }',
        '$merge([$states.input, $states.result.Payload])',
        'Planned?',
      ),
      ...onError,
    },
    'Planned?': {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata('$states.input.planned'),
          Output: jsonata('$sift($states.input, function($v, $k) { $k != "position" })'),
          Next: 'Run shards',
        },
      ],
      Default: 'Plan shards',
    },
    'Run shards': { ...shardMap(props), ...onError, Next: 'Check outputs' },
    'Check outputs': {
      ...callFunction(
        shardFunctionArn,
        '{ "action": "summary", "settings": $states.input }',
        '$states.result.Payload',
        'Complete?',
      ),
      ...onError,
    },
    'Complete?': {
      Type: 'Choice',
      Choices: [{ Condition: jsonata('$states.input.missing = 0'), Next: ends.success }],
      Default: 'Incomplete',
    },
    Incomplete: {
      Type: 'Pass',
      Output: jsonata(
        `{ "error": "Incomplete", "reason": $string($states.input.missing) & " of " & $string($states.input.inputs) & " inputs have no output; " & $states.input.advice }`,
      ),
      Next: ends.failure,
    },
  };
}

function shardMap(props: DefinitionProps) {
  return {
    Type: 'Map',
    Label: SHARD_MAP_LABEL,
    ItemReader: {
      Resource: 'arn:aws:states:::s3:listObjectsV2',
      Arguments: {
        Bucket: jsonata('$states.input.shards.bucket'),
        Prefix: jsonata('$states.input.shards.prefix'),
      },
    },
    ItemSelector: {
      shard: jsonata('$states.context.Map.Item.Value.Key'),
      settings: jsonata('$states.input'),
    },
    MaxConcurrency: jsonata('$states.input.maxConcurrentJobs'),
    // What a shard could not do is counted at the end; one shard stops no other.
    ToleratedFailurePercentage: 100,
    Output: jsonata('$states.input'),
    ItemProcessor: {
      ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
      StartAt: 'Find missing outputs',
      States: oneShard(props),
    },
  };
}

/** Looks for missing outputs and runs a job over them, until none is missing or the attempts are used up. */
function oneShard(props: DefinitionProps) {
  return {
    'Find missing outputs': callFunction(
      props.shardFunctionArn,
      '{ "action": "pending", "settings": $states.input.settings, "shard": $states.input.shard, "reason": $states.input.reason }',
      '$merge([$states.input, $states.result.Payload])',
      'Missing?',
    ),
    'Missing?': {
      Type: 'Choice',
      Choices: [
        { Condition: jsonata('$states.input.missing = 0'), Next: 'Shard done' },
        {
          Condition: jsonata(
            `$exists($states.input.attempt) and $states.input.attempt >= ${ATTEMPTS}`,
          ),
          Next: 'Shard done',
        },
      ],
      Default: 'Transform shard',
    },
    ...transformStates(
      'Transform shard',
      props,
      '$states.input.settings',
      '{ "S3DataType": "ManifestFile", "S3Uri": $states.input.manifestUri }',
      {
        Output: jsonata(nextAttempt('"no output was written"')),
        Next: 'Find missing outputs',
        onError: { Output: jsonata(nextAttempt(FAILURE_REASON)), Next: 'Find missing outputs' },
      },
    ),
    'Shard done': { Type: 'Succeed' },
  };
}

function nextAttempt(reason: string): string {
  return `$merge([$sift($states.input, function($v, $k) { $k != "job" }), { "attempt": ($exists($states.input.attempt) ? $states.input.attempt : 0) + 1, "reason": ${reason} }])`;
}
