/** An endpoint and its variants. */
import { SAGEMAKER_NAME } from '@sagemaker-tfs/batch';
import * as z from 'zod';
import { DEFAULT_LOG_RETENTION, RETENTION_DAYS } from '../endpoint/log-group.ts';
import { METRIC_FREQUENCIES } from '../endpoint/metrics-config.ts';
import { DEFAULT_INSTANCE_TYPE } from '../endpoint/variant.ts';
import { INSTANCE_TYPES, PROVISIONING_SECONDS, START_SECONDS } from '../rules/bounds.ts';
import { SERVERLESS_CONCURRENCY } from '../rules/serverless.ts';
import { api } from './api.ts';
import { component, managedInstances } from './components.ts';
import { deployment } from './deployment.ts';
import { drift } from './drift.ts';
import { byDefault, count, days, fraction, wholeIn } from './fields.ts';
import { scaling } from './scaling.ts';
import { smokeTest } from './smoke-test.ts';
import { checkSources, sources } from './sources.ts';

/** What a variant runs on. The fields of an endpoint hold for all of its variants. */
const instances = {
  instanceType: z
    .string()
    .optional()
    .describe(`SageMaker's name. Not with \`serverless\`. ${byDefault(DEFAULT_INSTANCE_TYPE)}`),
  instanceTypes: z
    .array(z.string())
    .min(INSTANCE_TYPES[0])
    .max(INSTANCE_TYPES[1])
    .optional()
    .describe(
      'In place of `instanceType`: types [in order of preference](updating-and-rolling-back.md#several-instance-types). SageMaker takes the next where it has no instances of one. Default: one type.',
    ),
  provisioningTimeoutSeconds: wholeIn(PROVISIONING_SECONDS)
    .optional()
    .describe("For instances of `instanceTypes` to be found. Default: SageMaker's."),
  capacityReservationArn: z
    .string()
    .regex(
      /^arn:aws[a-z-]*:sagemaker:[a-z0-9-]*:\d{12}:[a-z0-9-]{1,14}\/.+$/,
      'write the ARN of a training plan, arn:aws:sagemaker:REGION:ACCOUNT:training-plan/NAME',
    )
    .optional()
    .describe('Reserved instances, and no others. Default: any.'),
  instanceCount: count
    .optional()
    .describe('Instances at the start. Default: 1, or `scaling.minInstances`.'),
  scaling: scaling.optional().describe('Autoscaling. Default: a fixed number of instances.'),
  inferenceAmiVersion: z
    .string()
    .optional()
    .describe('Host image, which decides the GPU driver. Default: one to suit image and instance.'),
  modelDataDownloadTimeoutSeconds: wholeIn(START_SECONDS)
    .optional()
    .describe("For the archive to arrive. Default: SageMaker's."),
  startupTimeoutSeconds: wholeIn(START_SECONDS)
    .optional()
    .describe("For the container to become healthy. Default: SageMaker's."),
};

const own = <T extends z.ZodType>(field: T, of: 'endpoint' | 'model') =>
  field.describe(`Its own. Default: the ${of}'s.`);

/** One of several variants. */
export const endpointVariant = z
  .strictObject({
    name: z
      .string()
      .regex(SAGEMAKER_NAME, 'use letters, digits and single hyphens')
      .describe('Names it in requests (`TargetVariant`) and metrics.'),
    weight: fraction
      .optional()
      .describe(
        "Its share of the requests, relative to the other variants' weights; of a shadow, the share that it gets a copy of, relative to the other's. Default: 1.",
      ),
    model: own(sources.model, 'model'),
    archive: own(sources.archive, 'model'),
    archiveKeyArn: sources.archiveKeyArn.describe(
      'Key that its `archive` is under. Default: that of the stack.',
    ),
    modelName: own(sources.modelName, 'model'),
    modelPackage: own(sources.modelPackage, 'model'),
    fingerprint: sources.fingerprint.describe(
      'Fingerprint of its `archive`, `modelName` or `modelPackage`.',
    ),
    handler: own(sources.handler, 'model'),
    preprocess: own(sources.preprocess, 'model'),
    postprocess: own(sources.postprocess, 'model'),
    compression: own(sources.compression, 'model'),
    environment: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .optional()
      .describe("Variables beside the model's, or in their place. Default: none."),
    instanceType: own(instances.instanceType, 'endpoint'),
    instanceTypes: own(instances.instanceTypes, 'endpoint'),
    provisioningTimeoutSeconds: own(instances.provisioningTimeoutSeconds, 'endpoint'),
    capacityReservationArn: own(instances.capacityReservationArn, 'endpoint'),
    instanceCount: own(instances.instanceCount, 'endpoint'),
    scaling: scaling.optional().describe("Its own. Default: the endpoint's; none for a shadow."),
    inferenceAmiVersion: own(instances.inferenceAmiVersion, 'endpoint'),
    modelDataDownloadTimeoutSeconds: own(instances.modelDataDownloadTimeoutSeconds, 'endpoint'),
    startupTimeoutSeconds: own(instances.startupTimeoutSeconds, 'endpoint'),
  })
  .superRefine(checkSources);

