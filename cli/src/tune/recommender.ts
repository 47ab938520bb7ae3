/** The same question over several instance types: a job of SageMaker Inference Recommender. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateInferenceRecommendationsJobCommand,
  DescribeInferenceRecommendationsJobCommand,
  type DescribeInferenceRecommendationsJobResponse,
  type InferenceRecommendation,
  type ProductionVariantInstanceType,
  SageMakerClient,
  StopInferenceRecommendationsJobCommand,
} from '@aws-sdk/client-sagemaker';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { awsError } from '../batch/aws/aws-error.ts';
import { CommandError } from '../errors.ts';
import { sayStep } from '../output/progress.ts';
import type { Point } from './point.ts';

/** What the job needs. */
interface RecommenderOptions {
  readonly modelName: string;
  /** Role that the job takes on. */
  readonly roleArn: string;
  /** S3 URI of an archive with sample request bodies. */
  readonly samplePayload: string;
  readonly contentType: string;
  readonly instanceTypes: readonly string[];
  readonly region?: string | undefined;
  /** Seconds between two looks. Default: 60; a job takes most of an hour. */
  readonly intervalSeconds?: number;
  readonly signal: AbortSignal;
}

/** Looks that may fail one after another. */
const MAX_FAILURES = 5;

/**
 * Runs a job to its end and returns a point for each recommendation. The job runs endpoints of every type, so it is stopped
 * if `signal` comes first, or if it cannot be looked at.
 * @throws CommandError JOB_NOT_COMPLETED; JOB_NOT_WATCHED if it continues
 */
export async function recommend(options: RecommenderOptions): Promise<Point[]> {
  const sagemaker = new SageMakerClient(options.region ? { region: options.region } : {});
  const JobName = `tune-${randomUUID()}`;
  try {
    await create(sagemaker, JobName, options);
    sayStep(`SageMaker runs ${JobName}, for most of an hour`);
    return await results(sagemaker, JobName, options).catch((error: unknown) => {
      if (error instanceof CommandError && error.code === 'JOB_NOT_COMPLETED') throw error;
      return stop(sagemaker, JobName, error, options.signal);
    });
  } catch (error) {
    throw awsError(error);
  } finally {
    sagemaker.destroy();
  }
}

async function create(
  sagemaker: SageMakerClient,
  JobName: string,
  options: RecommenderOptions,
): Promise<void> {
  try {
    await sagemaker.send(
      new CreateInferenceRecommendationsJobCommand({
        JobName,
        JobType: 'Default',
        RoleArn: options.roleArn,
        InputConfig: {
          ModelName: options.modelName,
          ContainerConfig: {
            Domain: 'COMPUTER_VISION',
            Task: 'IMAGE_CLASSIFICATION',
            Framework: 'TENSORFLOW',
            PayloadConfig: {
              SamplePayloadUrl: options.samplePayload,
              SupportedContentTypes: [options.contentType],
            },
            SupportedInstanceTypes: [...options.instanceTypes],
          },
          EndpointConfigurations: options.instanceTypes.map((type) => ({
            InstanceType: type as ProductionVariantInstanceType,
          })),
        },
      }),
    );
  } catch (error) {
    // Nobody else has this name: the answer to the first try was lost, and the SDK has asked again.
    if (!(error instanceof Error) || error.name !== 'ResourceInUse') throw error;
  }
}

/** @throws what ended the wait; CommandError JOB_NOT_WATCHED if the job cannot be stopped either */
async function stop(
  sagemaker: SageMakerClient,
  JobName: string,
  cause: unknown,
  signal: AbortSignal,
): Promise<never> {
  const isStopped = await sagemaker
    .send(new StopInferenceRecommendationsJobCommand({ JobName }))
    .then(
      () => true,
      () => false,
    );
  if (isStopped) throw signal.aborted ? signal.reason : cause;
  const reason = cause instanceof Error ? cause.message : String(cause);
  throw new CommandError(
    'JOB_NOT_WATCHED',
    `the job ${JobName} may still run, and cost: ${sentence(reason)} Stop it: aws sagemaker stop-inference-recommendations-job --job-name ${JobName}.`,
    { cause },
  );
}

async function results(
  sagemaker: SageMakerClient,
  JobName: string,
  { intervalSeconds = 60, signal }: RecommenderOptions,
): Promise<Point[]> {
  let failures = 0;
  for (;;) {
    try {
      const job = await sagemaker.send(new DescribeInferenceRecommendationsJobCommand({ JobName }));
      failures = 0;
      if (job.Status === 'COMPLETED') return (job.InferenceRecommendations ?? []).map(pointOf);
      if (job.Status === 'FAILED' || job.Status === 'STOPPED') throw notCompleted(JobName, job);
    } catch (error) {
      failures += 1;
      if (error instanceof CommandError || failures === MAX_FAILURES) throw error;
    }
    await sleep(intervalSeconds * 1_000, undefined, { signal });
  }
}

function notCompleted(
  name: string,
  { Status, FailureReason = 'no reason given' }: DescribeInferenceRecommendationsJobResponse,
): CommandError {
  return new CommandError(
    'JOB_NOT_COMPLETED',
    `${name} is ${Status}: ${sentence(FailureReason)} Mend the cause, then run it again.`,
  );
}

function pointOf({ Metrics, EndpointConfiguration }: InferenceRecommendation): Point {
  return {
    where: EndpointConfiguration?.InstanceType ?? 'unknown',
    batchSize: 1,
    // SageMaker counts invocations a minute.
    imagesPerSecond: (Metrics?.MaxInvocations ?? 0) / 60,
    p50: Metrics?.ModelLatency ?? 0,
    errors: 0,
    ...(Metrics?.CostPerInference !== undefined && {
      dollarsPerMillion: Metrics.CostPerInference * 1e6,
    }),
  };
}
