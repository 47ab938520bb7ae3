/**
 * A large input in shards: manifests are planned, a small one is run first, each of the others is one job, one more job
 * mops up what they left, and at the end every input has an output or is listed for another try.
 */

import { holdStates, SHARDS_END } from './begin-states.ts';
import type { DefinitionProps, Ends } from './definition-props.ts';
import { callFunction, FUNCTION_ERROR, failWith, runFailure } from './function-state.ts';
import { CANARY_MANIFEST } from './handler/run-places.ts';
import { jsonata } from './jsonata.ts';
import { MAX_WAITS, oneShard, shardInput, WAIT_SECONDS } from './one-shard.ts';
import { statesArn } from './states-arn.ts';
import { FAILURE_CLASS, JOB_SPENT, transformStates } from './transform-state.ts';

/** Name the maps' executions, `MACHINE/Shards:...`. */
export const SHARD_MAP_LABELS = ['Canary', 'Shards'] as const;

/** The other shards end a moment after the one that has ended the map, and may make jobs until then. */
const SHARDS_STOPPED = 'Wait for other shards';

/** JSONata of the settings. */
const SETTINGS = '$states.input.settings';

/** States from `Plan shards` to the completeness check. */
export function shardStates(props: DefinitionProps, ends: Ends) {
  return {
    ...planStates(props, ends),
    'Run canary': {
      ...shardMap(props, 'Canary', `$states.input.shards.prefix & "${CANARY_MANIFEST}"`),
      // The plan continues where it ended, with shards of the size that the rate of this one decides.
      Output: jsonata(
        `$exists($states.input.canaryOnly) ? $merge([$sift($states.input, function($v, $k) { $k != "canaryOnly" }), { "measured": true }]) : ${without('{}')}`,
      ),
      Next: 'All planned?',
    },
    'All planned?': {
      Type: 'Choice',
      Choices: [{ Condition: jsonata('$states.input.planned'), Next: 'Run shards' }],
      Default: 'Plan shards',
    },
    'Run shards': {
      ...shardMap(props, 'Shards', '$states.input.shards.prefix'),
      Next: 'Check outputs',
    },
    [SHARDS_STOPPED]: { Type: 'Wait', Seconds: SHARDS_END, Next: 'Why stopped' },
    'Why stopped': {
      ...callFunction(
        props.shardFunctionArn,
        `{ "action": "why", "settings": ${SETTINGS}, "execution": $states.context.Execution.Id, "otherwise": $states.input.mapFailed }`,
        '$states.result.Payload',
        ends.failure,
      ),
      ...failWith('ShardsFailed', ends.failure),
    },
    ...checkStates(props, ends),
  };
}

function planStates({ shardFunctionArn }: DefinitionProps, ends: Ends) {
  return {
    'Plan shards': {
      ...callFunction(
        shardFunctionArn,
        `{ "action": "plan", "settings": ${SETTINGS}, "execution": $states.context.Execution.Id, "since": $states.input.since, "position": $states.input.position }`,
        '$merge([$states.input, $states.result.Payload])',
        'Planned?',
      ),
      ...failWith('ShardsFailed', ends.failure),
    },
    'Planned?': {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata('$exists($states.input.lost)'),
          Output: jsonata(runFailure('AlreadyRunning', '$states.input.lost')),
          Next: ends.failure,
        },
        {
          Condition: jsonata('$exists($states.input.canaryOnly)'),
          Next: 'Run canary',
        },
        { Condition: jsonata('$not($states.input.planned)'), Next: 'Plan shards' },
        {
          Condition: jsonata('$exists($states.input.measured)'),
          Output: withoutPosition('{}'),
          Next: 'Run shards',
        },
        {
          Condition: jsonata(`$states.input.inputs = 0 and $not(${SETTINGS}.allowEmpty)`),
          Next: 'Nothing found',
        },
        {
          Condition: jsonata('$states.input.inputs = 0'),
          Output: withoutPosition('{}'),
          Next: 'Check outputs',
        },
      ],
      Default: 'Run canary',
    },
    'Nothing found': {
      Type: 'Pass',
      Output: jsonata(
        runFailure(
          'NothingFound',
          `"no input below " & ${SETTINGS}.inputUri
          & (${SETTINGS}.keySuffix = "" ? "" : " ends in " & ${SETTINGS}.keySuffix)
          & ($exists($states.input.passedOver) ? "; there is " & $join($states.input.passedOver, ", ") : "")
          & ". Check inputUri and keySuffix, or set allowEmpty"`,
        ),
      ),
      Next: ends.failure,
    },
  };
}

/** JSONata of the state without where the plan or a count has stopped. */
function without(changes: string): string {
  return `$merge([$sift($states.input, function($v, $k) { $not($k in ["position", "job"]) }), ${changes}])`;
}

function withoutPosition(changes: string): string {
  return jsonata(without(changes));
}

