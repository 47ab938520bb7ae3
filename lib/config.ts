/** The schema of `serving.config.ts`: what the app deploys. */

import { BUCKET, EXISTING, FIRST_TRANSFORM_TYPE, fallbackTypes } from '@sagemaker-tfs/batch';
import {
  ASSEMBLIES,
  BATCH_STRATEGIES,
  DEFAULT_SETTINGS,
  type IntegerSetting,
  SETTING_RULES,
  SPLIT_TYPES,
} from '@sagemaker-tfs/batch/settings';
import { postprocessSchema, preprocessSchema } from '@sagemaker-tfs/manifest';
import * as z from 'zod';
import { RETENTION_DAYS } from './endpoint/log-group.ts';
import { METRIC_FREQUENCIES } from './endpoint/metrics-config.ts';
import { modelPackage, redeploy, registry } from './registry-config.ts';
import { SAGEMAKER_NAME, tokenProblem } from './rules/limits.ts';
import { STACK_NAMES } from './stacks/stack-names.ts';

const positive = z.number().positive();
const count = z.int().positive();
/** As S3 counts them in its lifecycle rules. */
const days = count.max(36_500);
const fraction = z.number().min(0);

const located = {
  path: z
    .string()
    .startsWith('$')
    .optional()
    .describe('JSON path into the answer, such as `$.predictions[0].digit`. Default: `$`.'),
};
const tolerance = fraction
  .optional()
  .describe('Largest difference of a number. Default: 0; 0.05 for `score`.');

const expectation = z.union([
  z.strictObject({
    ...located,
    equals: z.unknown().describe('The value at `path`.'),
    tolerance,
  }),
  z.strictObject({
    ...located,
    topClass: z.int().min(0).describe('Index of the highest of the numbers at `path`.'),
    score: z.number().optional().describe('The number at `topClass`. Default: not checked.'),
    tolerance,
  }),
  z.strictObject({
    ...located,
    shape: z.array(z.int().min(-1)).describe('Dimensions of the value at `path`; -1 is any size.'),
    dtype: z.string().min(1).optional().describe('Its dtype. Default: not checked.'),
  }),
  z.strictObject({
    ...located,
    golden: z
      .string()
      .min(1)
      .describe('An `.npy` or `.json` file with what is expected at `path`.'),
    absolute: fraction.optional().describe('Absolute tolerance. Default: 0.00001.'),
    relative: fraction.optional().describe('Relative tolerance. Default: 0.001.'),
  }),
]);

const milliseconds = positive.optional();

const sample = z.strictObject({
  name: z
    .string()
    .regex(/^[\w .-]{1,64}$/, 'use letters, digits, spaces and . _ -')
    .describe('Names the sample in messages and metrics.'),
  file: z.string().min(1).describe("The request's body."),
  contentType: z
    .string()
    .regex(/^[^/ ]+\/[^/]+$/, 'give a media type, such as application/json')
    .describe('Media type of the body.'),
  accept: z.string().optional().describe('Media type of the answer. Default: the model chooses.'),
  customAttributes: z
    .string()
    .max(900)
    .optional()
    .describe('Custom attributes of the request. Default: none.'),
  targetModel: z.string().optional().describe('The model, of a multi-model endpoint.'),
  expect: z
    .array(expectation)
    .optional()
    .describe('What must hold of every answer. Default: any answer will do.'),
  limits: z
    .strictObject({
      meanMs: milliseconds.describe('Mean latency.'),
      p50Ms: milliseconds.describe('Median latency.'),
      p90Ms: milliseconds.describe('90th percentile.'),
      p95Ms: milliseconds.describe('95th percentile.'),
      coldMs: milliseconds.describe('The first call.'),
    })
    .optional()
    .describe('Longest latencies, in milliseconds, seen from Lambda. Default: none.'),
});

