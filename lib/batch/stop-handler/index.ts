/** Stops the transform jobs of an execution that has ended. */
import { setTimeout } from 'node:timers/promises';
import {
  paginateListTransformJobs,
  SageMakerClient,
  StopTransformJobCommand,
} from '@aws-sdk/client-sagemaker';
import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  paginateListExecutions,
  SFNClient,
} from '@aws-sdk/client-sfn';
import { jobNameStart, runIdOfExecution } from '@sagemaker-tfs/batch';
import { ConstructError, jobsContinue } from '../../errors.ts';

/** What of EventBridge's event is used. */
interface ExecutionEnded {
  readonly detail: { readonly executionArn: string };
}

/** Lambda's entry. */
export async function handler({ detail }: ExecutionEnded): Promise<void> {
  const sfn = new SFNClient({});
  // Throttled by many stops at once, it waits.
  const sagemaker = new SageMakerClient({ retryMode: 'adaptive', maxAttempts: 8 });
  try {
    let refused: string[] = [];
    for (const seconds of [0, ...laterLooks()]) {
      await setTimeout(seconds * 1000);
      const left = await stopJobs(sfn, sagemaker, detail.executionArn);
      if (!left) return;
      refused = left;
    }
    if (refused.length > 0) {
      const message = `jobs of ${detail.executionArn} continue: ${refused.join('; ')}. Stop them.`;
      throw new ConstructError('JOBS_NOT_STOPPED', message);
    }
  } finally {
    sfn.destroy();
    sagemaker.destroy();
  }
}

/**
 * Stops every job that runs now. One that cannot be stopped keeps none from being stopped.
 * @returns why jobs could not be stopped; undefined if those of this execution are to continue
 */
async function stopJobs(
  sfn: SFNClient,
  sagemaker: SageMakerClient,
  executionArn: string,
): Promise<string[] | undefined> {
  const execution = await describe(sfn, executionArn);
  // Running again: it was redriven, and its jobs are wanted.
  if (execution.status === 'RUNNING') return undefined;
  if (execution.error && jobsContinue(execution.error)) return undefined;
  const refused: string[] = [];
  const start = jobNameStart(runIdOf(execution), configured('JOB_NAME_PREFIX'));
  const made = { after: execution.startDate, before: await startOfNext(sfn, execution) };
  for (const name of await runningJobs(sagemaker, start, made)) {
    console.log(`stopping ${name}`);
    try {
      await sagemaker.send(new StopTransformJobCommand({ TransformJobName: name }));
    } catch (error) {
      refused.push(`${name}: ${error instanceof Error ? error.message : error}`);
    }
  }
  for (const text of refused) console.log(`not stopped: ${text}`);
  return refused;
}

/**
 * The execution itself: its event has no input where that is large, and neither input nor error where the state
 * machine is under a key.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html
 */
function describe(sfn: SFNClient, executionArn: string): Promise<DescribeExecutionOutput> {
  return sfn.send(new DescribeExecutionCommand({ executionArn }));
}

function configured(name: 'JOB_NAME_PREFIX' | 'LOOK_AGAIN_SECONDS'): string {
  const value = process.env[name];
  if (value) return value;
  const message = `${name} is not set. Deploy the stack again.`;
  throw new ConstructError('FUNCTION_NOT_CONFIGURED', message);
}

function laterLooks(): number[] {
  return configured('LOOK_AGAIN_SECONDS').split(',').map(Number);
}

/** As the machine's first state makes it. */
function runIdOf({ name = '', input }: DescribeExecutionOutput): string {
  const given: unknown = input ? JSON.parse(input) : {};
  const runId = typeof given === 'object' && given && 'runId' in given ? given.runId : '';
  return typeof runId === 'string' && runId ? runId : runIdOfExecution(name);
}

/**
 * When another execution with the same run began, if one did: jobs made since may be its own. Jobs made before are those of the
 * ended one, however late: Step Functions stops shards after the run that they are of.
 * @see https://docs.aws.amazon.com/step-functions/latest/apireference/API_ListExecutions.html (newest first)
 */
async function startOfNext(
  sfn: SFNClient,
  ended: DescribeExecutionOutput,
): Promise<Date | undefined> {
  const { stateMachineArn, stopDate } = ended;
  if (!stopDate) return undefined;
  let first: Date | undefined;
  for await (const { executions = [] } of paginateListExecutions(
    { client: sfn, pageSize: 100 },
    { stateMachineArn },
  )) {
    for (const { executionArn, startDate } of executions) {
      if (!executionArn || !startDate || startDate < stopDate) return first;
      const next = await describe(sfn, executionArn);
      if (runIdOf(next) === runIdOf(ended)) first = startDate;
    }
  }
  return first;
}

/**
 * Of those made since the execution began: jobs made before are those of an earlier one with the same run, which may
 * still run. A redriven execution keeps its start.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/redrive-executions.html
 */
async function runningJobs(
  client: SageMakerClient,
  start: string,
  { after, before }: { readonly after: Date | undefined; readonly before: Date | undefined },
): Promise<string[]> {
  const names: string[] = [];
  const running = {
    NameContains: start,
    StatusEquals: 'InProgress',
    ...(after && { CreationTimeAfter: after }),
    ...(before && { CreationTimeBefore: before }),
  } as const;
  const pages = paginateListTransformJobs({ client, pageSize: 100 }, running);
  for await (const { TransformJobSummaries = [] } of pages) {
    for (const { TransformJobName } of TransformJobSummaries) {
      if (TransformJobName?.startsWith(start)) names.push(TransformJobName);
    }
  }
  return names;
}
