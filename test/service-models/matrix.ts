/** Configurations of every kind, and their templates. */
import { readFileSync } from 'node:fs';
import type { App } from 'aws-cdk-lib/core';
import { addServingStacks, parseConfig } from '../../lib/index.ts';
import { MODEL_DIR, testApp } from '../stacks/support.ts';
import { pairsOf } from './pairs.ts';

/** Values of the fields that decide about a template; the first of each is the default. */
const CHOICES: Readonly<Record<string, readonly (object | undefined)[]>> = {
  hardware: [
    {},
    { instanceType: 'ml.g5.2xlarge' },
    { instanceType: 'ml.c6i.xlarge' },
    { instanceType: 'ml.p3.2xlarge' },
    {
      instanceTypes: ['ml.g5.2xlarge', 'ml.g6.2xlarge', 'ml.g4dn.2xlarge'],
      provisioningTimeoutSeconds: 900,
      capacityReservationArn: 'arn:aws:sagemaker:us-east-1:111111111111:training-plan/plan',
    },
    { serverless: { memoryGiB: 2 } },
    { serverless: { memoryGiB: 6, maxConcurrency: 20, provisionedConcurrency: 2 } },
  ],
  scaling: [
    {},
    { instanceCount: 4 },
    { scaling: { minInstances: 2, maxInstances: 6, target: { invocationsPerMinute: 600 } } },
    {
      scaling: {
        minInstances: 2,
        maxInstances: 6,
        target: { concurrentRequests: 0.5 },
        schedule: [
          { when: 'cron(0 8 ? * MON-FRI *)', timeZone: 'Europe/Berlin', minInstances: 3 },
          { when: 'at(2027-01-01T00:00:00)', maxInstances: 4 },
        ],
      },
    },
    { async: true, scaling: { minInstances: 0, maxInstances: 3, target: { backlog: 5 } } },
    { async: true },
    { async: true, asyncRetentionDays: 30 },
  ],
  deployment: [
    {},
    { deployment: { traffic: { type: 'all-at-once' }, bakeSeconds: 0 } },
    { deployment: { traffic: { type: 'canary', percent: 50, waitSeconds: 600 } } },
    { deployment: { traffic: { type: 'linear', percent: 25, waitSeconds: 60 }, bakeSeconds: 60 } },
    { deployment: { traffic: { type: 'rolling', percent: 50, waitSeconds: 60 } } },
    { deployment: { modelLatencyP90Ms: 150, serverErrorsPerMinute: 2 } },
  ],
  rest: [
    {},
    { dataCapturePercent: 20, alarmEmail: 'a@example.com' },
    { dataCapturePercent: 5, dataCaptureRetentionDays: 7, logRetentionDays: 365 },
    { startupTimeoutSeconds: 120, modelDataDownloadTimeoutSeconds: 120 },
    { metrics: { detailed: true, enhanced: true, frequencySeconds: 10 } },
    { api: { auth: 'apiKey', throttle: { requestsPerSecond: 5, burst: 10 }, corsOrigin: '*' } },
    {
      api: {
        auth: 'jwt',
        jwt: { issuer: 'https://login.example.com', audience: ['m'], scopes: ['predict'] },
        domain: {
          name: 'models.example.com',
          certificateArn: 'arn:aws:acm:us-east-1:111111111111:certificate/0123',
          hostedZone: { id: 'Z0123456789', name: 'example.com' },
        },
      },
    },
    { api: { auth: 'iam', timeoutSeconds: 20 } },
    {
      variants: [
        { name: 'now', weight: 9 },
        { name: 'next', archive: 's3://models/next/2.tar.gz', startupTimeoutSeconds: 900 },
      ],
    },
    { shadow: { name: 'next', weight: 0.5, modelName: 'digits-2', instanceCount: 1 } },
  ],
};

/** Batches. Each fourth configuration has one. */
const BATCHES: readonly object[] = [
  {},
  { sharding: { objectsPerShard: 1000 }, email: 'a@example.com' },
  { schedule: 'rate(1 day)', instanceType: 'ml.c6i.xlarge' },
  { fallbackInstanceTypes: ['ml.g5.2xlarge'], maxFailurePercent: 5, budgetInstanceHours: 9 },
];

/** Every pair of values of two fields, the other fields at their defaults; each configuration once. */
export function pairs(): object[] {
  const fields = Object.values(CHOICES);
  const all = pairsOf(fields.map(({ length }) => length)).map((choice) =>
    JSON.stringify(Object.assign({}, ...fields.map((values, i) => values[choice[i] ?? 0]))),
  );
  return [...new Set(all)].map((text) => JSON.parse(text) as object);
}

const VPC = {
  vpcId: 'vpc-0123456789abcdef0',
  availabilityZones: ['us-east-1a', 'us-east-1b'],
  subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
  securityGroupIds: ['sg-0123456789abcdef0'],
};
const encryptionKeyArn =
  'arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef';

/** What is around the models, in turn. */
const AROUND: readonly object[] = [
  {},
  { encryptionKeyArn },
  { vpc: VPC },
  {},
  { vpc: VPC, encryptionKeyArn },
];