const scaling = z.strictObject({
  minInstances: z
    .int()
    .min(0)
    .optional()
    .describe('0 for asynchronous endpoints only. Default: 1.'),
  maxInstances: count.describe('Greatest number of instances.'),
  schedule: z
    .array(
      z.strictObject({
        when: z
          .string()
          .describe(
            '`cron(0 8 ? * MON-FRI *)` with six fields, or once: `at(2026-12-24T18:00:00)`.',
          ),
        timeZone: z
          .string()
          .optional()
          .describe("IANA's name, such as `Europe/Berlin`. Default: `UTC`."),
        minInstances: z
          .int()
          .min(0)
          .optional()
          .describe("Fewest instances from then on. Default: the scaling's."),
        maxInstances: count
          .optional()
          .describe("Most instances from then on. Default: the scaling's."),
      }),
    )
    .min(1)
    .max(200)
    .optional()
    .describe(
      'Other limits by the clock: [Schedules](updating-and-rolling-back.md#fewer-instances-at-night-or-none). Default: the same at any time.',
    ),
  target: z
    .union([
      z.strictObject({
        invocationsPerMinute: positive.describe('Requests a minute to each instance.'),
      }),
      z.strictObject({
        concurrentRequests: positive.describe('Requests at once to each instance.'),
      }),
      z.strictObject({
        backlog: positive.describe(
          'Waiting requests for each instance, of asynchronous endpoints.',
        ),
      }),
    ])
    .describe('What autoscaling keeps constant; one of these.'),
  registered: z
    .boolean()
    .optional()
    .describe(
      '`false` stops autoscaling and keeps the number of instances: the first step of [another instance type](updating-and-rolling-back.md#another-instance-type-of-a-scaled-endpoint). Default: `true`.',
    ),
});

const shift = {
  percent: z.int().min(1).max(50).describe('Share of the instances in the first or each step.'),
  waitSeconds: z.int().min(0).max(3600).describe('Wait after a step.'),
};

const kind = <Type extends string>(type: Type) =>
  z
    .literal(type)
    .describe('In one step, in two, in equal steps, or in place without a second fleet.');

const deployment = z.strictObject({
  traffic: z
    .discriminatedUnion('type', [
      z.strictObject({ type: kind('all-at-once') }),
      z.strictObject({ type: kind('canary'), ...shift }),
      z.strictObject({ type: kind('linear'), ...shift }),
      z.strictObject({ type: kind('rolling'), ...shift }),
    ])
    .optional()
    .describe('How an update reaches the instances. Default: `all-at-once`.'),
  bakeSeconds: z
    .int()
    .min(0)
    .max(3600)
    .optional()
    .describe('How long alarms can still roll an update back. Default: 300.'),
  serverErrorsPerMinute: count
    .optional()
    .describe('5xx answers in a minute that roll an update back. Default: 5.'),
  modelLatencyP90Ms: positive
    .optional()
    .describe('90th percentile of the model latency that rolls an update back. Default: none.'),
});

const api = z.strictObject({
  auth: z
    .enum(['apiKey', 'jwt', 'iam'])
    .describe(
      'How callers show who they are: a key in `x-api-key`, a token in `Authorization: Bearer`, or a signature with AWS keys.',
    ),
  jwt: z
    .strictObject({
      issuer: z
        .url({ protocol: /^https$/, error: 'write the address of the claim iss, https://...' })
        .describe('Issuer of the tokens, as their claim `iss` has it.'),
      audience: z
        .array(z.string().min(1))
        .min(1)
        .describe('The claim `aud`, or `client_id` of tokens without it, must name one of these.'),
      scopes: z
        .array(z.string().min(1))
        .min(1)
        .optional()
        .describe('The claim `scope` or `scp` must name one of these. Default: any.'),
    })
    .optional()
    .describe("Which tokens are taken, with `auth: 'jwt'`."),
  throttle: z
    .strictObject({
      requestsPerSecond: positive.describe('Calls a second, on average.'),
      burst: count.describe('Calls at once.'),
    })
    .optional()
    .describe("The most calls; others get 429. Default: the account's limits."),
  corsOrigin: z
    .string()
    .regex(/^(\*|https?:\/\/[^/\s]+)$/, 'write https://app.example.com, without a path, or *')
    .optional()
    .describe('Origin whose pages may call from a browser, or `*`. Default: none.'),
  domain: z
    .strictObject({
      name: z
        .string()
        .regex(/^(?=.{1,253}$)([a-z0-9-]{1,63}\.)+[a-z]{2,63}$/, 'write models.example.com')
        .describe('Name of your own. The API then has no other.'),
      certificateArn: z
        .string()
        .regex(
          /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[\w-]+$/,
          'write arn:aws:acm:REGION:ACCOUNT:certificate/ID',
        )
        .describe("Certificate for the name, in the API's region."),
      hostedZone: z
        .strictObject({
          id: z.string().min(1).describe('Its id.'),
          name: z.string().min(1).describe('Its name, such as `example.com`.'),
        })
        .optional()
        .describe('Zone of Route 53 that gets a record. Default: none.'),
    })
    .optional()
    .describe("A name of your own. Default: API Gateway's."),
  timeoutSeconds: z
    .int()
    .min(1)
    .max(60)
    .optional()
    .describe(
      'Longest wait for an answer. More than 29 needs a higher quota of API Gateway. Default: 29.',
    ),
});

