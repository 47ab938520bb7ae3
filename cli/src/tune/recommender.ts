/** The same question over several instance types: a job of SageMaker Inference Recommender. */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  CreateInferenceRecommendationsJobCommand,
  DescribeInferenceRecommendationsJobCommand,
  type InferenceRecommendation,
  type ProductionVariantInstanceType,
  SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { awsError } from '../batch/aws/clients.ts';
import { CommandError } from '../errors.ts';
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

/** Runs a job to its end and returns a point for each recommendation. @throws CommandError JOB_NOT_COMPLETED */
export async function recommend(options: RecommenderOptions): Promise<Point[]> {
  const sagemaker = new SageMakerClient(options.region ? { region: options.region } : {});
  const JobName = `tune-${Date.now()}`;
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
    return await results(sagemaker, JobName, options);
  } catch (error) {
    throw awsError(error);
  } finally {
    sagemaker.destroy();
  }
}

async function results(
  sagemaker: SageMakerClient,
  JobName: string,
  { intervalSeconds = 60, signal }: RecommenderOptions,
): Promise<Point[]> {
  for (;;) {
    const job = await sagemaker.send(new DescribeInferenceRecommendationsJobCommand({ JobName }));
    if (job.Status === 'COMPLETED') return (job.InferenceRecommendations ?? []).map(pointOf);
    if (job.Status === 'FAILED' || job.Status === 'STOPPED') {
      throw new CommandError(
        'JOB_NOT_COMPLETED',
        `${JobName} is ${job.Status}: ${sentence(job.FailureReason ?? 'no reason given')} Mend the cause, then run it again.`,
      );
    }
    await sleep(intervalSeconds * 1_000, undefined, { signal });
  }
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
