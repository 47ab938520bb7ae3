/** Submits the job that a `BatchWorker` defines to its queue on AWS Batch. */
import { BatchClient, SubmitJobCommand, type SubmitJobCommandInput } from '@aws-sdk/client-batch';

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
