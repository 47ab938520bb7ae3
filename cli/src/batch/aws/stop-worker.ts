/** Stops the jobs of a batch worker; the answers that they have written stay, and another job continues after them. */
import { BatchClient, TerminateJobCommand } from '@aws-sdk/client-batch';
import { type SageMakerClient, StopProcessingJobCommand } from '@aws-sdk/client-sagemaker';

/** Stops a Processing job of SageMaker. @param name the job's */
export async function stopProcessing(sagemaker: SageMakerClient, name: string): Promise<void> {
  await sagemaker.send(new StopProcessingJobCommand({ ProcessingJobName: name }));
}

/** Ends a job of AWS Batch with all its children, those in the queue too. @param jobId its id, not its name */
export async function stopBatchJob(jobId: string, region: string | undefined): Promise<void> {
  const batch = new BatchClient(region === undefined ? {} : { region });
  try {
    await batch.send(new TerminateJobCommand({ jobId, reason: 'sagemaker-tfs batch stop' }));
  } finally {
    batch.destroy();
  }
}
