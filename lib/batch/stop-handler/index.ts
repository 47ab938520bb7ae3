/** Stops the transform jobs of an execution that has ended. */
import {
  paginateListTransformJobs,
  SageMakerClient,
  StopTransformJobCommand,
} from '@aws-sdk/client-sagemaker';
import { DescribeExecutionCommand, SFNClient } from '@aws-sdk/client-sfn';
import { jobNameStart, runIdOfExecution } from '@sagemaker-tfs/batch';
import { ConstructError, jobsContinue } from '../../errors.ts';

/** What of EventBridge's event is used. */
interface ExecutionEnded {
  readonly detail: { readonly executionArn: string };
}

/** What of an execution is used. */
interface Execution {
  readonly name?: string | undefined;
  readonly input?: string | undefined;
  readonly error?: string | undefined;
  readonly stopDate?: Date | undefined;
}

/** Lambda's entry. */
export async function handler({ detail }: ExecutionEnded): Promise<void> {
  const execution = await describe(detail.executionArn);
  if (execution.error && jobsContinue(execution.error)) return;
  const client = new SageMakerClient({});
  try {
    const start = jobNameStart(runIdOf(execution), prefix());
    for (const name of await runningJobs(client, start, createdBefore(execution))) {
      console.log(`stopping ${name}`);
      await client.send(new StopTransformJobCommand({ TransformJobName: name }));
    }
  } finally {
    client.destroy();
  }
}

/**
 * The execution itself: its event has no input where that is large, and neither input nor error where the state
 * machine is under a key.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/encryption-at-rest.html
 */
async function describe(executionArn: string): Promise<Execution> {
  const client = new SFNClient({});
  try {
    return await client.send(new DescribeExecutionCommand({ executionArn }));
  } finally {
    client.destroy();
  }
}

function prefix(): string {
  const value = process.env.JOB_NAME_PREFIX;
  if (!value)
    throw new ConstructError(
      'FUNCTION_NOT_CONFIGURED',
      'JOB_NAME_PREFIX is not set. Deploy the stack again.',
    );
  return value;
}

/** As the machine's first state makes it. */
function runIdOf({ name = '', input }: Execution): string {
  const given: unknown = input ? JSON.parse(input) : {};
  const runId = typeof given === 'object' && given && 'runId' in given ? given.runId : '';
  return typeof runId === 'string' && runId ? runId : runIdOfExecution(name);
}

/**
 * When its jobs were all there. The event may come late, and jobs that were made since are those of another execution
 * with the same run. A second more, for a call that was under way at the end: another one begins with other states.
 */
function createdBefore({ stopDate }: Execution): Date | undefined {
  return stopDate && new Date(stopDate.getTime() + 1000);
}

async function runningJobs(
  client: SageMakerClient,
  start: string,
  before: Date | undefined,
): Promise<string[]> {
  const names: string[] = [];
  const running = {
    NameContains: start,
    StatusEquals: 'InProgress',
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
