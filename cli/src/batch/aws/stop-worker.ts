/** Stops the jobs of a batch worker; the answers that they have written stay, and another job continues after them. */
import { BatchClient, TerminateJobCommand } from '@aws-sdk/client-batch';
import {
  DescribeProcessingJobCommand,
  type SageMakerClient,
  StopProcessingJobCommand,
} from '@aws-sdk/client-sagemaker';
import type { JobStatus } from './described-job.ts';

/**
 * Stops a Processing job of SageMaker.
 * @returns its status; SageMaker refuses to stop one that is stopping or has ended
 */
export async function stopProcessing(
  sagemaker: SageMakerClient,
  ProcessingJobName: string,
): Promise<JobStatus> {
  try {
    await sagemaker.send(new StopProcessingJobCommand({ ProcessingJobName }));
    return 'Stopping';
  } catch (error) {
    const { ProcessingJobStatus: status } = await sagemaker
      .send(new DescribeProcessingJobCommand({ ProcessingJobName }))
      .catch(() => ({ ProcessingJobStatus: undefined }));
    if (status === undefined || status === 'InProgress') throw error;
    return status;
  }
}

/** Ends a job of AWS Batch with all its children, those in the queue too. @param jobId its id, not its name */
export async function stopBatchJob(jobId: string, region: string | undefined): Promise<JobStatus> {
  const batch = new BatchClient(region === undefined ? {} : { region });
  try {
    await batch.send(new TerminateJobCommand({ jobId, reason: 'sagemaker-tfs batch stop' }));
    return 'Stopping';
  } finally {
    batch.destroy();
  }
}
