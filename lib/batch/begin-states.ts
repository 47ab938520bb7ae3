/**
 * The beginning of every run. One execution at a time writes below an output prefix: it holds a lease, which another
 * takes over when it has ended. Another one waits for that as long as its settings say.
 */

import { type LeaseJob, MACHINE_STATES, NO_SUCH_JOB } from '@sagemaker-tfs/batch';
import type { DefinitionProps, Ends } from './definition-props.ts';
import { BACK_OFF, callFunction, failWith, runFailure } from './function-state.ts';
import { jsonata, literal } from './jsonata.ts';
import { statesArn } from './states-arn.ts';

const ALREADY_RUNNING = 'Already running';
const HOLDER_LEFT = "Wait for holder's shards";
/** Seconds within which Step Functions stops the shards of a run that has ended: one may make a job until then. */
export const SHARDS_END = 60;
const WAIT_FOR_HOLDER = 'Wait for holder?';
const EVENT_UNCLEAR = 'Event unclear';

/** JSONata of the input, with why an execution or a job cannot be looked at. */
const HIDDEN =
  '$merge([$states.input, { "begun": $merge([$states.input.begun, { "hidden": $states.errorOutput.Cause }]) }])';
const LOOK_RETRY = { ErrorEquals: ['States.TaskFailed', 'States.Timeout'], ...BACK_OFF };

/**
 * A look at a job that `batch start` has made. SageMaker has words for a job that is not there, and no error of its own.
 * @param call of SageMaker
 * @param field of its name, and with `Status` of its state
 */
function describeJob(call: string, field: string) {
  return {
    Type: 'Task',
    Resource: statesArn(`aws-sdk:sagemaker:${call}`),
    Arguments: { [`${field}Name`]: jsonata('$states.input.begun.job.name') },
    Retry: [LOOK_RETRY],
    Catch: [
      {
        ErrorEquals: ['States.ALL'],
        Output: jsonata(`(
          $absent := $contains($states.errorOutput.Error & " " & $states.errorOutput.Cause, /${NO_SUCH_JOB}/i);
          $absent ? $merge([$states.input, { "status": $states.input.begun.toCome ? "ToCome" : "Absent" }]) : ${HIDDEN}
        )`),
        Next: HOLDER_ENDED,
      },
    ],
    Output: jsonata(`$merge([$states.input, { "status": $states.result.${field}Status }])`),
    Next: HOLDER_ENDED,
  };
}

const HOLDER_ENDED = 'Holder ended?';
const JOB_STATES = {
  'Describe holding transform job': describeJob('describeTransformJob', 'TransformJob'),
  'Describe holding Processing job': describeJob('describeProcessingJob', 'ProcessingJob'),
};
/** States of the looks by the type of the job in the lease. */
const JOB_LOOKS = {
  transform: 'Describe holding transform job',
  processing: 'Describe holding Processing job',
} as const satisfies Record<LeaseJob['type'], keyof typeof JOB_STATES>;

/**
 * Looks at an execution, and adds its `status`.
 * @param execution JSONata of its ARN
 * @param next the states after that, if there is none any more, and if it cannot be looked at (`begun.hidden` says why)
 */
function describeState(
  execution: string,
  next: Readonly<Record<'seen' | 'gone' | 'hidden', string>>,
) {
  return {
    Type: 'Task',
    Resource: statesArn('aws-sdk:sfn:describeExecution'),
    // Another machine may be under a key that this one may not use: its state alone is not encrypted.
    // https://docs.aws.amazon.com/step-functions/latest/apireference/API_DescribeExecution.html
    Arguments: { ExecutionArn: jsonata(execution), IncludedData: 'METADATA_ONLY' },
    Retry: [
      {
        ErrorEquals: ['Sfn.ExecutionDoesNotExistException', 'Sfn.InvalidArnException'],
        MaxAttempts: 0,
      },
      LOOK_RETRY,
    ],
    Catch: [
      {
        ErrorEquals: ['Sfn.ExecutionDoesNotExistException', 'Sfn.InvalidArnException'],
        Output: jsonata('$states.input'),
        Next: next.gone,
      },
      {
        ErrorEquals: ['States.ALL'],
        Output: jsonata(HIDDEN),
        Next: next.hidden,
      },
    ],
    Output: jsonata('$merge([$states.input, { "status": $states.result.Status }])'),
    Next: next.seen,
  };
}

/** Whether the run or the job that holds the lease still works. */
const HOLDER_STATES = {
  ...JOB_STATES,
  'Describe holder': describeState('$states.input.begun.holder', {
    seen: HOLDER_ENDED,
    gone: MACHINE_STATES.takeOver,
    hidden: WAIT_FOR_HOLDER,
  }),
  [HOLDER_ENDED]: {
    Type: 'Choice',
    Choices: [
      {
        Condition: jsonata('$states.input.status in ["FAILED", "TIMED_OUT", "ABORTED"]'),
        Next: HOLDER_LEFT,
      },
      {
        Condition: jsonata(
          '$states.input.status in ["SUCCEEDED", "Completed", "Failed", "Stopped", "Absent"]',
        ),
        Next: MACHINE_STATES.takeOver,
      },
    ],
    Default: WAIT_FOR_HOLDER,
  },
  [HOLDER_LEFT]: { Type: 'Wait', Seconds: SHARDS_END, Next: MACHINE_STATES.takeOver },
};

