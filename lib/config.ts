/** The schema of `serving.config.ts`: what the app deploys. */
import { postprocessSchema, preprocessSchema } from '@sagemaker-tfs/manifest';
import * as z from 'zod';

const positive = z.number().positive();
const count = z.int().positive();
const fraction = z.number().min(0);

const located = { path: z.string().startsWith('$').optional() };

const expectation = z.union([
  z.strictObject({ ...located, equals: z.unknown(), tolerance: fraction.optional() }),
  z.strictObject({
    ...located,
    topClass: z.int().min(0),
    score: z.number().optional(),
    tolerance: fraction.optional(),
  }),
  z.strictObject({
    ...located,
    shape: z.array(z.int().min(-1)),
    dtype: z.string().min(1).optional(),
  }),
  z.strictObject({
    ...located,
    golden: z.string().min(1),
    absolute: fraction.optional(),
    relative: fraction.optional(),
  }),
]);

const sample = z.strictObject({
  /** Names it in messages and metrics. */
  name: z.string().regex(/^[\w .-]{1,64}$/, 'use letters, digits, spaces and . _ -'),
  /** The request's body. */
  file: z.string().min(1),
  contentType: z.string().regex(/^[^/ ]+\/[^/]+$/, 'give a media type, such as application/json'),
  accept: z.string().optional(),
  customAttributes: z.string().max(900).optional(),
  targetModel: z.string().optional(),
  expect: z.array(expectation).optional(),
  limits: z
    .strictObject({
      meanMs: positive.optional(),
      p50Ms: positive.optional(),
      p90Ms: positive.optional(),
      p95Ms: positive.optional(),
      coldMs: positive.optional(),
    })
    .optional(),
});

const scaling = z.strictObject({
  /** Default: 1. */
  minInstances: z.int().min(0).optional(),
  maxInstances: count,
  target: z.union([
    z.strictObject({ invocationsPerMinute: positive }),
    z.strictObject({ concurrentRequests: positive }),
    z.strictObject({ backlog: positive }),
  ]),
});

const shift = { percent: z.int().min(1).max(50), waitSeconds: z.int().min(0).max(3600) };

const deployment = z.strictObject({
  traffic: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('all-at-once') }),
      z.strictObject({ type: z.literal('canary'), ...shift }),
      z.strictObject({ type: z.literal('linear'), ...shift }),
      z.strictObject({ type: z.literal('rolling'), ...shift }),
    ])
    .optional(),
  bakeSeconds: z.int().min(0).max(3600).optional(),
  serverErrorsPerMinute: count.optional(),
  modelLatencyP90Ms: positive.optional(),
});

const endpoint = z.strictObject({
  /** Default: ml.g4dn.xlarge. Not with `serverless`. */
  instanceType: z.string().optional(),
  instanceCount: count.optional(),
  scaling: scaling.optional(),
  serverless: z
    .strictObject({
      memoryGiB: z.int().min(1).max(6),
      maxConcurrency: count.optional(),
      provisionedConcurrency: count.optional(),
    })
    .optional(),
  /** Requests through S3 and a queue, in a bucket of the stack's own. */
  async: z.boolean().default(false),
  /** Percent of the requests that are kept, in a bucket of the stack's own. Default: none. */
  dataCapturePercent: z.int().min(1).max(100).optional(),
  deployment: deployment.optional(),
  inferenceAmiVersion: z.string().optional(),
  modelDataDownloadTimeoutSeconds: z.int().min(60).max(3600).optional(),
  startupTimeoutSeconds: z.int().min(60).max(3600).optional(),
  /** Told of alarms. */
  alarmEmail: z.email().optional(),
  /** Default: only the state of the endpoint is checked. */
  smokeTest: z
    .strictObject({ samples: z.array(sample), iterations: z.int().min(1).max(1000).optional() })
    .default({ samples: [] }),
});

const batch = z.strictObject({
  /** Default: ml.p3.2xlarge. */
  instanceType: z.string().optional(),
  /** Default: 2. */
  instanceCount: count.optional(),
  maxConcurrentTransforms: z.int().min(0).optional(),
  maxPayloadInMB: z.int().min(0).max(100).optional(),
  contentType: z.string().optional(),
  accept: z.string().optional(),
  splitType: z.enum(['None', 'Line', 'RecordIO', 'TFRecord']).optional(),
  batchStrategy: z.enum(['SingleRecord', 'MultiRecord']).optional(),
  assembleWith: z.enum(['None', 'Line']).optional(),
  sharding: z
    .strictObject({
      objectsPerShard: count,
      maxConcurrentJobs: count.optional(),
      keySuffix: z.string().max(200).optional(),
    })
    .optional(),
  /** Told when a job ends. */
  email: z.email().optional(),
  /** A cron or rate expression of EventBridge. */
  schedule: z
    .string()
    .regex(/^(cron|rate)\(.+\)$/, 'write cron(...) or rate(...)')
    .optional(),
  runOnDeploy: z.boolean().optional(),
});

