/** What the state machine of a `BatchTransform` writes, and its function, its rules and the command read. */
import { createHash } from 'node:crypto';

/** States whose output tells of an execution: the checked settings, and from when on outputs count. */
export const MACHINE_STATES = {
  validate: 'Validate',
  begin: 'Begin',
  takeOver: 'Take over',
} as const;

/** Folder of the planned manifests, below that of the run. */
export const PLANNED_FOLDER = 'planned/';
/** Folder of the shards' reports, beside it. */
export const REPORTS_FOLDER = 'reports/';
/** Written beside them once all are planned. */
export const PLANNED_MARKER = 'planned.json';

/** Longest start of a job's name: a run's mark of 8 and a job's of 23, with hyphens, stay below 63. */
export const MAX_JOB_PREFIX = 26;

const MARK_DIGITS = 8;
const CALL_DIGITS = 23;

/** The run's part of its jobs' names. */
function runMark(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, MARK_DIGITS);
}

/** Start of the names of a run's jobs; without the construct's prefix the middle of them. */
export function jobNameStart(runId: string, prefix = ''): string {
  return `${prefix.slice(0, MAX_JOB_PREFIX)}-${runMark(runId)}-`;
}

/** Whether a job is of a run. */
export function isJobOf(runId: string, jobName: string): boolean {
  return new RegExp(`-${runMark(runId)}-[0-9a-f]{${CALL_DIGITS}}$`).test(jobName);
}

/**
 * JSONata of a job's name.
 * @param prefix the construct's, a literal of JSONata
 * @param runId JSONata of the run
 * @param call JSONata of what tells one job of the run from another
 */
export function jobNameJsonata(prefix: string, runId: string, call: string): string {
  const digits = (of: string, count: number) => `$substring($hash(${of}, "SHA-256"), 0, ${count})`;
  return `${JSON.stringify(`${prefix.slice(0, MAX_JOB_PREFIX)}-`)} & ${digits(runId, MARK_DIGITS)} & "-" & ${digits(call, CALL_DIGITS)}`;
}

/** What a run without a name of its own is called: its execution's name, in letters, digits and hyphens. */
export const RUN_ID_JSONATA = '$replace($states.context.Execution.Name, /[^A-Za-z0-9-]/, "-")';

/** The same of an execution's name. */
export function runIdOfExecution(name: string): string {
  return name.replace(/[^A-Za-z0-9-]/g, '-');
}