/** JSONata of why nobody knows whether the event's work is done, and what to do. */
const FIRST_UNSEEN =
  '"another execution has the event " & $states.input.settings.event & ": " & $states.input.begun.repeats & ", which cannot be looked at: " & $states.input.begun.hidden & ". If it has failed, start again with an input without event"';

/**
 * Whether the first execution with this one's event runs, or has succeeded: then this one has nothing to do. If it has
 * failed, this one does its work.
 */
function eventStates({ failure, repeated }: Readonly<Record<'failure' | 'repeated', string>>) {
  return {
    'First visible?': {
      Type: 'Choice',
      Choices: [{ Condition: jsonata('$exists($states.input.begun.hidden)'), Next: EVENT_UNCLEAR }],
      Default: 'Describe first',
    },
    'Describe first': describeState('$states.input.begun.repeats', {
      seen: 'First failed?',
      gone: MACHINE_STATES.takeEvent,
      hidden: EVENT_UNCLEAR,
    }),
    'First failed?': {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata('$states.input.status in ["FAILED", "TIMED_OUT", "ABORTED"]'),
          Next: MACHINE_STATES.takeEvent,
        },
      ],
      Default: 'Repeats',
    },
    Repeats: {
      Type: 'Pass',
      Output: jsonata('{ "repeats": $states.input.begun.repeats }'),
      Next: repeated,
    },
    [EVENT_UNCLEAR]: {
      Type: 'Pass',
      Output: jsonata(runFailure('BeginFailed', FIRST_UNSEEN)),
      Next: failure,
    },
  };
}

/** JSONata of the seconds that the run has waited. */
const WAITED = '($exists($states.input.waited) ? $states.input.waited : 0)';
/** JSONata of the seconds that it may wait. */
const MAY_WAIT = '($states.input.settings.waitMinutes * 60)';
const FIRST_PAUSE = 60;
/** Two weeks of such pauses take 13,000 events of an execution's 25,000. */
const LONGEST_PAUSE = 1_800;

/** Looks at the lease again and again: after a minute at first, and then after a quarter of the time so far. */
const WAIT_STATES = {
  [WAIT_FOR_HOLDER]: {
    Type: 'Choice',
    Choices: [
      {
        Condition: jsonata(`${WAITED} < ${MAY_WAIT}`),
        Output: jsonata(`(
          $pause := $min([${LONGEST_PAUSE}, ${FIRST_PAUSE} + $floor(${WAITED} / 4), ${MAY_WAIT} - ${WAITED}]);
          { "settings": $states.input.settings, "pause": $pause, "waited": ${WAITED} + $pause }
        )`),
        Next: 'Wait for holder',
      },
    ],
    Default: ALREADY_RUNNING,
  },
  'Wait for holder': {
    Type: 'Wait',
    Seconds: jsonata('$states.input.pause'),
    Next: MACHINE_STATES.begin,
  },
};

/** JSONata of why the run cannot begin, and what to do. */
const WHO_RUNS = `(
  $begun := $states.input.begun;
  $exists($begun.hidden)
    ? "the lease " & $begun.leaseUri & " is that of " & $begun.holder & ", which cannot be looked at: " & $begun.hidden & ". Wait for its end; if it has ended, delete the lease"
    : "another run writes to " & $states.input.settings.outputUri & ": " & $begun.holder & ". Wait for its end, or stop it"
)`;

/**
 * `Begin` to `Already running`, of `{settings}`; `{settings, since}` continues to `next`.
 * @param held where a run that may hold the lease goes with `{error, reason}`
 * @param failure where one goes that holds none
 * @param repeated where one goes that has nothing to do
 */