const model = z
  .strictObject({
    /** SavedModel directory, relative to the configuration. */
    model: z.string().min(1),
    /** TypeScript handler. */
    handler: z.string().min(1).optional(),
    preprocess: preprocessSchema.optional(),
    postprocess: postprocessSchema.optional(),
    /** `gzip` (one archive) or `none` (files under a prefix). */
    compression: z.enum(['gzip', 'none']).optional(),
    /** The runtime's variables, and the handler's. */
    environment: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).default({}),
    /** Default: true, and false for serverless endpoints, which do not offer it. */
    networkIsolation: z.boolean().optional(),
    endpoint: endpoint.optional(),
    batch: batch.optional(),
  })
  .refine(({ endpoint, batch }) => endpoint || batch, {
    message: `deploys nothing. Add 'endpoint', 'batch' or both`,
  });

const image = z.union([
  z.strictObject({
    /** An image that is in ECR already. */
    uri: z.string().min(1),
    variant: z.enum(['cpu', 'gpu', 'in-process']).default('cpu'),
    cuda: z
      .string()
      .regex(/^\d+\.\d+$/, 'write MAJOR.MINOR')
      .optional(),
  }),
  z.strictObject({
    /** Build context. Default: `container/`. */
    directory: z.string().optional(),
    buildArgs: z.record(z.string(), z.string()).optional(),
    /** Default: `gpu` for models on GPU instances, `cpu` for others. */
    variant: z.enum(['cpu', 'gpu', 'in-process']).optional(),
  }),
]);

const environment = z.strictObject({
  /** Start of the stacks' names, such as `prod`. */
  name: z.string().regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'use letters, digits and hyphens'),
  account: z.string().regex(/^\d{12}$/, 'an account has 12 digits'),
  region: z.string().regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'a region such as us-east-1'),
});

const vpc = z.strictObject({
  vpcId: z.string().startsWith('vpc-'),
  availabilityZones: z.array(z.string()).min(1),
  /** One for each zone. */
  subnetIds: z.array(z.string().startsWith('subnet-')).min(1),
  securityGroupIds: z.array(z.string().startsWith('sg-')).min(1),
});

/** Schema of the configuration. */
export const configSchema = z.strictObject({
  /** Start of the stacks' names. */
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9-]*$/, 'use letters, digits and hyphens')
    .default('tensorflow'),
  image: image.default({}),
  /** Models by name. */
  models: z
    .record(z.string().regex(/^[A-Za-z][A-Za-z0-9-]{0,30}$/, 'use letters, digits, hyphens'), model)
    .refine((models) => Object.keys(models).length > 0, 'name at least one model'),
  /** Accounts and regions to deploy to. Default: those of the credentials in use. */
  environments: z.array(environment).min(1).optional(),
  /** An existing VPC for models and smoke tests. Default: none. */
  vpc: vpc.optional(),
  /** Tags of every resource. */
  tags: z.record(z.string().min(1), z.string()).default({}),
});

/** A configuration as people write it. */
export type ServingConfigInput = z.input<typeof configSchema>;
/** A checked configuration, defaults filled in. */
export type ServingConfig = z.output<typeof configSchema>;
/** One model of a configuration. */
export type ModelConfig = ServingConfig['models'][string];
/** Its endpoint. */
export type EndpointConfig = NonNullable<ModelConfig['endpoint']>;
/** Its batch transform. */
export type BatchConfig = NonNullable<ModelConfig['batch']>;

/** Gives the configuration its type in an editor. */
export function defineConfig(config: ServingConfigInput): ServingConfigInput {
  return config;
}

/**
 * Checks a configuration.
 * @param source where it came from, for the message
 * @throws with a line for each field that is wrong
 */
export function parseConfig(config: unknown, source: string): ServingConfig {
  const result = configSchema.safeParse(config);
  if (result.success) return result.data;
  const lines = result.error.issues.flatMap((issue) => explain(issue, []));
  throw new Error(`${source} is wrong:\n${lines.join('\n')}`);
}

/** A line for an issue; of a union, the lines of the variant that is wrong in the fewest places. */
function explain(issue: z.core.$ZodIssue, parents: readonly PropertyKey[]): string[] {
  const path = [...parents, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const [closest = []] = [...issue.errors].sort((a, b) => weight(a) - weight(b));
    return closest.flatMap((inner) => explain(inner, path));
  }
  return [`  ${fieldName(path)}: ${issue.message}`];
}

/** Unknown fields weigh more than wrong values: they mean that another variant was intended. */
function weight(issues: readonly z.core.$ZodIssue[]): number {
  return issues.reduce((sum, { code }) => sum + (code === 'unrecognized_keys' ? 2 : 1), 0);
}

function fieldName(path: readonly PropertyKey[]): string {
  const text = path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('');
  return text.replace(/^\./, '') || '(the configuration)';
}
