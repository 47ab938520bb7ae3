/**
 * The command's one catalogue of errors: each ends the process with a status and one clear message. Messages
 * have one form: what is wrong and where, then what to do, each a sentence that ends in a period.
 */

/** Exit statuses of `sagemaker-tfs`. */
export const EXIT = { ok: 0, failed: 1, usage: 2 } as const;

/** A row of the catalogue. */
interface Definition {
  readonly exitStatus: (typeof EXIT)[keyof typeof EXIT];
  /** What docs/errors.md says of the code. */
  readonly meaning: string;
}

/** Every code of the command. Rooms below have catalogues of their own, whose codes pass through unchanged. */
export const COMMAND_ERRORS = {
  USAGE: usage('An option or argument is wrong or missing, or options contradict each other.'),
  INTERRUPTED: failed('Ctrl-C or SIGTERM stopped the command.'),
  FILE_NOT_FOUND: usage('A file or folder that you named cannot be read.'),
  OUTPUT_EXISTS: usage('The output folder is not empty.'),
  OUTPUT_FAILED: failed('An output cannot be written: no permission, no space, or a bad name.'),
  OUTPUT_EMPTY: failed('There are no outputs to fetch.'),
  UNSAFE_PATH: failed('A key or a record name leads out of the folder it belongs in.'),
  KEYS_COLLIDE: failed('Two outputs would be one file, because the disk ignores case.'),
  /** Not `NOTHING_FOUND`, with which a worker's job fails, status 1: here the user named the place. */
  INPUT_EMPTY: usage('The folder or prefix holds no inputs.'),
  CONFIG_NOT_WRITTEN: failed('The configuration has a form that `tune --write` cannot edit.'),
  REQUIREMENT_MISSING: failed('`doctor`: this machine lacks something that serving needs.'),
  ACCOUNT_NOT_READY: failed(
    '`doctor --account`: the account lacks something that the deployment needs.',
  ),
  NO_SAMPLE: failed('You gave no sample, and none can be generated for the model.'),
  PORT_IN_USE: failed('Another program listens on the port.'),
  PORT_REFUSED: failed('The system refuses to listen on the port, or no free ports were found.'),
  NO_RUNTIME: failed('Nothing answers at the address.'),
  RUNTIME_NOT_READY: failed('The serving runtime did not become ready in time.'),
  RUNTIME_FAILED: failed('The serving runtime ended by itself.'),
  RUNTIME_LOST: failed('The serving runtime stopped answering in the middle of a job.'),
  EXECUTION_PARAMETERS: failed(
    'The answer to `GET /execution-parameters` is nothing that SageMaker can use.',
  ),
  /** Not `WORKER_FAILURES`, which ends a worker in its own process: this one has the counts in its details. */
  TOO_MANY_FAILURES: failed('More inputs failed than `--max-failure-percent` allows.'),
  WORKER_ENDED: failed('A batch worker ended before it was done.'),
  BATCH_INCOMPLETE: failed('Some inputs have no output, or a wrong one.'),
  RUN_INVALID: failed('A file that `bench --compare` reads is no result of `bench --json`.'),
  TUNE_FAILED: failed('A sample of `tune` was refused, or no request of a measurement succeeded.'),
  NO_KNEE: failed('No setting met `--max-latency` without errors, or none was without errors.'),
  PRICES_INVALID: failed('The price file is malformed.'),
  PRICE_UNKNOWN: usage('The price list lacks the instance type.'),
  AWS_CREDENTIALS: failed('No AWS credentials were found.'),
  AWS_FAILED: failed("AWS refused a call. `--json` shows AWS's name of the error as `awsError`."),
  JOB_NOT_FOUND: failed('There is no such transform job or execution.'),
  JOB_NOT_COMPLETED: failed('A job on SageMaker failed or was stopped.'),
  CAPTURE_INVALID: failed(
    'The file is neither a data capture nor a baseline, or it is too large; or captures hold nothing to compare.',
  ),
  DRIFTED: failed(
    '`captures drift`: inputs or outputs are no longer those of the baseline, or none could be compared.',
  ),
  PROBE_FAILED: failed('No job of `batch probe` made an output.'),
  STATE_MACHINE_NOT_FOUND: failed(
    'There is no such state machine, and no stack with an output that names one.',
  ),
  EXECUTION_NOT_READ: failed('The settings of an execution cannot be read.'),
  MODEL_UNSUITABLE: failed(
    'The SageMaker model lacks an image or an archive, which a batch worker needs.',
  ),
  OUTPUTS_IN_USE: failed(
    'Another run writes the same outputs: a job of `batch start` or a state machine below a prefix, or `batch local` into a folder.',
  ),
  NO_CAPACITY: failed('A job that SageMaker has taken got no instances.'),
  JOB_NOT_WATCHED: failed(
    'A job was made, or may have been made, and can be neither looked at nor stopped. It continues.',
  ),
  INSTANCE_TYPES_REFUSED: failed('SageMaker refused the job on every instance type.'),
  GOLDEN_DIFFERS: failed('The test kit: an answer is not that of its golden file.'),
  CONTEXT_WITHOUT_MODEL: failed(
    'The test kit: a handler called `predict` of a context without one.',
  ),
  BUILD_INCOMPLETE: failed(
    'A file of the build is missing or incomplete. Build or install the package again.',
  ),
} as const satisfies Readonly<Record<string, Definition>>;

