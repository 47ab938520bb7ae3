/** Stops the transform jobs of an execution that has ended. */
import { createHash } from 'node:crypto';
import {
  paginateListTransformJobs,
  SageMakerClient,
  StopTransformJobCommand,
} from '@aws-sdk/client-sagemaker';
import { ConstructError } from '../../errors.ts';

/** What of EventBridge's event is used. */
export interface ExecutionEnded {
  readonly detail: {
    readonly name: string;
    readonly input?: string | null;
    /** Absent in events without one. */
    readonly error?: string | null;
  };
}

/** An execution that ends so has started nothing; jobs of its run id are those of the run that goes on. */
const STARTED_NOTHING = ['AlreadyRunning', 'BeginFailed', 'InvalidInput'];

/** Lambda's entry. */
export async function handler({ detail }: ExecutionEnded): Promise<void> {
  if (detail.error && STARTED_NOTHING.includes(detail.error)) return;
  const client = new SageMakerClient({});
  try {
    for (const name of await runningJobs(client, `${prefix()}-${markOf(runIdOf(detail))}-`)) {
      console.log(`stopping ${name}`);
      await client.send(new StopTransformJobCommand({ TransformJobName: name }));
    }
  } finally {
    client.destroy();
  }
}

function prefix(): string {
  const value = process.env.JOB_NAME_PREFIX;
  if (!value) throw new ConstructError('FUNCTION_NOT_CONFIGURED', 'JOB_NAME_PREFIX is not set.');
  return value;
}

/** As the machine's first state has it (`validate-state.ts`). */
function runIdOf({ name, input }: ExecutionEnded['detail']): string {
  const given: unknown = input ? JSON.parse(input) : {};
  const runId = typeof given === 'object' && given && 'runId' in given ? given.runId : '';
  return typeof runId === 'string' && runId ? runId : name.replace(/[^A-Za-z0-9-]/g, '-');
}

/** As in the jobs' names (`transform-state.ts`). */
function markOf(runId: string): string {
  return createHash('sha256').update(runId).digest('hex').slice(0, 8);
}

async function runningJobs(client: SageMakerClient, start: string): Promise<string[]> {
  const names: string[] = [];
  const running = { NameContains: start, StatusEquals: 'InProgress' } as const;
  const pages = paginateListTransformJobs({ client, pageSize: 100 }, running);
  for await (const { TransformJobSummaries = [] } of pages) {
    for (const { TransformJobName } of TransformJobSummaries) {
      if (TransformJobName?.startsWith(start)) names.push(TransformJobName);
    }
  }
  return names;
}