/** What a variant runs on. The fields of an endpoint hold for all of its variants. */
const instances = {
  instanceType: z
    .string()
    .optional()
    .describe("SageMaker's name. Not with `serverless`. Default: `ml.g4dn.xlarge`."),
  instanceTypes: z
    .array(z.string())
    .min(1)
    .max(5)
    .optional()
    .describe(
      'In place of `instanceType`: types [in order of preference](updating-and-rolling-back.md#several-instance-types). SageMaker takes the next where it has no instances of one. Default: one type.',
    ),
  provisioningTimeoutSeconds: z
    .int()
    .min(300)
    .max(3600)
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
  modelDataDownloadTimeoutSeconds: z
    .int()
    .min(60)
    .max(3600)
    .optional()
    .describe("For the archive to arrive. Default: SageMaker's."),
  startupTimeoutSeconds: z
    .int()
    .min(60)
    .max(3600)
    .optional()
    .describe("For the container to become healthy. Default: SageMaker's."),
};

/** Where a model is, and what is packaged with it. */
const sources = {
  model: z
    .string()
    .min(1)
    .optional()
    .describe(
      'SavedModel directory. One of `model`, `archive`, `multiModel`, `modelName` and `modelPackage` is required.',
    ),
  archive: z
    .string()
    .regex(
      new RegExp(`^s3://${BUCKET}/.+(\\.tar\\.gz|/)$`, 's'),
      'write s3://BUCKET/KEY.tar.gz, or s3://BUCKET/PREFIX/ for its files',
    )
    .optional()
    .describe(
      'In place of `model`: a `model.tar.gz` that `sagemaker-tfs package` made and that is in S3 already, or a prefix of S3 with its files.',
    ),
  multiModel: z
    .string()
    .regex(new RegExp(`^s3://${BUCKET}/.+/$`, 's'), 'write s3://BUCKET/PREFIX/')
    .optional()
    .describe(
      'In place of `model`: a prefix of S3 with a `model.tar.gz` for each model, loaded when a request names it. CPU types and `cpu` images only.',
    ),
  modelName: z
    .string()
    .regex(SAGEMAKER_NAME, 'write the name of a model of SageMaker')
    .optional()
    .describe(
      "In place of `model`: a model that is in SageMaker already, by its name, on an image of this project's. Its role must have every permission already.",
    ),
  modelPackage: modelPackage
    .optional()
    .describe(
      "In place of `model`: a version of SageMaker's [Model Registry](model-registry.md), with its image.",
    ),
  fingerprint: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'write the 64 digits that package --json prints')
    .optional()
    .describe(
      'Fingerprint of `archive`, `modelName` or `modelPackage`, which the smoke test compares with the model that answers. Default: not compared.',
    ),
  handler: z
    .string()
    .min(1)
    .optional()
    .describe(
      'TypeScript [handler](handlers.md). Default: `code/inference.ts` in `model`, or none.',
    ),
  preprocess: preprocessSchema
    .optional()
    .describe(
      'How images become the input: [declarations](bring-your-own-model.md#no-code-declare-what-happens-to-images).',
    ),
  postprocess: postprocessSchema.optional().describe('How outputs become the answer, declared.'),
  compression: z
    .enum(['gzip', 'none'])
    .optional()
    .describe(
      'One archive, or files under a prefix of S3; `none` not for batch and serverless. Default: `gzip`.',
    ),
  environment: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
    .default({})
    .describe(
      "The runtime's [variables](reference.md#environment-variables), checked, and the handler's own.",
    ),
};

const own = <T extends z.ZodType>(field: T, of: 'endpoint' | 'model') =>
  field.describe(`Its own. Default: the ${of}'s.`);

const endpointVariant = z
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