/** @param prefix JSONata of the start of the manifests' keys */
function shardMap(
  props: DefinitionProps,
  Label: (typeof SHARD_MAP_LABELS)[number],
  prefix: string,
) {
  return {
    Type: 'Map',
    Label,
    ItemReader: {
      Resource: statesArn('s3:listObjectsV2'),
      Arguments: { Bucket: jsonata('$states.input.shards.bucket'), Prefix: jsonata(prefix) },
    },
    ItemSelector: shardInput(Label === 'Canary'),
    MaxConcurrency: jsonata(`${SETTINGS}.maxConcurrentJobs`),
    // A shard fails only to stop the run; what it could not do is counted at the end.
    ToleratedFailureCount: 0,
    Output: withoutPosition('{}'),
    Retry: [
      {
        // The list of the manifests. Shards that were done by then are found done.
        ErrorEquals: ['States.ItemReaderFailed'],
        IntervalSeconds: 15,
        BackoffRate: 2,
        MaxAttempts: 4,
        JitterStrategy: 'FULL',
      },
    ],
    Catch: [
      {
        ErrorEquals: ['States.ALL'],
        Output: jsonata(`$merge([$states.input, { "mapFailed": ${FUNCTION_ERROR} }])`),
        Next: SHARDS_STOPPED,
      },
    ],
    ItemProcessor: {
      ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
      StartAt: 'Canary done?',
      States: oneShard(props),
    },
  };
}

/** JSONata of the summary without what only the machine uses. */
const RESULT =
  '$sift($states.input.summary, function($v, $k) { $not($k in ["counted", "position"]) })';

function checkStates(props: DefinitionProps, ends: Ends) {
  return {
    'Check outputs': {
      ...callFunction(
        props.shardFunctionArn,
        `{ "action": "summary", "settings": ${SETTINGS}, "execution": $states.context.Execution.Id, "since": $states.input.since, "recount": $exists($states.input.mopped), "mopUp": $states.input.mopped, "position": $states.input.position }`,
        '$merge([$states.input, { "summary": $states.result.Payload }])',
        'Complete?',
      ),
      ...failWith('ShardsFailed', ends.failure),
    },
    'Complete?': {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata('$exists($states.input.summary.lost)'),
          Output: jsonata(runFailure('AlreadyRunning', '$states.input.summary.lost')),
          Next: ends.failure,
        },
        {
          Condition: jsonata('$not($states.input.summary.counted)'),
          Output: withoutPosition('{ "position": $states.input.summary.position }'),
          Next: 'Check outputs',
        },
        {
          Condition: jsonata('$states.input.summary.missing = 0'),
          Output: jsonata(RESULT),
          Next: ends.success,
        },
        {
          // More than a shard's worth would take one instance too long.
          Condition: jsonata(
            `$not($exists($states.input.mopped)) and $exists($states.input.summary.redriveUri) and $states.input.summary.missing - $states.input.summary.refused <= ${SETTINGS}.objectsPerShard`,
          ),
          Next: 'Hold for mop-up',
        },
      ],
      Default: 'Incomplete',
    },
    ...holdStates(props, 'Hold for mop-up', 'Mop up', ends.failure),
    ...mopUpStates(props),
    Incomplete: {
      Type: 'Pass',
      Output: jsonata(
        runFailure(
          'Incomplete',
          '$string($states.input.summary.missing) & " of " & $string($states.input.summary.inputs) & " inputs have no output; " & $states.input.summary.advice',
        ),
      ),
      Next: ends.failure,
    },
  };
}

/** One more job over what the shards have left, and back to the check. */
function mopUpStates(props: DefinitionProps) {
  const afterMopUp = {
    Output: withoutPosition(`{ "mopped": $exists(${JOB_SPENT}) ? ${JOB_SPENT} : {} }`),
    Next: 'Check outputs',
  };
  return {
    ...transformStates(
      'Mop up',
      props,
      `$merge([${SETTINGS}, { "instanceCount": 1 }])`,
      '{ "S3DataType": "ManifestFile", "S3Uri": $states.input.summary.redriveUri }',
      {
        ...afterMopUp,
        onError: { Output: jsonata('$states.input'), Next: 'Mop-up refused?' },
        onRedrive: { Output: withoutPosition('{}'), Next: 'Hold for mop-up' },
      },
    ),
    'Mop-up refused?': {
      Type: 'Choice',
      Choices: [
        {
          // What the shards wait for, the last job waits for, too.
          Condition: jsonata(
            `${FAILURE_CLASS} in ["capacity", "internal"] and ($exists($states.input.waits) ? $states.input.waits : 0) < ${MAX_WAITS}`,
          ),
          Output: withoutPosition(
            '{ "waits": $exists($states.input.waits) ? $states.input.waits + 1 : 1 }',
          ),
          Next: 'Wait for mop-up',
        },
      ],
      Default: 'Mop-up left',
    },
    'Mop-up left': { Type: 'Pass', ...afterMopUp },
    'Wait for mop-up': { Type: 'Wait', Seconds: WAIT_SECONDS, Next: 'Hold for mop-up' },
  };
}
