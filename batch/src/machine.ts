/** What the state machine of a `BatchTransform` writes, and its function, its rules and the command read. */
import { createHash } from 'node:crypto';

/** States whose output tells of an execution: the checked settings, and from when on outputs count. */
export const MACHINE_STATES = {
  validate: 'Validate',
  begin: 'Begin',
  takeEvent: 'Take event',
  takeOver: 'Take over',
} as const;

/** Folder of the planned manifests, below that of the run. */
export const PLANNED_FOLDER = 'planned/';
/** Folder of the shards' reports, beside it. */
export const REPORTS_FOLDER = 'reports/';
/** Written beside them once all are planned. */
export const PLANNED_MARKER = 'planned.json';

/**
 * Longest start of a job's name, `PREFIX-RUN-EXECUTION-CALL`: with the digits and hyphens behind it 63 characters.
 * @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_CreateTransformJob.html
 */
export const MAX_JOB_PREFIX = 26;

const RUN_DIGITS = 8;
const EXECUTION_DIGITS = 12;
const CALL_DIGITS = 14;
/** Of machines that were deployed before names had the execution, `PREFIX-RUN-CALL`. */
const FORMER_CALL_DIGITS = 23;

function markOf(text: string, digits: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, digits);
}

/** Part of the names of all jobs of a run, whichever execution made them. */
export function runMark(runId: string): string {
  return `-${markOf(runId, RUN_DIGITS)}-`;
}

/** Part of the names of all jobs of an execution, and of no other one's. */
export function executionMark(executionArn: string): string {
  return `-${markOf(executionArn, EXECUTION_DIGITS)}-`;
}

/** Whether a job of this construct is one that this very execution made. Former names do not tell. */
export function isJobOfExecution(prefix: string, executionArn: string, jobName: string): boolean {
  const start = `${prefix.slice(0, MAX_JOB_PREFIX)}-`;
  const end = new RegExp(`^${endOfName(executionArn)}$`);
  return jobName.startsWith(start) && end.test(jobName.slice(start.length));
}

/** Whether a job is one that this very execution made, of whichever construct. Former names do not tell. */
export function isNamedAfter(executionArn: string, jobName: string): boolean {
  return new RegExp(`-${endOfName(executionArn)}$`).test(jobName);
}

/** Pattern of what follows the prefix. */
function endOfName(executionArn: string): string {
  return `[0-9a-f]{${RUN_DIGITS}}${executionMark(executionArn)}[0-9a-f]{${CALL_DIGITS}}`;
}

/** Whether a job may be of an execution of this run. A former name tells its run alone. */
export function isJobOf(runId: string, executionArn: string, jobName: string): boolean {
  const run = runMark(runId);
  const own = `${executionMark(executionArn).slice(1)}[0-9a-f]{${CALL_DIGITS}}`;
  return new RegExp(`${run}(${own}|[0-9a-f]{${FORMER_CALL_DIGITS}})$`).test(jobName);
}

/**
 * JSONata of a job's name.
 * @param prefix the construct's
 * @param runId JSONata of the run
 * @param execution JSONata of the execution's ARN, which for a shard is not that of its own
 * @param call JSONata of what tells one job of the execution from another
 */
export function jobNameJsonata(
  prefix: string,
  runId: string,
  execution: string,
  call: string,
): string {
  const digits = (of: string, count: number) => `$substring($hash(${of}, "SHA-256"), 0, ${count})`;
  const parts = [
    JSON.stringify(prefix.slice(0, MAX_JOB_PREFIX)),
    digits(runId, RUN_DIGITS),
    digits(execution, EXECUTION_DIGITS),
    digits(call, CALL_DIGITS),
  ];
  return parts.join(' & "-" & ');
}

/** What a run without a name of its own is called: its execution's name, in letters, digits and hyphens. */
export const RUN_ID_JSONATA = '$replace($states.context.Execution.Name, /[^A-Za-z0-9-]/, "-")';