const endpoint = z.strictObject({
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
      maxConcurrency: count.optional().describe('Most requests at once. Default: 5.'),
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
        .describe('Seconds between two publications. Default: 60.'),
    })
    .optional()
    .describe("Metrics that SageMaker publishes. Default: SageMaker's."),
  deployment: deployment
    .optional()
    .describe('How updates are made, and undone: [Updating](updating-and-rolling-back.md).'),
  logRetentionDays: z
    .literal([...RETENTION_DAYS])
    .optional()
    .describe("Days that the endpoint's logs are kept. Default: 90."),
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
  api: api
    .optional()
    .describe(
      'API Gateway in front of the endpoint, for [callers without AWS keys](https-api.md). Default: none.',
    ),
  alarmEmail: z.email().optional().describe('Email for alarms. Default: none.'),
  smokeTest: z
    .strictObject({
      samples: z.array(sample).describe('Requests to send.'),
      iterations: z
        .int()
        .min(1)
        .max(1000)
        .optional()
        .describe(
          'Calls of each sample over each transport. Default: 100; 1 for asynchronous endpoints.',
        ),
    })
    .default({ samples: [] })
    .describe(
      '[Check after every deployment](smoke-test.md); without samples only the state of the endpoint.',
    ),
});

/** The end of a description: what a setting of a batch run is where nobody says otherwise. */
function otherwise(name: keyof typeof DEFAULT_SETTINGS): string {
  const value: unknown = DEFAULT_SETTINGS[name];
  return `Default: ${typeof value === 'string' ? `\`${value}\`` : String(value)}.`;
}

/** A whole number within the bounds of the setting. */
function bounded(name: IntegerSetting) {
  const { min, max } = SETTING_RULES[name];
  return z.int().min(min).max(max);
}

function whole(name: IntegerSetting, says: string) {
  return bounded(name)
    .optional()
    .describe(`${says} ${otherwise(name)}`);
}

const batch = z
  .strictObject({
    instanceType: z
      .string()
      .optional()
      .describe(`SageMaker's name. ${otherwise('instanceType')}`),
    fallbackInstanceTypes: z
      .array(z.string())
      .optional()
      .describe(
        `Types to try next, in turn, if \`instanceType\` is refused or has no capacity. Default: for \`ml.p3\`, which AWS is taking away, ${fallbackTypes(
          FIRST_TRANSFORM_TYPE,
        )
          .map((type) => `\`${type}\``)
          .join(', then ')}.`,
      ),
    instanceCount: whole('instanceCount', 'Instances of a job.'),
    maxConcurrentTransforms: whole(
      'maxConcurrentTransforms',
      'Requests at once to each instance; 0 asks the container.',
    ),
    maxPayloadInMB: whole('maxPayloadInMB', 'Largest request.'),
    contentType: z
      .string()
      .optional()
      .describe(`Media type of the inputs. ${otherwise('contentType')}`),
    accept: z
      .string()
      .optional()
      .describe(`Media type of the outputs. ${otherwise('accept')}`),
    splitType: z
      .enum(SPLIT_TYPES)
      .optional()
      .describe(`How a file is cut into records. ${otherwise('splitType')}`),
    batchStrategy: z
      .enum(BATCH_STRATEGIES)
      .optional()
      .describe(`Records in a request. ${otherwise('batchStrategy')}`),
    assembleWith: z
      .enum(ASSEMBLIES)
      .optional()
      .describe(`What joins the answers of a file. ${otherwise('assembleWith')}`),
    sharding: z
      .strictObject({
        objectsPerShard: count
          .max(SETTING_RULES.objectsPerShard.max)
          .describe('Objects of each job.'),
        minutesPerShard: count
          .max(SETTING_RULES.minutesPerShard.max)
          .optional()
          .describe(
            'Minutes of work of each job, by the rate that the first small shard shows; `objectsPerShard` is then the most. Default: every shard has `objectsPerShard`.',
          ),
        maxConcurrentJobs: whole('maxConcurrentJobs', 'Jobs at once.'),
        keySuffix: z
          .string()
          .max(200)
          .optional()
          .describe('End of the keys that are taken, such as `.jpg`. Default: all keys.'),
      })
      .optional()
      .describe('Several jobs over parts of the input. Default: one job.'),
    existing: z
      .enum(EXISTING)
      .optional()
      .describe(
        `Outputs that count as done before a sharded run: those of the same model and settings that are not \`older\` than their input, all (\`skip\`), or none (\`replace\`). ${otherwise('existing')}`,
      ),
    allowEmpty: z
      .boolean()
      .optional()
      .describe(`Whether a sharded run that finds no input succeeds. ${otherwise('allowEmpty')}`),
    maxFailurePercent: whole(
      'maxFailurePercent',
      'Inputs of a shard, in percent, whose failure stops the run.',
    ),
    budgetInstanceHours: bounded('budgetInstanceHours')
      .optional()
      .describe('Instance hours after which a sharded run starts no more jobs. Default: no limit.'),
    email: z.email().optional().describe('Email for the end of a run. Default: none.'),
    noticesAt: z
      .array(z.int().min(1).max(99))
      .optional()
      .describe(
        'Percentages of a sharded run at which `email` hears of it, such as `[10, 50, 90]`. Default: none.',
      ),
    schedule: z
      .string()
      .regex(/^(cron|rate)\(.+\)$/, 'write cron(...) or rate(...)')
      .optional()
      .describe('When a run starts: `cron(...)` or `rate(...)` of EventBridge. Default: by hand.'),
    runOnDeploy: z.boolean().optional().describe('A run after every deployment. Default: `false`.'),
  })
  .refine(({ noticesAt = [], email }) => noticesAt.length === 0 || email !== undefined, {
    path: ['noticesAt'],
    message: `nobody would hear of it. Give an 'email'`,
  });

