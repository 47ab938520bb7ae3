/**
 * One shard: it asks which of its inputs have no output yet, so a run that was stopped and started again does only what
 * is missing, and runs one job over them. What that job leaves is for the mop-up job of the run. A job that could not
 * run is tried again; a model that cannot run stops all shards.
 */

import type { RunError } from '../errors.ts';
import type { DefinitionProps } from './definition-props.ts';
import { BACK_OFF, callFunction, runFailure } from './function-state.ts';
import { CANARY_MANIFEST } from './handler/run-places.ts';
import { jsonata } from './jsonata.ts';
import { afterShard, noticeStates } from './notice-states.ts';
import { FAILURE_CLASS, FAILURE_REASON, JOB_SPENT, transformStates } from './transform-state.ts';

/** Waits for capacity before a job is given up: together more than a day. */
export const MAX_WAITS = 30;
const FIRST_WAIT = 300;
const LONGEST_WAIT = 3_600;

/** JSONata of the seconds before a job that could not run is tried again. */
export const WAIT_SECONDS = jsonata(
  `$min([${LONGEST_WAIT}, ${FIRST_WAIT} * $power(2, $states.input.waits - 1)])`,
);

/** JSONata of the state with some fields changed, and without where the last count stopped. */
function state(changes: string): string {
  return `$merge([$sift($states.input, function($v, $k) { $not($k in ["position", "found", "job"]) }), ${changes}])`;
}

/** States of a map's item `{shard, canary, settings, since, execution}`. */
export function oneShard(props: DefinitionProps) {
  return {
    'Canary done?': {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata(
            `$not($states.input.canary) and $contains($states.input.shard, "/${CANARY_MANIFEST}")`,
          ),
          Next: 'Shard done',
        },
      ],
      Default: 'Find missing outputs',
    },
    ...countStates(props),
    ...jobStates(props),
    ...stopStates(props),
    ...noticeStates(props, 'Shard done'),
    // Empty: the map's result holds every shard's output, and a state takes 256 KiB.
    'Shard done': { Type: 'Succeed', Output: {} },
  };
}

/** The choice that stops all shards. */
function stopping(condition: string, error: RunError, reason: string) {
  return {
    Condition: jsonata(condition),
    Output: jsonata(state(runFailure(error, reason))),
    Next: 'Stop run',
  };
}

function countStates(props: DefinitionProps) {
  const { shardFunctionArn } = props;
  return {
    'Find missing outputs': {
      ...callFunction(
        shardFunctionArn,
        `$merge([
          { "action": "pending", "last": $states.input.attempt > 0 },
          $sift($states.input, function($v, $k) { $k in ["settings", "since", "shard", "execution", "reason", "spent", "position"] })
        ])`,
        '$merge([$states.input, { "found": $states.result.Payload }])',
        'Missing?',
      ),
      // The check at the end counts it again.
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'Shard done' }],
    },
    'Missing?': {
      Type: 'Choice',
      Choices: [
        {
          // No reason is kept: the lease tells it.
          ...stopping(
            '$exists($states.input.found.lost)',
            'AlreadyRunning',
            '$states.input.found.lost',
          ),
          Next: 'Run stopped',
        },
        {
          Condition: jsonata('$not($states.input.found.counted)'),
          Output: jsonata('$merge([$states.input, { "position": $states.input.found.position }])'),
          Next: 'Find missing outputs',
        },
        {
          // The job is not to blame: an input was deleted after the shard was counted.
          Condition: jsonata('$states.input.attempt > 0 and $states.input.found.again'),
          Output: jsonata('$merge([$states.input, { "attempt": 0 }])'),
          Next: 'Missing?',
        },
        stopping(
          '$states.input.attempt > 0 and $states.input.class = "data" and $states.input.found.failedPercent > $states.input.settings.maxFailurePercent',
          'TooManyFailures',
          '$string($round($states.input.found.failedPercent, 1)) & "% of the inputs of shard " & $states.input.shard & " have no output, and maxFailurePercent is " & $string($states.input.settings.maxFailurePercent) & ": " & $states.input.reason',
        ),
        {
          Condition: jsonata('$states.input.found.missing = 0 or $states.input.attempt > 0'),
          Next: afterShard(props, 'Shard done'),
        },
        stopping(
          '$states.input.found.overBudget',
          'OverBudget',
          '"the jobs of this run have used its " & $string($states.input.settings.budgetInstanceHours) & " instance hours. Jobs that run continue to their end; start again after it, with a larger budgetInstanceHours and the same runId, to continue"',
        ),
      ],
      Default: 'Transform shard',
    },
  };
}

