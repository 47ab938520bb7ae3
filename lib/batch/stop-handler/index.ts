/** Stops the transform jobs of an execution that has ended, or is about to. */
import { setTimeout } from 'node:timers/promises';
import { SageMakerClient, StopTransformJobCommand } from '@aws-sdk/client-sagemaker';
import {
  DescribeExecutionCommand,
  type DescribeExecutionOutput,
  SFNClient,
} from '@aws-sdk/client-sfn';
import { isJobOfExecution } from '@sagemaker-tfs/batch';
import { jobsOfExecution } from '@sagemaker-tfs/batch/jobs';
import { ConstructError, jobsContinue } from '../../errors.ts';

/** What of EventBridge's event is used. */
interface ExecutionEnded {
  readonly detail: { readonly executionArn: string };
}

/** What the state machine itself sends on its way to a failure: an event may be lost. */
interface ExecutionFails {
  /** ARN of the execution. */
  readonly execution: string;
  /** What it is about to fail with. */
  readonly error: string;
}

/** Lambda's entry. */
export async function handler(request: ExecutionEnded | ExecutionFails): Promise<void> {
  // Throttled by many stops at once, it waits.
  const sagemaker = new SageMakerClient({ retryMode: 'adaptive', maxAttempts: 8 });
  try {
    if ('detail' in request) await stopAfterEnd(sagemaker, request.detail.executionArn);
    else await stopBeforeEnd(sagemaker, request);
  } finally {
    sagemaker.destroy();
  }
}

async function stopBeforeEnd(
  sagemaker: SageMakerClient,
  { execution, error }: ExecutionFails,
): Promise<void> {
  if (jobsContinue(error)) return;
  requireStopped(execution, await stopJobs(sagemaker, execution));
}

async function stopAfterEnd(sagemaker: SageMakerClient, executionArn: string): Promise<void> {
  const sfn = new SFNClient({});
  try {
    let refused: string[] = [];
    for (const seconds of [0, ...laterLooks()]) {
      await setTimeout(seconds * 1000);
      if (!(await hasEnded(sfn, executionArn))) return;
      refused = await stopJobs(sagemaker, executionArn);
    }
    requireStopped(executionArn, refused);
  } finally {
    sfn.destroy();
  }
}

/** @throws ConstructError JOBS_NOT_STOPPED for jobs that could not be stopped */
function requireStopped(executionArn: string, refused: readonly string[]): void {
  if (refused.length === 0) return;
  const message = `jobs of ${executionArn} continue: ${refused.join('; ')}. Stop them.`;
  throw new ConstructError('JOBS_NOT_STOPPED', message);
}

/** Whether an execution has ended in a way that stops its jobs. */
async function hasEnded(sfn: SFNClient, executionArn: string): Promise<boolean> {
  const { status, error } = await describe(sfn, executionArn);
  // Running again: it was redriven, and its jobs are wanted.
  if (status === 'RUNNING') return false;
  return !(error && jobsContinue(error));
}

/**
 * Stops every job that runs now. One that cannot be stopped keeps none from being stopped.
 * @returns why jobs could not be stopped
 */
async function stopJobs(sagemaker: SageMakerClient, executionArn: string): Promise<string[]> {
  const refused: string[] = [];
  for (const name of await runningJobs(sagemaker, executionArn)) {
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
 * The execution itself: it may run again, and its event has no error where the state machine is under a key.
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

/** Those of this very execution: its jobs' names tell them from those of another one with the same run or outputs. */
async function runningJobs(client: SageMakerClient, executionArn: string): Promise<string[]> {
  const prefix = configured('JOB_NAME_PREFIX');
  const names = await jobsOfExecution(client, executionArn, 'InProgress');
  return names.filter((name) => isJobOfExecution(prefix, executionArn, name));
}