const model = z
  .strictObject({
    ...sources,
    networkIsolation: z
      .boolean()
      .optional()
      .describe(
        'Cuts the container off from every network. Default: `true`; `false` for serverless endpoints, which do not offer it.',
      ),
    endpoint: endpoint.optional().describe('An endpoint that answers requests.'),
    batch: batch.optional().describe('A state machine that runs batch transforms.'),
  })
  .superRefine((config, context) => {
    if (sourcesOf(config).length === 0) {
      const message = `none of ${SOURCE_LIST} is given. Give one of them`;
      context.addIssue({ code: 'custom', message });
    }
    checkSources(config, context);
    checkVariants(config, context);
  })
  .refine(({ endpoint, batch }) => endpoint || batch, {
    message: `deploys nothing. Add 'endpoint', 'batch' or both`,
  });

const SOURCES = ['model', 'archive', 'multiModel', 'modelName', 'modelPackage'] as const;
const SOURCE_LIST = "'model', 'archive', 'multiModel', 'modelName' and 'modelPackage'";

/** Fields of a model or of a variant that say which model it is. */
type Sources = { readonly [K in keyof typeof sources]?: z.output<(typeof sources)[K]> | undefined };

function sourcesOf(config: Sources) {
  return SOURCES.filter((name) => config[name] !== undefined);
}

/** Refuses two places of one model, and fields that are of no use for the place that is given. */
function checkSources(config: Sources, context: z.RefinementCtx): void {
  const given = sourcesOf(config);
  if (given.length > 1) {
    const message = `${given.join(' and ')} of ${SOURCE_LIST} is given. Give one of them`;
    context.addIssue({ code: 'custom', message });
  }
  if (given.length > 0 && config.model === undefined) refusePackaging(config, context);
  const { archive, modelName, modelPackage, fingerprint, environment = {} } = config;
  if (fingerprint !== undefined && !archive && !modelName && !modelPackage) {
    const message = `it is of an 'archive', a 'modelName' or a 'modelPackage'. Leave it out`;
    context.addIssue({ code: 'custom', path: ['fingerprint'], message });
  }
  if (modelName !== undefined && Object.keys(environment).length > 0) {
    const message = `a model of SageMaker has its own. Leave it out`;
    context.addIssue({ code: 'custom', path: ['environment'], message });
  }
}

/** Refuses variants that change the packaging of a model that is packaged already, and a model that no variant serves. */
function checkVariants(
  config: Sources & {
    readonly endpoint?: z.output<typeof endpoint> | undefined;
    readonly batch?: unknown;
  },
  context: z.RefinementCtx,
): void {
  const { variants = [], shadow } = config.endpoint ?? {};
  const placed = [
    ...variants.map((variant, i) => ({ variant, path: ['endpoint', 'variants', i] })),
    ...(shadow ? [{ variant: shadow, path: ['endpoint', 'shadow'] }] : []),
  ];
  const derived = placed.filter(({ variant }) => sourcesOf(variant).length === 0);
  for (const { variant, path } of config.model === undefined ? derived : []) {
    refusePackaging(variant, context, path);
    if (config.modelName === undefined || variant.environment === undefined) continue;
    const message = `a model of SageMaker has its own. Leave it out`;
    context.addIssue({ code: 'custom', path: [...path, 'environment'], message });
  }
  if (variants.length === 0 || derived.length > 0 || config.batch) return;
  const message = `no variant serves it: each has a model of its own. Leave the model of one variant out`;
  context.addIssue({ code: 'custom', path: sourcesOf(config).slice(0, 1), message });
}

