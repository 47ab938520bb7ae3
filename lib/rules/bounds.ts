/** Bounds of single numbers, least and most: a configuration and the props of constructs have them from here. */

/** The least number, and the greatest. */
export type Bounds = readonly [least: number, most: number];

/** Share of the capacity that a step of a deployment may move, percent. */
export const TRAFFIC_SHARES: Readonly<Record<'canary' | 'linear' | 'rolling', Bounds>> = {
  canary: [1, 50],
  linear: [10, 50],
  rolling: [5, 50],
};
/** Seconds after a step of a deployment. */
export const STEP_WAIT_SECONDS: Bounds = [0, 3600];
/** Seconds that the old fleet is kept. */
export const BAKE_SECONDS: Bounds = [0, 3600];
/** Seconds that a whole deployment may take. */
export const DEPLOYMENT_SECONDS: Bounds = [600, 28_800];

/** Seconds for a model's download, and for the start of its container. */
export const START_SECONDS: Bounds = [60, 3600];
/** Seconds for instances of several types to be found. */
export const PROVISIONING_SECONDS: Bounds = [300, 3600];
/** Instance types that a variant lists. @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariant.html */
export const INSTANCE_TYPES: Bounds = [1, 5];

/** Seconds that an API waits: SageMaker answers within 60. */
export const API_TIMEOUT_SECONDS: Bounds = [1, 60];

/** Workers of a run on AWS Batch: children of an array job. @see https://docs.aws.amazon.com/batch/latest/userguide/array_jobs.html */
export const WORKERS_OF_A_RUN: Bounds = [1, 10_000];
/** vCPUs of a worker on AWS Batch. */
export const WORKER_VCPU_COUNTS: Bounds = [1, 256];
/** @see https://docs.aws.amazon.com/batch/latest/APIReference/API_RetryStrategy.html */
export const WORKER_ATTEMPTS: Bounds = [1, 10];
/** Seconds that a worker waits for an instance. @see https://docs.aws.amazon.com/batch/latest/APIReference/API_JobStateTimeLimitAction.html */
export const WORKER_WAIT_SECONDS: Bounds = [600, 86_400];
/**
 * GiB of an instance's root volume. ECS's images of Amazon Linux 2023 have 30.
 * @see https://github.com/aws/amazon-ecs-ami/blob/main/variables.pkr.hcl
 * @see https://docs.aws.amazon.com/ebs/latest/userguide/general-purpose.html
 */
export const WORKER_DISK_GIB: Bounds = [30, 16_384];
/**
 * @see https://docs.aws.amazon.com/batch/latest/APIReference/API_ResourceRequirement.html
 * @see https://docs.aws.amazon.com/batch/latest/userguide/job_timeouts.html
 */
export const LEAST_WORKER = { memoryMiB: 4, timeoutSeconds: 60 } as const;

/** Hours back that a drift monitor looks. */
export const DRIFT_HOURS: Bounds = [1, 720];
/** Captures that it reads: the function has 15 minutes. */
export const DRIFT_CAPTURES: Bounds = [1, 100_000];

/** @see https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_InferenceComponentComputeResourceRequirements.html */
export const MIN_COMPONENT = { memoryMiB: 128, cpus: 0.25 } as const;
