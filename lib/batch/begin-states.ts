/**
 * The beginning of every run. One execution at a time writes below an output prefix: it holds a lease, which another
 * takes over when it has ended.
 */

import { MACHINE_STATES } from '@sagemaker-tfs/batch';
import type { DefinitionProps, Ends } from './definition-props.ts';
import { BACK_OFF, callFunction, failWith, runFailure } from './function-state.ts';
import { jsonata, literal } from './jsonata.ts';
import { statesArn } from './states-arn.ts';

/** Whether the run that holds the lease still runs. */
const HOLDER_STATES = {
  'Describe holder': {
    Type: 'Task',
    Resource: statesArn('aws-sdk:sfn:describeExecution'),
    Arguments: { ExecutionArn: jsonata('$states.input.begun.holder') },
    Retry: [
      {
        ErrorEquals: ['Sfn.ExecutionDoesNotExistException', 'Sfn.InvalidArnException'],
        MaxAttempts: 0,
      },
      { ErrorEquals: ['States.TaskFailed', 'States.Timeout'], ...BACK_OFF },
    ],
    Catch: [
      {
        ErrorEquals: ['Sfn.ExecutionDoesNotExistException', 'Sfn.InvalidArnException'],
        Output: jsonata('$states.input'),
        Next: MACHINE_STATES.takeOver,
      },
      {
        ErrorEquals: ['States.ALL'],
        Output: jsonata('$states.input'),
        Next: 'Already running',
      },
    ],
    Output: jsonata('$merge([$states.input, { "status": $states.result.Status }])'),
    Next: 'Holder ended?',
  },
  'Holder ended?': {
    Type: 'Choice',
    Choices: [
      {
        Condition: jsonata(
          '$states.input.status in ["SUCCEEDED", "FAILED", "TIMED_OUT", "ABORTED"]',
        ),
        Next: MACHINE_STATES.takeOver,
      },
    ],
    Default: 'Already running',
  },
};

/** `Begin` to `Already running`; `{settings, since}` continues to `next`. */
export function beginStates(
  { shardFunctionArn, modelName }: DefinitionProps,
  ends: Ends,
  next: string,
) {
  const call = (more: string, settings: string) => ({
    ...callFunction(
      shardFunctionArn,
      `$merge([{ "action": "begin", "settings": ${settings}, "model": ${literal(modelName)}, "execution": $states.context.Execution.Id }, ${more}])`,
      `{ "settings": ${settings}, "begun": $states.result.Payload }`,
      'Begun?',
    ),
    ...failWith('BeginFailed', ends.failure),
  });
  return {
    [MACHINE_STATES.begin]: call('{}', '$states.input'),
    'Begun?': {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata('$not($exists($states.input.begun.holder))'),
          Output: jsonata(
            '{ "settings": $states.input.settings, "since": $states.input.begun.since }',
          ),
          Next: next,
        },
      ],
      Default: 'Describe holder',
    },
    ...HOLDER_STATES,
    [MACHINE_STATES.takeOver]: call(
      '{ "takeOver": $states.input.begun.lease }',
      '$states.input.settings',
    ),
    'Already running': {
      Type: 'Pass',
      Output: jsonata(
        runFailure(
          'AlreadyRunning',
          '"another run writes to " & $states.input.settings.outputUri & ": " & $states.input.begun.holder & ". Wait for its end, or stop it"',
        ),
      ),
      Next: ends.failure,
    },
  };
}
