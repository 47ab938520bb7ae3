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
  SFNClient,
} from '@aws-sdk/client-sfn';
import { executionMark, isJobOfExecution } from '@sagemaker-tfs/batch';
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
  const names: string[] = [];
  const prefix = configured('JOB_NAME_PREFIX');
  const running = {
    NameContains: executionMark(executionArn),
    StatusEquals: 'InProgress',
  } as const;
  const pages = paginateListTransformJobs({ client, pageSize: 100 }, running);
  for await (const { TransformJobSummaries = [] } of pages) {
    for (const { TransformJobName = '' } of TransformJobSummaries) {
      if (isJobOfExecution(prefix, executionArn, TransformJobName)) names.push(TransformJobName);
    }
  }
  return names;
}