function jobStates(props: DefinitionProps) {
  return {
    ...transformStates(
      'Transform shard',
      props,
      '$states.input.settings',
      '{ "S3DataType": "ManifestFile", "S3Uri": $states.input.found.manifestUri }',
      {
        Output: jsonata(
          state(
            `{ "attempt": 1, "class": "data", "reason": "no output was written", "spent": ${JOB_SPENT} }`,
          ),
        ),
        Next: 'Find missing outputs',
        onError: {
          Output: jsonata(
            state(
              `{ "class": ${FAILURE_CLASS}, "reason": ${FAILURE_REASON}, "redrive": $states.input.job.redrive, "spent": $exists(${JOB_SPENT}) ? ${JOB_SPENT} : {} }`,
            ),
          ),
          Next: 'Why?',
        },
        onRedrive: {
          Output: jsonata(state(`{ "spent": $exists(${JOB_SPENT}) ? ${JOB_SPENT} : {} }`)),
          Next: 'Find missing outputs',
        },
      },
    ),
    'Why?': {
      Type: 'Choice',
      Choices: [
        stopping('$states.input.class = "lasting"', 'CannotRun', '$states.input.reason'),
        { Condition: jsonata('$states.input.class = "stopped"'), Next: 'Wait for end of run' },
        {
          Condition: jsonata(
            `$states.input.class in ["capacity", "internal"] and $states.input.waits < ${MAX_WAITS}`,
          ),
          Output: jsonata(state('{ "waits": $states.input.waits + 1 }')),
          Next: 'Wait for capacity',
        },
      ],
      Default: 'Give up job',
    },
    ...jobStoppedStates(),
    'Wait for capacity': {
      Type: 'Wait',
      Seconds: WAIT_SECONDS,
      Next: 'Find missing outputs',
    },
    'Give up job': {
      Type: 'Pass',
      Output: jsonata(state('{ "attempt": 1 }')),
      Next: 'Find missing outputs',
    },
  };
}

/** A job that somebody stopped: together with the run, or alone. */
function jobStoppedStates() {
  return {
    // Step Functions stops shards a moment after the run, whose jobs are being stopped by then.
    'Wait for end of run': { Type: 'Wait', Seconds: 120, Next: 'Stopped alone?' },
    'Stopped alone?': {
      Type: 'Choice',
      Choices: [
        stopping(
          '$states.input.redrive = $states.context.Execution.RedriveCount',
          'JobStopped',
          '$states.input.reason & ". Start again with runId \'" & $states.input.settings.runId & "\' to continue"',
        ),
      ],
      Default: 'Find missing outputs',
    },
  };
}

/** Keeps the reason, and fails: the first failure ends the map, and so every other job. */
function stopStates({ shardFunctionArn }: DefinitionProps) {
  return {
    'Stop run': {
      ...callFunction(
        shardFunctionArn,
        '{ "action": "stop", "settings": $states.input.settings, "execution": $states.input.execution, "error": $states.input.error, "reason": $states.input.reason }',
        '$states.result.Payload',
        'Run stopped',
      ),
      // Not as long as others: until it ends, the other shards make jobs.
      Retry: [{ ErrorEquals: ['States.ALL'], ...BACK_OFF }],
      Catch: [
        { ErrorEquals: ['States.ALL'], Output: jsonata('$states.input'), Next: 'Run stopped' },
      ],
    },
    'Run stopped': {
      Type: 'Fail',
      Error: jsonata('$states.input.error'),
      Cause: jsonata('$states.input.reason'),
    },
  };
}

/** What the map hands to a shard. */
export function shardInput(canary: boolean) {
  return {
    shard: jsonata('$states.context.Map.Item.Value.Key'),
    settings: jsonata('$states.input.settings'),
    since: jsonata('$states.input.since'),
    execution: jsonata('$states.context.Execution.Id'),
    canary,
    attempt: 0,
    waits: 0,
    class: '',
    reason: '',
  };
}