/** Configurations in one run: what AWS takes of the pairs, from all parts of their list. */
export const TAKEN = 64;

const EXISTING = '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:1';

interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
  readonly DeletionPolicy?: string;
}

/** A template's resources. */
export type MatrixTemplate = Readonly<Record<string, Resource>>;

/** A model's part of a configuration: each fourth has a batch, and of the others some are not archived. */
function modelOf(i: number, endpoint: object): object {
  const { serverless } = endpoint as Record<string, unknown>;
  const model = { model: MODEL_DIR, environment: { THRESHOLD: 0.5 }, endpoint };
  if (i % 4 === 0) return { ...model, batch: BATCHES[(i / 4) % BATCHES.length] };
  return i % 4 === 1 && !serverless ? { ...model, compression: 'none' } : model;
}

/** A serverless endpoint joins no VPC. */
function aroundOf(i: number, endpoint: object): object {
  const around = AROUND[i % AROUND.length] ?? {};
  return 'serverless' in endpoint && 'vpc' in around ? {} : around;
}

const COMPONENTS: readonly (readonly (object | undefined)[])[] = [
  [
    { components: [{ name: 'a' }, { name: 'b', archive: 's3://models/b.tar.gz' }] },
    { components: [{ name: 'a', cpus: 0.5, memoryMiB: 4096, copies: 2 }] },
    {
      components: [
        {
          name: 'a',
          scaling: { minCopies: 0, maxCopies: 4, target: { concurrentRequests: 2 } },
          startupTimeoutSeconds: 900,
        },
      ],
    },
    {
      components: [{ name: 'a', scaling: { maxCopies: 4, target: { invocationsPerMinute: 60 } } }],
    },
  ],
  [
    { instanceType: 'ml.c6i.4xlarge', managedInstances: { maxInstances: 3 } },
    { instanceType: 'ml.g5.12xlarge', managedInstances: { minInstances: 2, maxInstances: 3 } },
    { instanceType: 'ml.p3.2xlarge', managedInstances: { minInstances: 0, maxInstances: 1 } },
  ],
  [
    {},
    { deployment: { traffic: { type: 'rolling', percent: 5, waitSeconds: 0 } } },
    {
      deployment: {
        traffic: { type: 'rolling', percent: 50, waitSeconds: 3600 },
        serverErrorsPerMinute: 1,
      },
    },
  ],
  [
    {},
    { metrics: { detailed: true, frequencySeconds: 30 }, alarmEmail: 'a@example.com' },
    { enabled: false, logRetentionDays: 7, modelDataDownloadTimeoutSeconds: 120 },
  ],
];

/** Templates of endpoints whose instances components share: all combinations. */
export function componentTemplates(): MatrixTemplate[] {
  const app = testApp();
  const all = COMPONENTS.reduce<object[]>(
    (found, choices) => found.flatMap((one) => choices.map((choice) => ({ ...one, ...choice }))),
    [{}],
  );
  for (const [i, endpoint] of all.entries()) {
    const gpu = !JSON.stringify(endpoint).includes('ml.c6i');
    const config = {
      name: `c${i}`,
      image: { uri: EXISTING, variant: gpu ? ('gpu' as const) : ('cpu' as const) },
      models: { m: { model: MODEL_DIR, endpoint } },
      ...AROUND[i % AROUND.length],
    };
    addServingStacks(app, parseConfig(config, 'components'));
  }
  return resourcesOf(app);
}

/** Templates of every configuration that the rules take, and how many those are. */
export function matrixTemplates(): { templates: MatrixTemplate[]; taken: number } {
  const app = testApp();
  let taken = 0;
  const all = pairs();
  for (let i = 0; i < all.length && taken < TAKEN; i++) {
    // A stride that shares no factor with the length comes by every one.
    const endpoint = all[(i * 7) % all.length] ?? {};
    const {
      instanceTypes,
      instanceType = 'ml.g4dn.xlarge',
      serverless,
    } = endpoint as Record<string, unknown>;
    const gpu = serverless === undefined && /\.[gp]\d/.test(String(instanceTypes ?? instanceType));
    const config = {
      name: `c${i}`,
      image: { uri: EXISTING, variant: gpu ? ('gpu' as const) : ('cpu' as const) },
      models: { m: modelOf(taken, endpoint) },
      tags: { team: 'vision' },
      ...aroundOf(taken, endpoint),
    };
    try {
      addServingStacks(app, parseConfig(config, 'matrix'));
      taken += 1;
    } catch (error) {
      // Refused with its reason, and not by a fault of ours.
      if ((error as Error).name !== 'ConfigurationError') throw error;
    }
  }
  return { templates: resourcesOf(app), taken };
}

function resourcesOf(app: App): MatrixTemplate[] {
  return app.synth().stacks.map(({ templateFullPath }) => {
    const { Resources } = JSON.parse(readFileSync(templateFullPath, 'utf8')) as {
      Resources: MatrixTemplate;
    };
    return Resources;
  });
}
