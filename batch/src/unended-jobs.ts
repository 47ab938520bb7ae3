/** The transform jobs of an execution, for programs that have the AWS SDK. */
import {
  paginateListTransformJobs,
  type SageMakerClient,
  type TransformJobStatus,
} from '@aws-sdk/client-sagemaker';
import { executionMark, isNamedAfter } from './machine.ts';

/** Names of an execution's jobs that have this status. */
export async function jobsOfExecution(
  client: SageMakerClient,
  executionArn: string,
  StatusEquals: TransformJobStatus,
): Promise<string[]> {
  const names: string[] = [];
  const NameContains = executionMark(executionArn);
  const pages = paginateListTransformJobs(
    { client, pageSize: 100 },
    { NameContains, StatusEquals },
  );
  for await (const { TransformJobSummaries = [] } of pages) {
    for (const { TransformJobName = '' } of TransformJobSummaries) {
      if (isNamedAfter(executionArn, TransformJobName)) names.push(TransformJobName);
    }
  }
  return names;
}

/**
 * Names of an execution's jobs that still write, or may: one that is being stopped has not ended. Jobs of machines that were
 * deployed before names had the execution are not found.
 */
export async function unendedJobs(
  client: SageMakerClient,
  executionArn: string,
): Promise<string[]> {
  // In this order: a job that is stopped between the two looks is in one of them.
  const running = await jobsOfExecution(client, executionArn, 'InProgress');
  const stopping = await jobsOfExecution(client, executionArn, 'Stopping');
  return [...new Set([...running, ...stopping])];
}
