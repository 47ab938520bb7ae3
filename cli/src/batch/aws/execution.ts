/** An execution of the state machine that a `BatchTransform` deploys, in the form of a transform job. */
import { setTimeout as sleep } from 'node:timers/promises';
import { paginateListTransformJobs, type SageMakerClient } from '@aws-sdk/client-sagemaker';
import {
  DescribeExecutionCommand,
  type DescribeExecutionCommandOutput,
  GetExecutionHistoryCommand,
  type HistoryEvent,
  type SFNClient,
  type StateExitedEventDetails,
} from '@aws-sdk/client-sfn';
import {
  asDirectory,
  EXISTING,
  isJobOf,
  MACHINE_STATES,
  PLANNED_FOLDER,
  parseS3Uri,
  RUNS_FOLDER,
  runMark,
  type S3Location,
} from '@sagemaker-tfs/batch';
import * as z from 'zod';
import { CommandError } from '../../errors.ts';
import type { AwsClients } from './clients.ts';
import type { JobStatus, StartedJob, TransformJob } from './described-job.ts';

/** True for what `batch start --state-machine` prints. */
export function isExecution(name: string): boolean {
  return /^arn:[^:]+:states:[^:]+:[^:]*:execution:/.test(name);
}

const STATUS: Readonly<Record<string, JobStatus>> = {
  RUNNING: 'InProgress',
  PENDING_REDRIVE: 'InProgress',
  SUCCEEDED: 'Completed',
  FAILED: 'Failed',
  TIMED_OUT: 'Failed',
  ABORTED: 'Stopped',
};

/** The result of the machine's first state: its defaults with the execution's input, as far as it is used here. */
const settingsSchema = z.object({
  inputUri: z.string(),
  dataType: z.enum(['S3Prefix', 'ManifestFile']),
  inventoryUri: z.string().default(''),
  keySuffix: z.string().default(''),
  outputUri: z.string(),
  accept: z.string(),
  instanceType: z.string(),
  instanceCount: z.number(),
  objectsPerShard: z.number(),
  runId: z.string(),
  existing: z.enum(EXISTING).default('skip'),
  budgetInstanceHours: z.number().default(0),
});
type Settings = z.output<typeof settingsSchema>;

/** Describes an execution. @throws CommandError JOB_NOT_FOUND, EXECUTION_NOT_READ */
export async function describeExecution(
  { sfn, sagemaker }: Pick<AwsClients, 'sfn' | 'sagemaker'>,
  executionArn: string,
): Promise<TransformJob> {
  const execution = await sfn
    .send(new DescribeExecutionCommand({ executionArn }))
    .catch((cause: Error) => {
      if (cause.name !== 'ExecutionDoesNotExist') throw cause;
      throw new CommandError(
        'JOB_NOT_FOUND',
        `there is no execution ${executionArn}. Check the ARN, and --region.`,
        { cause },
      );
    });
  const tries = execution.status === 'RUNNING' ? TRIES : 1;
  const { settings, since } = await settingsOf(sfn, executionArn, tries);
  const jobs = await jobsOf(sagemaker, settings, execution);
  const { startDate: createdAt = new Date(), stopDate } = execution;
  return {
    name: executionArn,
    status: STATUS[execution.status ?? ''] ?? 'InProgress',
    failureReason: execution.cause ?? execution.error,
    ...placesOf(settings),
    ...(since !== undefined && { existing: settings.existing, since }),
    accept: settings.accept,
    instanceType: settings.instanceType,
    instanceCount: settings.instanceCount,
    createdAt,
    startedAt: createdAt,
    endedAt: stopDate,
    jobs,
    continues: settings.objectsPerShard > 0,
    ...(settings.objectsPerShard > 0 && { run: runFolder(settings) }),
    ...(settings.budgetInstanceHours > 0 && { budgetInstanceHours: settings.budgetInstanceHours }),
  };
}

/** A sharded run that was filtered names its inputs in its shards alone. */
function placesOf(settings: Settings) {
  const { inputUri, dataType, outputUri, objectsPerShard } = settings;
  const places = { inputUri, dataType, outputUri };
  const listed = dataType === 'S3Prefix' && !settings.inventoryUri && !settings.keySuffix;
  if (objectsPerShard === 0 || listed) return places;
  const { bucket, key } = runFolder(settings);
  return { ...places, shards: { bucket, key: `${key}${PLANNED_FOLDER}` } };
}