/** Refuses what only the packaging of a model reads. */
function refusePackaging(
  config: Sources,
  context: z.RefinementCtx,
  path: readonly PropertyKey[] = [],
): void {
  for (const name of ['handler', 'preprocess', 'postprocess', 'compression'] as const) {
    if (config[name] === undefined) continue;
    const message = `it is packaged with a 'model'; what is in AWS has its own. Leave it out, or package again`;
    context.addIssue({ code: 'custom', path: [...path, name], message });
  }
}

const variant = z.enum(['cpu', 'gpu', 'in-process']);

const image = z.union([
  z.strictObject({
    directory: z.string().optional().describe('Build context. Default: `container/`.'),
    buildArgs: z
      .record(z.string(), z.string())
      .optional()
      .describe('Docker build arguments, such as `NODE_BASE`. Default: none.'),
    variant: variant
      .optional()
      .describe(
        'What to build; `in-process` is CPU, with no TensorFlow Serving between. Default: `gpu` for models on GPU instances, `cpu` for others and for an image in ECR.',
      ),
  }),
  z.strictObject({
    uri: z.string().min(1).describe('An image that is in ECR already.'),
    variant: variant
      .default('cpu')
      .describe('What the image holds; `in-process` is CPU, with no TensorFlow Serving between.'),
    cuda: z
      .string()
      .regex(/^\d+\.\d+$/, 'write MAJOR.MINOR')
      .optional()
      .describe('CUDA of a `gpu` image that is in ECR. Default: that of the public images.'),
  }),
]);

const vpc = z.strictObject({
  vpcId: z.string().startsWith('vpc-').describe('An existing VPC.'),
  availabilityZones: z.array(z.string()).min(1).describe('Zones of the subnets.'),
  subnetIds: z.array(z.string().startsWith('subnet-')).min(1).describe('One for each zone.'),
  securityGroupIds: z
    .array(z.string().startsWith('sg-'))
    .min(1)
    .describe('Of the instances and of the smoke test.'),
});

const name = z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'use letters, digits and hyphens');

const keyArn = z
  .string()
  .regex(
    /^arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key\/[A-Za-z0-9-]+$/,
    'write the ARN of a key, arn:aws:kms:REGION:ACCOUNT:key/ID, and not of an alias',
  );

const environment = z.strictObject({
  name: name.describe("Start of the stacks' names, such as `prod`: `npx cdk deploy 'prod/*'`."),
  account: z
    .string()
    .regex(/^\d{12}$/, 'an account has 12 digits')
    .describe('Account.'),
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region such as us-east-1')
    .describe('Region.'),
  image: image
    .optional()
    .describe('Its own image, in place of the one for all: SageMaker pulls from its own region.'),
  vpc: vpc.optional().describe('Its own VPC, in place of the one for all.'),
  encryptionKeyArn: keyArn.optional().describe('Its own key, in place of the one for all.'),
  formerEncryptionKeyArns: z
    .array(keyArn)
    .optional()
    .describe('Its own former keys, in place of those for all.'),
});

