/** What a configuration may choose, field by field; the first of each is the default. */
import { MODEL_DIR, stubContainer } from '../support/stacks.ts';

/** Parts of a configuration with one model; in `image`, `fits` is the variant for the instance type. */
export interface Choice {
  readonly image?: 'fits' | 'in-process' | 'built' | 'bare';
  readonly model?: object;
  readonly endpoint?: object;
  readonly batch?: object;
  readonly batchWorker?: object;
  readonly rest?: object;
}

const SAMPLE = {
  name: 'one',
  file: 'examples/digits/samples/00000-7.jpg',
  contentType: 'application/x-image',
};
const VPC = {
  vpcId: 'vpc-0123456789abcdef0',
  availabilityZones: ['us-east-1a', 'us-east-1b'],
  subnetIds: ['subnet-0123456789abcdef0', 'subnet-0123456789abcdef1'],
  securityGroupIds: ['sg-0123456789abcdef0'],
};
const IMAGE = '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:1';
const KEY = 'arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef';
const PACKAGE = {
  arn: 'arn:aws:sagemaker:us-east-1:111111111111:model-package/digits/3',
  archives: 's3://models/registry/',
  image: IMAGE,
};
const OWN = { account: '111111111111', region: 'us-east-1' };
const ARCHIVE = 's3://models/next/2.tar.gz';
const fingerprint = 'f'.repeat(64);
const INSTANCES = { managedInstances: { minInstances: 1, maxInstances: 3 } };
const shift = (type: string, percent: number, waitSeconds: number) => ({
  traffic: { type, percent, waitSeconds },
});