/** An endpoint that answers requests. */
export const endpoint = z.strictObject({
  ...instances,
  enabled: z
    .boolean()
    .optional()
    .describe(
      '`false` keeps everything but the endpoint, which then costs nothing and answers nothing. Default: `true`.',
    ),
  serverless: z
    .strictObject({
      memoryGiB: z.int().min(1).max(6).describe('Memory.'),
      maxConcurrency: count
        .optional()
        .describe(`Most requests at once. ${byDefault(SERVERLESS_CONCURRENCY.default)}`),
      provisionedConcurrency: count.optional().describe('Kept warm. Default: none.'),
    })
    .optional()
    .describe('Serverless instead of instances; CPU only.'),
  async: z
    .boolean()
    .default(false)
    .describe(
      "Requests through S3 and a queue, in a bucket of the stack's own: up to 1 GB and 1 h, and may scale to 0.",
    ),
  dataCapturePercent: z
    .int()
    .min(1)
    .max(100)
    .optional()
    .describe(
      "Share of the requests and answers kept, in a bucket of the stack's own. Default: none.",
    ),
  asyncRetentionDays: days
    .optional()
    .describe(
      'Days after which requests, answers and failures of an asynchronous endpoint are deleted. Default: never.',
    ),
  dataCaptureRetentionDays: days
    .optional()
    .describe('Days after which captures are deleted. Default: never.'),
  drift: drift
    .optional()
    .describe(
      'A [scheduled look](drift.md#every-day) at the captures: how far inputs and outputs are from a baseline. Default: none.',
    ),
  metrics: z
    .strictObject({
      detailed: z
        .boolean()
        .optional()
        .describe(
          "What SageMaker scrapes from the container's `/metrics`, and metrics of each GPU and instance; `true` adds alarms over them. Default: SageMaker's (on since June 2026).",
        ),
      enhanced: z
        .boolean()
        .optional()
        .describe('Utilization and invocations for each instance and container. Default: off.'),
      frequencySeconds: z
        .literal([...METRIC_FREQUENCIES])
        .optional()
        .describe(
          'Seconds between two publications; with `enhanced` those of requests too, and an update must be watched for more than one. Default: 60.',
        ),
    })
    .optional()
    .describe("Metrics that SageMaker publishes. Default: SageMaker's."),
  deployment: deployment
    .optional()
    .describe('How updates are made, and undone: [Updating](updating-and-rolling-back.md).'),
  logRetentionDays: z
    .literal([...RETENTION_DAYS])
    .optional()
    .describe(`Days that the endpoint's logs are kept. ${byDefault(DEFAULT_LOG_RETENTION)}`),
  variants: z
    .array(endpointVariant)
    .min(1)
    .max(10)
    .optional()
    .describe(
      'Variants that [share the requests by weight](updating-and-rolling-back.md#compare-two-models), each with fields of its own. Default: one.',
    ),
  shadow: endpointVariant
    .optional()
    .describe(
      'A variant that gets [a copy of the requests](updating-and-rolling-back.md#compare-two-models), and whose answers nobody sees. Default: none.',
    ),
  components: z
    .array(component)
    .min(1)
    .max(100)
    .optional()
    .describe(
      '[Inference components](inference-components.md): models that share the instances, each with copies and a share. Default: one model on all of each instance.',
    ),
  managedInstances: managedInstances
    .optional()
    .describe('How many instances `components` may have; required with them.'),
  api: api
    .optional()
    .describe(
      'API Gateway in front of the endpoint, for [callers without AWS keys](https-api.md). Default: none.',
    ),
  alarmEmail: z.email().optional().describe('Email for alarms. Default: none.'),
  smokeTest,
});

/** Refuses retention or drift settings for data that the endpoint does not record. */
export function unrecordedData(given: z.output<typeof endpoint>) {
  if (given.drift && given.dataCapturePercent === undefined) {
    const problem = `nothing is captured. Give 'dataCapturePercent', or leave it out`;
    return { name: 'drift', problem };
  }
  if (given.asyncRetentionDays !== undefined && !given.async) {
    const problem = `only an asynchronous endpoint keeps requests and answers. Give 'async: true', or leave it out`;
    return { name: 'asyncRetentionDays', problem };
  }
  if (given.dataCaptureRetentionDays !== undefined && given.dataCapturePercent === undefined) {
    const problem = `nothing is captured. Give 'dataCapturePercent', or leave it out`;
    return { name: 'dataCaptureRetentionDays', problem };
  }
  return undefined;
}