function runFolder({ outputUri, runId }: Settings): S3Location {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  return { bucket, key: `${key}${RUNS_FOLDER}${runId}/` };
}

/** Looks, a second apart, at an execution that has just been started. */
const TRIES = 5;

/** States that find out from when on outputs count. */
const BEGIN: readonly string[] = [
  MACHINE_STATES.begin,
  MACHINE_STATES.takeEvent,
  MACHINE_STATES.takeOver,
];
/** Events from the start to the end of the last of them. */
const FIRST_EVENTS = 60;

const begunSchema = z.object({
  begun: z.object({ since: z.object({ origin: z.number(), run: z.number() }) }),
});

/** Settings of an execution, and the time from which on outputs count, milliseconds since 1970. */
async function settingsOf(
  sfn: SFNClient,
  executionArn: string,
  tries: number,
): Promise<{ readonly settings: Settings; readonly since: number | undefined }> {
  const { events, nextToken } = await sfn.send(
    new GetExecutionHistoryCommand({ executionArn, maxResults: FIRST_EVENTS }),
  );
  const exits = exitsOf(events);
  const exited = exits.find(({ name }) => name === MACHINE_STATES.validate);
  const parsed = z
    .object({ settings: settingsSchema })
    .safeParse(exited?.output === undefined ? undefined : JSON.parse(exited.output));
  if (parsed.success) {
    const { settings } = parsed.data;
    if (settings.existing === 'skip') return { settings, since: undefined };
    const since =
      sinceOf(settings, exits) ?? (await sinceLater(sfn, settings, executionArn, nextToken));
    return { settings, since };
  }
  if (tries > 1) {
    await sleep(1_000);
    return settingsOf(sfn, executionArn, tries - 1);
  }
  throw new CommandError(
    'EXECUTION_NOT_READ',
    `the settings of ${executionArn} cannot be read: it has just started, or a BatchTransform of another version made it. Try again in a minute.`,
    { cause: parsed.error },
  );
}

/** Of a run that has waited for another one: its beginning is further on. */
async function sinceLater(
  sfn: SFNClient,
  settings: Settings,
  executionArn: string,
  first: string | undefined,
): Promise<number | undefined> {
  for (let nextToken = first; nextToken !== undefined; ) {
    const page = await sfn.send(new GetExecutionHistoryCommand({ executionArn, nextToken }));
    const since = sinceOf(settings, exitsOf(page.events));
    if (since !== undefined) return since;
    nextToken = page.nextToken;
  }
  return undefined;
}

function exitsOf(events: readonly HistoryEvent[] = []): StateExitedEventDetails[] {
  return events.flatMap(({ stateExitedEventDetails: exit }) => (exit ? [exit] : []));
}

function sinceOf(
  { existing }: Settings,
  exits: readonly StateExitedEventDetails[],
): number | undefined {
  for (const { name = '', output } of exits) {
    if (!BEGIN.includes(name)) continue;
    const { success, data } = begunSchema.safeParse(JSON.parse(output ?? 'null'));
    if (success) return existing === 'replace' ? data.begun.since.run : data.begun.since.origin;
  }
  return undefined;
}

/** The execution's jobs: SageMaker does not say which execution a job is of, but its name does. */
async function jobsOf(
  sagemaker: SageMakerClient,
  { runId }: Settings,
  { executionArn = '', startDate, stopDate }: DescribeExecutionCommandOutput,
): Promise<StartedJob[]> {
  const jobs: StartedJob[] = [];
  const pages = paginateListTransformJobs(
    { client: sagemaker, pageSize: 100 },
    {
      NameContains: runMark(runId),
      CreationTimeAfter: startDate,
      CreationTimeBefore: stopDate,
    },
  );
  for await (const { TransformJobSummaries = [] } of pages) {
    for (const { TransformJobName = '', CreationTime, TransformEndTime } of TransformJobSummaries) {
      if (!isJobOf(runId, executionArn, TransformJobName)) continue;
      jobs.push({ createdAt: CreationTime ?? new Date(), endedAt: TransformEndTime });
    }
  }
  return jobs;
}
