/** Submits the job that a `BatchWorker` defines to its queue on AWS Batch. */
import { BatchClient, SubmitJobCommand, type SubmitJobCommandInput } from '@aws-sdk/client-batch';
import { outputOfDefinition } from './worker-job.ts';

/** A run of workers. */
interface BatchJobOptions {
  readonly jobName: string;
  /** Name or ARN. */
  readonly jobQueue: string;
  /** Name or ARN. */
  readonly jobDefinition: string;
  /** Workers, each with a share of the ranges. */
  readonly workers: number;
  /** S3 prefixes instead of the definition's own. */
  readonly inputUri?: string | undefined;
  readonly outputUri?: string | undefined;
  /** Variables of the containers, beside the definition's. */
  readonly environment: Readonly<Record<string, string>>;
  readonly tags: Readonly<Record<string, string>>;
  readonly region: string | undefined;
}

/**
 * Where the workers of a definition write if the job names no other place.
 * @returns a remark instead if nobody may look at the definition
 */
export async function outputsOf({
  jobDefinition,
  region,
}: Pick<BatchJobOptions, 'jobDefinition' | 'region'>): Promise<{
  readonly outputUri?: string | undefined;
  readonly remark?: string;
}> {
  const batch = new BatchClient(region === undefined ? {} : { region });
  try {
    return { outputUri: await outputOfDefinition(batch, jobDefinition) };
  } catch (error) {
    if (!(error as Error).name.startsWith('AccessDenied')) throw error;
    const remark = `the job definition ${jobDefinition} cannot be read, so another job may write to its outputs. Give --output-uri, or allow batch:DescribeJobDefinitions.`;
    return { remark };
  } finally {
    batch.destroy();
  }
}

/** Submits a job: an array of as many children as there are workers. @returns its id */
export async function startBatchJob(options: BatchJobOptions): Promise<string> {
  const { region } = options;
  const batch = new BatchClient(region === undefined ? {} : { region });
  try {
    const { jobId = '' } = await batch.send(new SubmitJobCommand(requestOf(options)));
    return jobId;
  } finally {
    batch.destroy();
  }
}

function requestOf(options: BatchJobOptions): SubmitJobCommandInput {
  const { jobName, jobQueue, jobDefinition, workers, inputUri, outputUri, tags } = options;
  const parameters = {
    ...(inputUri !== undefined && { input: inputUri }),
    ...(outputUri !== undefined && { output: outputUri }),
  };
  const environment = Object.entries(options.environment).map(([name, value]) => ({ name, value }));
  return {
    jobName,
    jobQueue,
    jobDefinition,
    parameters,
    propagateTags: true,
    // AWS Batch takes no array of one.
    ...(workers > 1 && { arrayProperties: { size: workers } }),
    ...(environment.length > 0 && { containerOverrides: { environment } }),
    ...(Object.keys(tags).length > 0 && { tags: { ...tags } }),
  };
}
