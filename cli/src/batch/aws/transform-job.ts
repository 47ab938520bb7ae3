/** Reads from AWS what a transform job was started with and how it is. */
import {
  DescribeTransformJobCommand,
  type DescribeTransformJobResponse,
  type SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import type { DecisiveSettings } from '@sagemaker-tfs/batch';
import { CommandError } from '../../errors.ts';
import type { AwsClients } from './clients.ts';
import { isUnknownJob, type JobStatus, type TransformJob } from './described-job.ts';
import { describeExecution, isExecution } from './execution.ts';

/** Describes a transform job by its name, or an execution of a state machine by its ARN. @throws CommandError JOB_NOT_FOUND */
export function describe(
  clients: Pick<AwsClients, 'sfn' | 'sagemaker'>,
  name: string,
): Promise<TransformJob> {
  return isExecution(name)
    ? describeExecution(clients, name)
    : describeJob(clients.sagemaker, name);
}

/** Describes a transform job. @throws CommandError JOB_NOT_FOUND */
export async function describeJob(sagemaker: SageMakerClient, name: string): Promise<TransformJob> {
  const job = await sagemaker
    .send(new DescribeTransformJobCommand({ TransformJobName: name }))
    .catch((error: Error) => {
      if (!isUnknownJob(error)) throw error;
      throw new CommandError(
        'JOB_NOT_FOUND',
        `there is no transform job ${name} in this region. Check the name, and --region.`,
        {
          cause: error,
        },
      );
    });
  const source = job.TransformInput?.DataSource?.S3DataSource;
  return {
    name,
    status: (job.TransformJobStatus ?? 'InProgress') as JobStatus,
    failureReason: job.FailureReason,
    inputUri: source?.S3Uri ?? '',
    dataType: source?.S3DataType === 'ManifestFile' ? 'ManifestFile' : 'S3Prefix',
    outputUri: job.TransformOutput?.S3OutputPath ?? '',
    accept: job.TransformOutput?.Accept,
    instanceType: job.TransformResources?.InstanceType ?? '',
    instanceCount: job.TransformResources?.InstanceCount ?? 1,
    createdAt: job.CreationTime ?? new Date(),
    startedAt: job.TransformStartTime,
    endedAt: job.TransformEndTime,
    madeWith: { modelName: job.ModelName ?? '', ...decisiveSettings(job) },
  };
}

/** Settings of a job; what SageMaker does not tell has its default. */
function decisiveSettings(job: DescribeTransformJobResponse): DecisiveSettings {
  const { TransformInput: input, TransformOutput: output, DataProcessing: data } = job;
  const told = {
    contentType: input?.ContentType,
    accept: output?.Accept,
    splitType: input?.SplitType,
    batchStrategy: job.BatchStrategy,
    assembleWith: output?.AssembleWith,
    compressionType: input?.CompressionType,
    joinSource: data?.JoinSource,
    inputFilter: data?.InputFilter,
    outputFilter: data?.OutputFilter,
    environment: job.Environment,
  };
  return Object.fromEntries(Object.entries(told).filter(([, value]) => value !== undefined));
}

/** True when nothing changes any more. */
export function hasEnded({ status }: Pick<TransformJob, 'status'>): boolean {
  return status === 'Completed' || status === 'Failed' || status === 'Stopped';
}