/** A code of the catalogue. */
type CommandErrorCode = keyof typeof COMMAND_ERRORS;

function failed(meaning: string): Definition {
  return { exitStatus: EXIT.failed, meaning };
}

function usage(meaning: string): Definition {
  return { exitStatus: EXIT.usage, meaning };
}

/** Ends the command with a message on stderr, without a stack. */
export class CommandError extends Error {
  /** Stable name for programs, shown with `--json`. */
  readonly code: CommandErrorCode;
  readonly exitStatus: number;
  /** What was done before the failure; `--json` prints it beside the error. */
  readonly details: object | undefined;

  constructor(
    code: CommandErrorCode,
    message: string,
    options?: ErrorOptions & { details?: object | undefined },
  ) {
    super(message, options);
    this.name = 'CommandError';
    this.code = code;
    this.exitStatus = COMMAND_ERRORS[code].exitStatus;
    this.details = options?.details;
  }
}

/** Wrong arguments: exit status 2. */
export function usageError(message: string): CommandError {
  return new CommandError('USAGE', message);
}

/** For `.catch` of what reads a file or folder that the user named. @param what for example `the manifest` */
export function cannotRead(path: string, what?: string): (cause: unknown) => never {
  return (cause) => {
    const name = what === undefined ? path : `${what} ${path}`;
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw doesNotExist(name);
    throw new CommandError('FILE_NOT_FOUND', `cannot read ${name}. Check its permissions.`, {
      cause,
    });
  };
}

/** The error of a place in S3 that holds no input. */
export function noInput(inputUri: string): CommandError {
  return new CommandError('INPUT_EMPTY', `there is no object at ${inputUri}. Check --input-uri.`);
}

/** Nothing to fetch. */
export function noOutputs(): CommandError {
  const message =
    'there are no outputs (<name>.out) to fetch. Check the place, or wait for the job.';
  return new CommandError('OUTPUT_EMPTY', message);
}

/** A file that cannot be written. */
export function cannotWrite(path: string, cause: unknown): CommandError {
  const message = `cannot write ${path}. Check its folder, its permissions and the space of the disk.`;
  return new CommandError('OUTPUT_FAILED', message, { cause });
}

/** Codes of a disk that takes no more. */
const DISK_FAULTS = new Set(['ENOSPC', 'EDQUOT', 'EFBIG', 'EROFS']);

/** For `.catch` of work that writes a file: the error of a full disk does not say which. Others stay as they are. */
export function namingFile(path: string): (error: unknown) => never {
  return (error) => {
    throw withFile(error, path);
  };
}

/** The error of a full disk as one that names the file. @param path if the error has none */
export function withFile(error: unknown, path: string): unknown {
  const { code, path: own } = (error ?? {}) as NodeJS.ErrnoException;
  return code !== undefined && DISK_FAULTS.has(code) ? cannotWrite(own ?? path, error) : error;
}

/** A file or folder that the user named and that is not there. */
export function doesNotExist(name: string): CommandError {
  return new CommandError('FILE_NOT_FOUND', `${name} does not exist. Check the name.`);
}

/** Message of anything thrown, followed by the messages of its causes that it does not repeat itself. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const told: string[] = [];
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    const message = cause.message || cause.name;
    if (!isIssueList(cause) && !told.some((text) => text.includes(message))) told.push(message);
  }
  return told.join('\n  because: ');
}

/** zod's message is a list in JSON; whoever caught it has said it in words. */
function isIssueList(error: Error): boolean {
  return Array.isArray((error as { issues?: unknown }).issues);
}