/** @param baseline file of a baseline, for drift */
export const choices = (baseline: string): Readonly<Record<string, readonly Choice[]>> => ({
  hardware: [
    { endpoint: { instanceType: 'ml.c6i.4xlarge' } },
    {},
    {
      endpoint: {
        instanceType: 'ml.p3.2xlarge',
        inferenceAmiVersion: 'al2-ami-sagemaker-inference-gpu-2',
      },
    },
    { endpoint: { instanceType: 'ml.c7g.xlarge' } },
    {
      endpoint: {
        instanceTypes: ['ml.g5.2xlarge', 'ml.g6.2xlarge', 'ml.g4dn.2xlarge'],
        provisioningTimeoutSeconds: 900,
        capacityReservationArn: 'arn:aws:sagemaker:us-east-1:111111111111:training-plan/plan',
      },
    },
    { endpoint: { serverless: { memoryGiB: 6, maxConcurrency: 20, provisionedConcurrency: 2 } } },
  ],
  // Before the load, whose number of instances counts.
  traffic: [
    {},
    { endpoint: { deployment: { traffic: { type: 'all-at-once' }, bakeSeconds: 0 } } },
    { endpoint: { instanceCount: 4, deployment: shift('canary', 50, 600) } },
    { endpoint: { instanceCount: 4, deployment: { ...shift('linear', 25, 60), bakeSeconds: 60 } } },
    { endpoint: { instanceCount: 4, deployment: shift('rolling', 50, 60) } },
    { endpoint: { deployment: { modelLatencyP90Ms: 150, serverErrorsPerMinute: 2 } } },
  ],
  load: [
    {},
    {
      endpoint: {
        scaling: { minInstances: 2, maxInstances: 6, target: { invocationsPerMinute: 600 } },
      },
    },
    {
      endpoint: {
        instanceCount: 2,
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
    },
    {
      endpoint: {
        scaling: {
          minInstances: 2,
          maxInstances: 6,
          registered: false,
          target: { concurrentRequests: 4 },
        },
      },
    },
    {
      endpoint: {
        async: true,
        instanceCount: 1,
        scaling: { minInstances: 0, maxInstances: 3, target: { backlog: 5 } },
      },
    },
    { endpoint: { async: true, asyncRetentionDays: 30 } },
  ],
  models: [
    {},
    {
      endpoint: {
        variants: [
          { name: 'now', weight: 9 },
          {
            name: 'next',
            archive: ARCHIVE,
            archiveKeyArn: KEY,
            fingerprint,
            environment: { A: 1 },
            instanceType: 'ml.m5.xlarge',
            instanceCount: 2,
            scaling: {
              minInstances: 2,
              maxInstances: 3,
              target: { invocationsPerMinute: 60 },
              schedule: [
                {
                  when: 'at(2027-01-01T00:00:00)',
                  timeZone: 'UTC',
                  maxInstances: 2,
                  minInstances: 2,
                },
              ],
            },
            modelDataDownloadTimeoutSeconds: 900,
            startupTimeoutSeconds: 900,
          },
          {
            name: 'pools',
            model: MODEL_DIR,
            compression: 'none',
            instanceTypes: ['ml.m5.xlarge', 'ml.c6i.xlarge'],
            provisioningTimeoutSeconds: 300,
            capacityReservationArn: 'arn:aws:sagemaker:us-east-1:111111111111:training-plan/two',
          },
        ],
      },
    },
    {
      endpoint: { shadow: { name: 'next', weight: 0.5, modelName: 'digits-2', instanceCount: 1 } },
    },
    { endpoint: { shadow: { name: 'next', modelPackage: PACKAGE, environment: { A: true } } } },
    {
      endpoint: {
        components: [
          { name: 'a', copies: 2 },
          {
            name: 'b',
            archive: 's3://models/b.tar.gz',
            archiveKeyArn: KEY,
            fingerprint,
            environment: { B: 'b' },
          },
          { name: 'c', modelPackage: PACKAGE },
          { name: 'd', modelName: 'digits-2' },
        ],
        ...INSTANCES,
      },
    },
    {
      endpoint: {
        components: [
          { name: 'a', cpus: 0.5, memoryMiB: 4096, copies: 2 },
          { name: 'b', model: MODEL_DIR, compression: 'gzip' },
        ],
        managedInstances: { maxInstances: 3 },
      },
    },
    {
      endpoint: {
        components: [
          {
            name: 'a',
            scaling: { minCopies: 0, maxCopies: 4, target: { concurrentRequests: 2 } },
            startupTimeoutSeconds: 900,
            modelDataDownloadTimeoutSeconds: 120,
          },
          { name: 'b', scaling: { maxCopies: 4, target: { invocationsPerMinute: 60 } } },
        ],
        managedInstances: { minInstances: 0, maxInstances: 1 },
      },
    },
  ],
  source: [
    { model: { model: MODEL_DIR, compression: 'gzip' } },
    { model: { model: MODEL_DIR, compression: 'none' } },
    { model: { archive: ARCHIVE, fingerprint } },
    {
      model: { archive: 's3://models/next/2/', archives: 's3://models/next/', archiveKeyArn: KEY },
    },
    { model: { multiModel: 's3://models/all/' } },
    { model: { modelName: 'digits-2', fingerprint } },
    { model: { modelPackage: PACKAGE } },
    { model: { modelPackage: { ...PACKAGE, keyArn: KEY } } },
    { model: { model: MODEL_DIR, baked: true } },
  ],
  image: [{ image: 'fits' }, { image: 'in-process' }, { image: 'built' }, { image: 'bare' }],
  capture: [
    {},
    { endpoint: { dataCapturePercent: 20 } },
    { endpoint: { dataCapturePercent: 100, drift: { baseline } } },
    {
      endpoint: {
        dataCapturePercent: 5,
        dataCaptureRetentionDays: 7,
        drift: {
          baseline,
          schedule: 'cron(0 6 * * ? *)',
          hours: 48,
          maxCaptures: 9,
          variants: ['AllTraffic'],
          threshold: 0.3,
        },
      },
    },
  ],
  metrics: [
    {},
    { endpoint: { metrics: { detailed: true, enhanced: true, frequencySeconds: 10 } } },
    { endpoint: { metrics: { detailed: false, frequencySeconds: 300 } } },
  ],
  api: [
    {},
    {
      endpoint: {
        api: {
          auth: 'apiKey',
          throttle: { requestsPerSecond: 5, burst: 10 },
          corsOrigin: 'https://app.example.com',
        },
      },
    },
    {
      endpoint: {
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
    },
    { endpoint: { api: { auth: 'iam', timeoutSeconds: 20 } } },
  ],
  check: [
    {},
    {
      endpoint: {
        smokeTest: {
          iterations: 3,
          samples: [
            {
              ...SAMPLE,
              accept: 'application/json',
              customAttributes: 'tfs-model-name=a',
              expect: [
                { path: '$.a', equals: 7, tolerance: 1 },
                { topClass: 7, score: 0.5, tolerance: 0.1 },
                { shape: [-1, 10], dtype: 'float32' },
              ],
              limits: { meanMs: 90, p50Ms: 90, p90Ms: 90, p95Ms: 90, coldMs: 9000 },
            },
          ],
        },
      },
    },
    { endpoint: { smokeTest: { samples: [SAMPLE] }, alarmEmail: 'a@example.com' } },
  ],
  around: [
    {},
    { rest: { encryptionKeyArn: KEY } },
    {
      rest: {
        vpc: VPC,
        encryptionKeyArn: KEY,
        formerEncryptionKeyArns: [KEY.replace('cdef', 'cdea')],
      },
    },
    { rest: { environments: [{ name: 'prod', ...OWN }] } },
    {
      rest: {
        environments: [
          {
            name: 'prod',
            ...OWN,
            vpc: VPC,
            encryptionKeyArn: KEY,
            formerEncryptionKeyArns: [KEY.replace('cdef', 'cdea')],
          },
        ],
      },
    },
  ],
  batch: [
    {},
    { batch: {} },
    {
      batch: {
        sharding: {
          objectsPerShard: 1000,
          minutesPerShard: 30,
          maxConcurrentJobs: 100,
          keySuffix: '.jpg',
        },
        email: 'a@example.com',
        noticesAt: [10, 50],
        existing: 'skip',
        allowEmpty: true,
        splitType: 'None',
        maxFailurePercent: 5,
        budgetInstanceHours: 9,
      },
    },
    {
      batch: {
        schedule: 'rate(1 day)',
        instanceCount: 100,
        maxConcurrentTransforms: 4,
        maxPayloadInMB: 25,
        contentType: 'text/csv',
        accept: 'text/csv',
        splitType: 'Line',
        batchStrategy: 'MultiRecord',
        assembleWith: 'Line',
      },
    },
    {
      batch: {
        existing: 'replace',
        sharding: { objectsPerShard: 1_000_000 },
        splitType: 'RecordIO',
        batchStrategy: 'SingleRecord',
        accept: 'application/x-tfrecord',
        assembleWith: 'None',
        runOnDeploy: true,
      },
    },
    { batch: { splitType: 'TFRecord', existing: 'older', sharding: { objectsPerShard: 1 } } },
  ],
  batchWorker: [
    {},
    { batchWorker: {}, rest: { vpc: VPC } },
    {
      batchWorker: {
        instanceTypes: ['m6i.2xlarge', 'm7i.2xlarge'],
        spot: false,
        vcpus: 8,
        memoryMiB: 16_384,
        attempts: 3,
        timeoutSeconds: 86_400,
        provisioningTimeoutSeconds: 600,
      },
      rest: { vpc: VPC },
    },
    {
      batchWorker: {
        workers: 40,
        ranges: 400,
        contentType: 'text/csv',
        accept: 'text/csv',
        keySuffix: '.csv',
        maxFailurePercent: 5,
        diskGiB: 200,
        budgetHours: 9.5,
        email: 'a@example.com',
        noticesAt: [10, 50],
        schedule: 'rate(1 day)',
      },
      rest: { vpc: VPC },
    },
  ],
  rest: [
    {},
    {
      endpoint: {
        startupTimeoutSeconds: 120,
        modelDataDownloadTimeoutSeconds: 120,
        logRetentionDays: 365,
      },
      model: { networkIsolation: false, environment: { THRESHOLD: 0.5, ON: true, WHY: 'because' } },
      rest: { name: 'shop', tags: { team: 'vision' } },
    },
    { endpoint: { enabled: false }, model: { networkIsolation: true } },
    {
      rest: {
        registry: { groups: ['digits'], readers: ['222222222222'], approvers: ['333333333333'] },
        redeploy: [
          { approvedIn: 'digits', project: 'deploy', alarmEmail: 'a@example.com' },
          { pointer: 's3://models/now.txt', pipeline: 'deploy' },
        ],
      },
    },
  ],
});

const container = stubContainer();

/** The image of a choice, for an instance type; undefined is serverless. */
export function imageOf(choice: Choice['image'], type: string | undefined): object {
  const arm = /\.c7g\./.test(type ?? '');
  const gpu = /\.[gp]\d/.test(type ?? '');
  if (choice === 'built') return { directory: container, buildArgs: { NODE_BASE: 'node:24' } };
  if (arm) return { uri: IMAGE, variant: 'in-process', architecture: 'arm64' };
  if (choice === 'in-process')
    return { uri: IMAGE, variant: gpu ? 'in-process-gpu' : 'in-process' };
  if (choice === 'fits') return { uri: IMAGE, variant: gpu ? 'gpu' : 'cpu' };
  return gpu
    ? { uri: IMAGE, variant: 'gpu', cuda: '12.2' }
    : { uri: IMAGE, architecture: 'x86_64' };
}

/** A row that only the constructs refuse, and so late that asking them takes long. */
interface Conflict {
  readonly why: string;
  readonly of: (choice: (field: string) => number) => boolean;
}

const MULTI = 4;
const PREFIXES = [1, 3];
const BAKED = 8;
const SERVERLESS = 5;
const ARM = 3;
const [GPU, OLD_GPU, GPU_POOLS] = [1, 2, 4];

/** By the numbers of the choices above. */
export const CONFLICTS: readonly Conflict[] = [
  {
    why: 'multi-model needs the cpu image and instances, one variant, and answers at once',
    of: (choice) =>
      choice('source') === MULTI &&
      (choice('hardware') > 0 ||
        choice('image') === 1 ||
        choice('batch') > 0 ||
        choice('load') > 3 ||
        choice('models') > 0),
  },
  {
    why: 'a model comes into an image that is built here',
    of: (choice) => choice('source') === BAKED && choice('image') !== BUILT,
  },
  {
    why: 'batch and serverless take archives',
    of: (choice) =>
      PREFIXES.includes(choice('source')) &&
      (choice('batch') > 0 || choice('hardware') === SERVERLESS),
  },
  {
    why: 'a variant has the processor of its image',
    of: (choice) => choice('models') === 1 && choice('hardware') > 0,
  },
  {
    why: 'jobs do not run on Graviton',
    of: (choice) => choice('hardware') === ARM && choice('batch') > 0 && choice('image') !== BUILT,
  },
  {
    why: 'workers have the processor of their image',
    of: (choice) =>
      choice('batchWorker') === 2 &&
      choice('image') !== BUILT &&
      [GPU, OLD_GPU, ARM, GPU_POOLS].includes(choice('hardware')),
  },
  {
    why: 'serverless offers no network isolation',
    of: (choice) => choice('hardware') === SERVERLESS && choice('rest') === 2,
  },
  {
    why: 'a model that exists is in no VPC',
    of: (choice) =>
      choice('models') === 4 && ([2, 4].includes(choice('around')) || choice('batchWorker') > 0),
  },
];

const BUILT = 2;