/** Schema of the configuration. Its descriptions are the tables of docs/configuration.md. */
export const configSchema = z
  .strictObject({
    name: name
      .default('tensorflow')
      .describe(
        "Start of the stacks' names. Projects that share an account and a region need one each.",
      ),
    image: image.default({}).describe('The serving image, built here or in ECR already.'),
    models: z
      .record(
        z
          .string()
          .regex(
            /^[A-Za-z][A-Za-z0-9-]{0,30}$/,
            'a name has letters, digits and hyphens, begins with a letter, and has at most 31 characters',
          ),
        model,
      )
      .refine((models) => Object.keys(models).length > 0, 'name at least one model')
      .describe('Models by name.'),
    environments: z
      .array(environment)
      .min(1)
      .optional()
      .describe('Accounts and regions; each gets all stacks. Default: where your credentials are.'),
    vpc: vpc
      .optional()
      .describe(
        'VPC of models and smoke tests, in every environment without one of its own. Default: none.',
      ),
    encryptionKeyArn: keyArn
      .optional()
      .describe(
        '[Key of your own](private-networks.md#a-key-of-your-own) for volumes, buckets, outputs, logs and topics. Default: AWS keeps the keys.',
      ),
    formerEncryptionKeyArns: z
      .array(keyArn)
      .optional()
      .describe(
        '[Keys from before](private-networks.md#another-key) that objects and waiting requests are under: roles may go on to use them. Default: none.',
      ),
    registry: registry
      .optional()
      .describe(
        '[Model package groups](model-registry.md) and a bucket for `register`, in the first environment. Default: none.',
      ),
    redeploy: z
      .array(redeploy)
      .optional()
      .describe(
        '[What starts a deployment](model-registry.md#deploy-what-is-approved): an approved version, or an object of S3 that changes. Default: nothing.',
      ),
    tags: z.record(z.string().min(1), z.string()).default({}).describe('Tags of every resource.'),
  })
  .superRefine((config, context) => {
    const { name, image, vpc, environments = [], models, registry, redeploy = [] } = config;
    const refuse = (path: PropertyKey[], message: string) =>
      context.addIssue({ code: 'custom', path, message });
    environments.forEach(({ name }, i) => {
      const first = environments.findIndex((one) => one.name === name);
      if (first === i) return;
      const message = `environments[${first}] is named '${name}' too. Give each environment a name of its own`;
      refuse(['environments', i, 'name'], message);
    });
    const hasRegistry = registry !== undefined || redeploy.length > 0;
    for (const { model, other, stack } of sameStacks(name, models, 'uri' in image, hasRegistry)) {
      const message = `its stack would be ${stack}, as that of ${other} is. Give the model another name`;
      refuse(['models', model], message);
    }
    for (const [name, { endpoint }] of Object.entries(models)) {
      const field = endpoint && expiryOfNothing(endpoint);
      if (field) refuse(['models', name, 'endpoint', field.name], field.problem);
      const { api } = endpoint ?? {};
      const tokens = api && tokenProblem(api.auth, api.jwt);
      const path = ['models', name, 'endpoint', 'api', 'jwt'];
      if (tokens) refuse(path, `${tokens.problem}. ${tokens.fix}`);
    }
    if (!vpc) return;
    const regions = new Set(environments.filter((one) => !one.vpc).map(({ region }) => region));
    if (regions.size < 2) return;
    const list = [...regions].join(' and ');
    const message = `a VPC lies in one region, and this one is for ${list}. Give the environments a 'vpc' each`;
    refuse(['vpc'], message);
  });

/** Models whose stacks have the name of another stack of the configuration. */
function sameStacks(
  project: string,
  models: Readonly<Record<string, { readonly endpoint?: unknown; readonly batch?: unknown }>>,
  imageExists: boolean,
  hasRegistry: boolean,
) {
  const taken = new Map<string, string>();
  if (!imageExists) taken.set(STACK_NAMES.image(project), 'the image');
  if (hasRegistry) taken.set(STACK_NAMES.registry(project), 'the Model Registry');
  return Object.entries(models).flatMap(([model, { endpoint, batch }]) => {
    const stacks = [
      ...(endpoint ? [STACK_NAMES.endpoint(project, model)] : []),
      ...(batch ? [STACK_NAMES.batch(project, model)] : []),
    ];
    return stacks.flatMap((stack) => {
      const other = taken.get(stack);
      if (other !== undefined) return [{ model, other, stack }];
      taken.set(stack, `models.${model}`);
      return [];
    });
  });
}

/** A time to keep what the endpoint never has. */
function expiryOfNothing(given: z.output<typeof endpoint>) {
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

/** A configuration as people write it. */
export type ServingConfigInput = z.input<typeof configSchema>;
/** A checked configuration, defaults filled in. */
export type ServingConfig = z.output<typeof configSchema>;
/** One model of a configuration. */
export type ModelConfig = ServingConfig['models'][string];
/** Its endpoint. */
export type EndpointConfig = NonNullable<ModelConfig['endpoint']>;
/** A variant of it that is named. */
export type VariantConfig = z.output<typeof endpointVariant>;
/** Its batch transform. */
export type BatchConfig = NonNullable<ModelConfig['batch']>;

/** Types the configuration in an editor. */
export function defineConfig(config: ServingConfigInput): ServingConfigInput {
  return config;
}
