/** The one catalogue of errors of the constructs and of the functions that they deploy. */

/** Every code, with what docs/errors.md says of it. */
export const CONSTRUCT_ERRORS = {
  CONFIGURATION_INVALID:
    '`serving.config.ts` has fields that cannot be deployed. The message has a line for each.',
  PROP_INVALID: 'A construct refuses a prop. The message names the construct, the prop and a fix.',
  PACKAGING_FAILED: 'The model cannot be packaged. The message holds what `package` printed.',
  IMAGE_NOT_BUILT: 'A model needs an image that the image stack does not build.',
  BUILD_INCOMPLETE: 'A file that the build of the package makes is missing.',
  SMOKE_TEST_FAILED:
    'An answer of the endpoint, or its status, is not what the smoke test expects.',
  SMOKE_TEST_INVALID: 'An expectation of the smoke test makes no sense.',
  RESPONSE_NOT_SENT: 'CloudFormation did not accept the result of the smoke test.',
  ISSUER_NOT_READ:
    'The issuer of tokens, or its keys, cannot be read by the function that checks them.',
  JOBS_NOT_STOPPED:
    'Jobs of a run that ended could not be stopped. The function tries again; then an alarm tells of it.',
  LEASE_DELETED:
    'The lease of the outputs of a batch run is deleted, again and again, while the run takes it.',
  TOO_MANY_SHARDS:
    'A batch run has more shards than a state machine can add up. Set a larger `objectsPerShard` or `minutesPerShard`.',
  FUNCTION_NOT_CONFIGURED: 'A function lacks an environment variable that its construct sets.',
} as const;

/** A code of the catalogue. */
type ConstructErrorCode = keyof typeof CONSTRUCT_ERRORS;

interface RunErrorEntry {
  readonly meaning: string;
  /** Running jobs of the execution continue to their end. */
  readonly jobsContinue?: true;
}

/** Errors that an execution of a batch transform's state machine ends with, with what docs/errors.md says of them. */
export const RUN_ERRORS = {
  InvalidInput: {
    meaning: 'The input of the execution has settings that are unknown, wrong or in conflict.',
  },
  AlreadyRunning: {
    meaning:
      'Another execution, or a job that one has left behind, writes below the same output prefix, and has not ended within `waitMinutes`; or it has done so while this one, which was then redriven, was stopped.',
  },
  BeginFailed: {
    meaning:
      'The lease of the output prefix could not be taken, or nobody can see how the first execution with the same `event` ended.',
  },
  NothingFound: { meaning: 'No input lies below the prefix, and `allowEmpty` is not set.' },
  TransformFailed: { meaning: 'The job of a run without shards failed, or could not be started.' },
  ShardsFailed: { meaning: 'Shards could not be planned, run or counted.' },
  CannotRun: { meaning: 'A shard met a failure that trying again cannot mend.' },
  JobStopped: {
    meaning:
      'Somebody stopped a job of a sharded run, and not the run. Its other jobs are stopped.',
  },
  TooManyFailures: {
    meaning: 'More inputs of a shard have no output than `maxFailurePercent` allows.',
  },
  OverBudget: {
    meaning: 'The jobs have used `budgetInstanceHours`. Those that run continue to their end.',
    // Of a job that is stopped SageMaker stores no output, and its hours are paid.
    // https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_StopTransformJob.html
    jobsContinue: true,
  },
  Incomplete: { meaning: 'All jobs have ended, and some inputs have no output.' },
} as const satisfies Record<string, RunErrorEntry>;

/** Name of an error of {@link RUN_ERRORS}. */
export type RunError = keyof typeof RUN_ERRORS;

/** Whether running jobs continue after an execution that ended with this error. */
export function jobsContinue(error: string): boolean {
  const entries: Readonly<Record<string, RunErrorEntry>> = RUN_ERRORS;
  return Object.hasOwn(entries, error) && entries[error]?.jobsContinue === true;
}

/** Thrown by constructs at synthesis, and by their functions at run time. */
export class ConstructError extends Error {
  readonly code: ConstructErrorCode;

  constructor(code: ConstructErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'ConstructError';
    this.code = code;
  }
}

/** A configuration that cannot be deployed. `bin/app.js` prints its message, without a stack. */
export class ConfigurationError extends ConstructError {
  constructor(message: string, options?: ErrorOptions) {
    super('CONFIGURATION_INVALID', message, options);
    this.name = 'ConfigurationError';
  }
}

/** A prop that was refused; the message holds all of it. */
export class InvalidProp extends ConstructError {
  /** Path of the prop, `variants[0].instanceType`. */
  readonly prop: string;
  /** Path of the construct; empty if there is none. */
  readonly place: string;
  /** What is wrong, and what to write instead. */
  readonly advice: string;

  constructor(place: string, prop: string, advice: string) {
    super('PROP_INVALID', `${place ? `${place}: ` : ''}${prop}: ${advice}`);
    this.name = 'InvalidProp';
    this.prop = prop;
    this.place = place;
    this.advice = advice;
  }
}

/** A check of the smoke test that did not hold; its message is what CloudFormation shows. */
export function smokeTestFailure(check: string, expected: string, got: string): ConstructError {
  return new ConstructError(
    'SMOKE_TEST_FAILED',
    `${check}: expected ${expected}, got ${got}. Correct the model, or the sample.`,
  );
}