export function beginStates(
  { shardFunctionArn, modelName }: DefinitionProps,
  {
    next,
    held,
    failure,
    repeated,
  }: Readonly<Record<'next' | 'held' | 'failure' | 'repeated', string>>,
) {
  const call = (more: string) => ({
    ...callFunction(
      shardFunctionArn,
      `$merge([{ "action": "begin", "settings": $states.input.settings, "model": ${literal(modelName)}, "execution": $states.context.Execution.Id }, ${more}])`,
      '$merge([$states.input, { "begun": $states.result.Payload }])',
      'Begun?',
    ),
    ...failWith('BeginFailed', held),
  });
  return {
    [MACHINE_STATES.begin]: call('{}'),
    'Begun?': {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata('$exists($states.input.begun.repeats)'),
          Next: 'First visible?',
        },
        {
          Condition: jsonata('$exists($states.input.begun.refused)'),
          Output: jsonata(runFailure('InvalidInput', '$states.input.begun.refused')),
          Next: failure,
        },
        {
          Condition: jsonata('$not($exists($states.input.begun.holder))'),
          Output: jsonata(
            '{ "settings": $states.input.settings, "since": $states.input.begun.since }',
          ),
          Next: next,
        },
        { Condition: jsonata('$exists($states.input.begun.hidden)'), Next: WAIT_FOR_HOLDER },
        ...Object.entries(JOB_LOOKS).map(([type, Next]) => ({
          Condition: jsonata(`$states.input.begun.job.type = "${type}"`),
          Next,
        })),
      ],
      Default: 'Describe holder',
    },
    ...eventStates({ failure, repeated }),
    [MACHINE_STATES.takeEvent]: call('{ "takeEvent": $states.input.begun.claim }'),
    ...HOLDER_STATES,
    ...WAIT_STATES,
    [MACHINE_STATES.takeOver]: call('{ "takeOver": $states.input.begun.lease }'),
    [ALREADY_RUNNING]: {
      Type: 'Pass',
      Output: jsonata(runFailure('AlreadyRunning', WHO_RUNS)),
      Next: failure,
    },
  };
}

/**
 * Looks whether this execution still holds the lease, before a job is made: one that was stopped and redriven does not
 * begin anew. Its input continues to `Next`.
 * @param name of the first state, and start of the other's
 * @param failure takes `{error, reason}`
 */
export function holdStates(
  { shardFunctionArn }: DefinitionProps,
  name: string,
  Next: string,
  failure: string,
) {
  const held = `${name}: held?`;
  return {
    [name]: {
      ...callFunction(
        shardFunctionArn,
        '{ "action": "hold", "settings": $states.input.settings, "execution": $states.context.Execution.Id }',
        '$merge([$states.input, $states.result.Payload])',
        held,
      ),
      ...failWith('BeginFailed', failure),
    },
    [held]: {
      Type: 'Choice',
      Choices: [
        {
          Condition: jsonata('$exists($states.input.lost)'),
          Output: jsonata(runFailure('AlreadyRunning', '$states.input.lost')),
          Next: failure,
        },
      ],
      Default: Next,
    },
  };
}

/** JSONata variables of a run, for states that only have its result. */
const OUTPUT_VARIABLE = 'outputUri';
const RUN_VARIABLE = 'runId';
/** What `Valid?` keeps for {@link releaseStates}. */
export const KEEP_FOR_RELEASE = {
  [OUTPUT_VARIABLE]: jsonata('$states.input.settings.outputUri'),
  [RUN_VARIABLE]: jsonata('$states.input.settings.runId'),
};

/** Returns the lease, if this execution holds it, and continues with its input. */
function releaseState({ shardFunctionArn }: DefinitionProps, next: string) {
  const Output = jsonata('$states.input');
  return {
    ...callFunction(
      shardFunctionArn,
      `{ "action": "release", "outputUri": $${OUTPUT_VARIABLE}, "runId": $${RUN_VARIABLE}, "execution": $states.context.Execution.Id }`,
      '$states.input',
      next,
    ),
    // The next run finds that this one has ended.
    Catch: [{ ErrorEquals: ['States.ALL'], Output, Next: next }],
  };
}

const RELEASE_AFTER_FAILURE = 'Release after failure';

/**
 * Stops the jobs of a run that fails: they would write on, and cost. Also an event does so once it has failed, but Step
 * Functions may lose one.
 * @see https://docs.aws.amazon.com/eventbridge/latest/ref/events-ref-states.html
 */
function stopState({ stopFunctionArn }: DefinitionProps) {
  const Next = RELEASE_AFTER_FAILURE;
  return {
    ...callFunction(
      stopFunctionArn,
      '{ "execution": $states.context.Execution.Id, "error": $states.input.error }',
      '$states.input',
      Next,
    ),
    // With a job left the lease is not returned: the next run waits for it, and says so.
    Catch: [{ ErrorEquals: ['States.ALL'], Output: jsonata('$states.input'), Next }],
  };
}

/**
 * The end of every run that began. An execution that was stopped after its last job, and redriven after another one has had
 * the outputs, would else report a success for what that one has written.
 * @param ends names of the first states of an end
 * @param outcomes states of after it
 */
export function releaseStates(props: DefinitionProps, ends: Ends, outcomes: Ends) {
  const still = `${ends.success}: held?`;
  return {
    [ends.success]: {
      ...releaseState(props, outcomes.success),
      Output: jsonata(
        `$exists($states.result.Payload.lost) ? ${runFailure('AlreadyRunning', '$states.result.Payload.lost')} : $states.input`,
      ),
      Next: still,
    },
    [still]: {
      Type: 'Choice',
      Choices: [{ Condition: jsonata('$exists($states.input.error)'), Next: outcomes.failure }],
      Default: outcomes.success,
    },
    [ends.failure]: stopState(props),
    [RELEASE_AFTER_FAILURE]: releaseState(props, outcomes.failure),
  };
}
