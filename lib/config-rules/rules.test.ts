/** Every rule of AWS's refuses what breaks it, by the field of the configuration, and nothing that keeps it. */
import { parseConfig } from '../parse-config.ts';
import { AWS_RULES } from './index.ts';

const endpoint = (fields: object, model: object = {}) => ({
  models: { m: { model: 'm', ...model, endpoint: fields } },
});
const batch = (fields: object, model: object = {}) => ({
  models: { m: { model: 'm', ...model, batch: fields } },
});
const worker = (fields: object) => ({
  models: { m: { model: 'm', batchWorker: fields } },
  vpc: inZones('us-east-1a'),
});
const environment = (region: string) => ({ name: 'prod', account: '111111111111', region });
const vpc = (subnets: number, groups: number) => ({
  vpcId: 'vpc-1',
  availabilityZones: ['eu-west-1a'],
  subnetIds: Array.from({ length: subnets }, (_, i) => `subnet-${i}`),
  securityGroupIds: Array.from({ length: groups }, (_, i) => `sg-${i}`),
});
const inZones = (...availabilityZones: string[]) => ({
  ...vpc(availabilityZones.length, 1),
  availabilityZones,
});
const shift = (traffic: object, more: object = {}, rest: object = {}) =>
  endpoint({ instanceCount: 4, deployment: { traffic, ...more }, ...rest });
const DOMAIN = 'models.m.endpoint.api.domain';
const TRAFFIC = 'models.m.endpoint.deployment.traffic';
const target = { concurrentRequests: 4 };
const rare = { enhanced: true, frequencySeconds: 300 };
const limits = { maxInstances: 4, target };
const night = { when: 'cron(0 20 ? * * *)', timeZone: 'Europe/Berlin', minInstances: 0 };
const image = (region: string) => ({
  uri: `111111111111.dkr.ecr.${region}.amazonaws.com/a:1`,
});
/** A model that is a version of the Model Registry. */
const version = (region: string, imageRegion: string, keyRegion?: string) => ({
  models: {
    m: {
      modelPackage: {
        arn: `arn:aws:sagemaker:${region}:111111111111:model-package/g/1`,
        archives: 's3://models/',
        image: imageRegion === 'docker' ? 'docker.io/a:1' : image(imageRegion).uri,
        ...(keyRegion && { keyArn: `arn:aws:kms:${keyRegion}:111111111111:key/1234` }),
      },
      endpoint: {},
    },
  },
});
/** An archive under a key. */
const archiveUnder = (keyRegion: string) => ({
  archive: 's3://models/m.tar.gz',
  archiveKeyArn: `arn:aws:kms:${keyRegion}:111111111111:key/1234`,
});
const archived = (keyRegion: string, region: string) => ({
  models: { m: { ...archiveUnder(keyRegion), endpoint: {} } },
  environments: [environment(region)],
});
const namedVariants = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ name: `v${i}` }));
/** A version of another region below an endpoint. */
const foreign = (below: (own: { name: string; modelPackage: object }) => object) => {
  const { modelPackage } = version('eu-west-1', 'us-east-1').models.m;
  return {
    ...endpoint(below({ name: 'b', modelPackage })),
    environments: [environment('us-east-1')],
  };
};
const serverless = { memoryGiB: 2 };
const COMPONENTS = 'models.m.endpoint.components';
const managedInstances = { maxInstances: 2 };
/** An endpoint of components. */
const shared = (fields: object) =>
  endpoint({ managedInstances, components: [{ name: 'a' }], ...fields });

/** By rule: configurations that break it, each with the field that is named; and some that keep it. */
const CASES: Readonly<
  Record<string, { broken: readonly (readonly [object, string])[]; kept: readonly object[] }>
> = {
  'image-of-the-region': {
    broken: [
      [
        { ...endpoint({}), image: image('eu-west-1'), environments: [environment('us-east-1')] },
        'image.uri',
      ],
      [{ ...endpoint({}), image: { uri: 'public.ecr.aws/x/y:1' } }, 'image.uri'],
    ],
    kept: [
      { ...endpoint({}), image: image('eu-west-1'), environments: [environment('eu-west-1')] },
      { ...endpoint({}), image: image('eu-west-1') },
    ],
  },
  'model-package-of-the-region': {
    broken: [
      [
        { ...version('us-east-1', 'us-east-1'), environments: [environment('eu-west-1')] },
        'models.m.modelPackage.arn',
      ],
      [version('us-east-1', 'docker'), 'models.m.modelPackage.image'],
      [
        foreign((own) => ({ variants: [{ name: 'a' }, own] })),
        'models.m.endpoint.variants[1].modelPackage.arn',
      ],
      [foreign((own) => ({ shadow: own })), 'models.m.endpoint.shadow.modelPackage.arn'],
      [
        foreign((own) => ({
          instanceType: 'ml.c6i.4xlarge',
          managedInstances,
          components: [{ name: 'a' }, own],
        })),
        'models.m.endpoint.components[1].modelPackage.arn',
      ],
      [version('us-east-1', 'us-east-1', 'eu-west-1'), 'models.m.modelPackage.keyArn'],
    ],
    kept: [
      version('us-east-1', 'us-east-1'),
      version('us-east-1', 'us-east-1', 'us-east-1'),
      { ...version('eu-west-1', 'eu-west-1'), environments: [environment('eu-west-1')] },
    ],
  },
  'environment-of-a-model': {
    broken: [
      [endpoint({}, { environment: { A: 'x'.repeat(1025) } }), 'models.m.environment'],
      [endpoint({}, { environment: { '1A': 'x' } }), 'models.m.environment'],
      [
        endpoint({}, { environment: Object.fromEntries(many(101).map((i) => [`V${i}`, 'x'])) }),
        'models.m.environment',
      ],
      [
        endpoint(
          {},
          { environment: Object.fromEntries(many(40).map((i) => [`V${i}`, big(1000)])) },
        ),
        'models.m.environment',
      ],
    ],
    kept: [endpoint({}, { environment: { A: 'x'.repeat(1024) } })],
  },
  'serverless-outside-china': {
    broken: [
      [
        { ...endpoint({ serverless }), environments: [environment('cn-north-1')] },
        'models.m.endpoint.serverless',
      ],
    ],
    kept: [{ ...endpoint({ serverless }), environments: [environment('eu-west-1')] }],
  },
  'serverless-outside-vpcs': {
    broken: [[{ ...endpoint({ serverless }), vpc: vpc(1, 1) }, 'models.m.endpoint.serverless']],
    kept: [{ ...endpoint({}), vpc: vpc(1, 1) }],
  },
  'serverless-takes-archives': {
    broken: [
      [endpoint({ serverless }, { compression: 'none' }), 'models.m.compression'],
      [batch({}, { compression: 'none' }), 'models.m.compression'],
    ],
    kept: [endpoint({}, { compression: 'none' })],
  },
  'network-of-a-model': {
    broken: [
      [{ ...endpoint({}), vpc: vpc(17, 1) }, 'vpc.subnetIds'],
      [
        { ...endpoint({}), environments: [{ ...environment('eu-west-1'), vpc: vpc(1, 6) }] },
        'environments[0].vpc.securityGroupIds',
      ],
    ],
    kept: [{ ...endpoint({}), vpc: vpc(16, 5) }],
  },
  'zones-of-the-region': {
    broken: [
      [{ ...endpoint({}), vpc: inZones('eu-west-1') }, 'vpc.availabilityZones[0]'],
      [{ ...endpoint({}), vpc: inZones('euw1-az1') }, 'vpc.availabilityZones[0]'],
      [
        {
          ...endpoint({}),
          vpc: inZones('eu-west-1a', 'eu-west-2b'),
          environments: [environment('eu-west-1')],
        },
        'vpc.availabilityZones[1]',
      ],
      [
        {
          ...endpoint({}),
          environments: [{ ...environment('us-east-1'), vpc: inZones('us-east-2a') }],
        },
        'environments[0].vpc.availabilityZones[0]',
      ],
    ],
    kept: [
      { ...endpoint({}), vpc: inZones('us-gov-west-1a') },
      {
        ...endpoint({}),
        vpc: inZones('us-east-1a', 'us-east-1-bos-1a'),
        environments: [environment('us-east-1')],
      },
      {
        ...endpoint({}),
        vpc: inZones('eu-west-1a'),
        environments: [{ ...environment('us-east-1'), vpc: inZones('us-east-1f') }],
      },
    ],
  },
  'subnets-of-zones': {
    broken: [
      [
        {
          ...endpoint({}),
          vpc: { ...inZones('eu-west-1a', 'eu-west-1b'), subnetIds: ['subnet-1'] },
        },
        'vpc.subnetIds',
      ],
    ],
    kept: [{ ...endpoint({}), vpc: inZones('eu-west-1a', 'eu-west-1b') }],
  },
  tags: {
    broken: [
      [{ ...endpoint({}), tags: { 'aws:team': 'x' } }, 'tags'],
      [{ ...endpoint({}), tags: { team: 'a;b' } }, 'tags'],
      [{ ...endpoint({}), tags: { team: 'x'.repeat(257) } }, 'tags'],
    ],
    kept: [{ ...endpoint({}), tags: { 'team/eu': 'vision @ sea' } }],
  },
  schedule: {
    broken: [
      [batch({ schedule: 'rate(1 days)' }), 'models.m.batch.schedule'],
      [batch({ schedule: 'rate(5 minute)' }), 'models.m.batch.schedule'],
      [batch({ schedule: 'rate(0 days)' }), 'models.m.batch.schedule'],
      [worker({ schedule: 'rate(1 days)' }), 'models.m.batchWorker.schedule'],
      [batch({ schedule: 'cron(0 3 * * *)' }), 'models.m.batch.schedule'],
      ...[
        '0 3 * * * *',
        '99 3 * * ? *',
        '0 25 * * ? *',
        '0 3 32 13 ? *',
        '0 3 0 * ? *',
        'a b ? * FOO *',
        '0 3 ? * 8 *',
        '0 3 ? * MON#6 *',
        '0 3 ? * 9L *',
        '0 3 32W * ? *',
        '0 3 ? * 15W *',
        '? 3 ? * MON *',
        '0/0 3 * * ? *',
        '1,,5 3 * * ? *',
        '1-2-3 3 * * ? *',
        '0 3 * * ? 1969',
        '0 3 * * ? 2200',
        '0 3 * MON ? *',
      ].map((fields): [object, string] => [
        batch({ schedule: `cron(${fields})` }),
        'models.m.batch.schedule',
      ]),
    ],
    kept: [
      batch({ schedule: 'rate(1 day)' }),
      worker({ schedule: 'rate(1 day)' }),
      ...[
        '0 3 ? * MON *',
        '15 10 L * ? *',
        '0 10 LW * ? *',
        '0 10 3W * ? 2027',
        '0 3 ? * FRI#2 *',
        '0 3 ? * 6L *',
        '0/15 8-17 ? JAN,jun-AUG 2-6 2026-2030',
        '*/5,7 22 1,15 */3 ? *',
      ].map((fields) => batch({ schedule: `cron(${fields})` })),
    ],
  },
  'payload-in-flight': {
    broken: [
      [batch({ maxPayloadInMB: 6 }), 'models.m.batch.maxPayloadInMB'],
      [batch({ maxConcurrentTransforms: 101 }), 'models.m.batch.maxPayloadInMB'],
    ],
    kept: [batch({ maxConcurrentTransforms: 1, maxPayloadInMB: 100 })],
  },
  'stack-names': {
    broken: [[{ ...endpoint({}), name: 'n'.repeat(125) }, 'name']],
    kept: [{ ...endpoint({}), name: 'n'.repeat(60) }],
  },
  'part-of-a-fleet': {
    broken: [
      [
        endpoint({ deployment: { traffic: { type: 'canary', percent: 50, waitSeconds: 60 } } }),
        TRAFFIC,
      ],
      [
        endpoint({
          instanceCount: 4,
          scaling: { maxInstances: 4, target },
          deployment: { traffic: { type: 'canary', percent: 50, waitSeconds: 60 } },
        }),
        TRAFFIC,
      ],
    ],
    kept: [
      shift({ type: 'canary', percent: 50, waitSeconds: 60 }),
      shift(
        { type: 'canary', percent: 50, waitSeconds: 60 },
        {},
        { shadow: { name: 's', instanceCount: 1 } },
      ),
    ],
  },
  'time-of-a-deployment': {
    broken: [
      [shift({ type: 'linear', percent: 10, waitSeconds: 3600 }), TRAFFIC],
      [shift({ type: 'rolling', percent: 10, waitSeconds: 3000 }), TRAFFIC],
    ],
    kept: [shift({ type: 'linear', percent: 10, waitSeconds: 3000 })],
  },
  'an-update-is-watched': {
    broken: [
      [endpoint({ metrics: rare }), 'models.m.endpoint.metrics.frequencySeconds'],
      [
        shift({ type: 'rolling', percent: 25, waitSeconds: 60 }, {}, { metrics: rare }),
        'models.m.endpoint.metrics.frequencySeconds',
      ],
    ],
    kept: [
      endpoint({ metrics: { frequencySeconds: 300 } }),
      endpoint({ metrics: rare, deployment: { bakeSeconds: 600 } }),
      endpoint({ metrics: rare, serverless }),
    ],
  },
  'rolling-without-bake': {
    broken: [
      [
        shift({ type: 'rolling', percent: 25, waitSeconds: 60 }, { bakeSeconds: 60 }),
        'models.m.endpoint.deployment.bakeSeconds',
      ],
    ],
    kept: [shift({ type: 'rolling', percent: 25, waitSeconds: 60 })],
  },
  'rollback-alarms': {
    broken: [
      [
        endpoint({ variants: namedVariants(6), deployment: { modelLatencyP90Ms: 90 } }),
        'models.m.endpoint.deployment.modelLatencyP90Ms',
      ],
    ],
    kept: [
      endpoint({ variants: namedVariants(5), deployment: { modelLatencyP90Ms: 90 } }),
      endpoint({ variants: namedVariants(10) }),
    ],
  },
  'burstable-types-do-not-scale': {
    broken: [
      [
        endpoint({ instanceType: 'ml.t2.medium', scaling: { maxInstances: 2, target } }),
        'models.m.endpoint.scaling',
      ],
      [
        endpoint({
          scaling: limits,
          variants: [{ name: 'a' }, { name: 'b', instanceType: 'ml.t2.medium', scaling: limits }],
        }),
        'models.m.endpoint.variants[1].scaling',
      ],
    ],
    kept: [endpoint({ instanceType: 'ml.t2.medium' })],
  },
  'instances-to-start-with': {
    broken: [
      [
        endpoint({ instanceCount: 5, scaling: { maxInstances: 4, target } }),
        'models.m.endpoint.instanceCount',
      ],
    ],
    kept: [
      endpoint({ instanceCount: 4, scaling: { maxInstances: 4, target } }),
      endpoint({
        instanceCount: 5,
        scaling: limits,
        variants: [
          { name: 'a', instanceCount: 2 },
          { name: 'b', instanceCount: 4 },
        ],
      }),
    ],
  },
  'sleep-needs-a-queue': {
    broken: [
      [
        endpoint({ scaling: { minInstances: 0, maxInstances: 4, target } }),
        'models.m.endpoint.scaling.minInstances',
      ],
    ],
    kept: [
      endpoint({
        async: true,
        scaling: { minInstances: 0, maxInstances: 4, target: { backlog: 2 } },
      }),
    ],
  },
  'limits-by-the-clock': {
    broken: [
      [
        endpoint({ scaling: { maxInstances: 4, target, schedule: [{ when: 'cron(0 8 * * *)' }] } }),
        'models.m.endpoint.scaling.schedule[0].when',
      ],
      [
        endpoint({
          scaling: {
            maxInstances: 4,
            target,
            schedule: [{ when: 'at(2027-01-01T00:00:00)' }, night],
          },
        }),
        'models.m.endpoint.scaling.schedule[1].minInstances',
      ],
    ],
    kept: [
      endpoint({
        async: true,
        scaling: { maxInstances: 4, target: { backlog: 2 }, schedule: [night] },
      }),
    ],
  },
  'backlog-is-of-a-queue': {
    broken: [
      [
        endpoint({ scaling: { maxInstances: 4, target: { backlog: 2 } } }),
        'models.m.endpoint.scaling.target',
      ],
      [
        endpoint({ async: true, scaling: { maxInstances: 4, target } }),
        'models.m.endpoint.scaling.target',
      ],
    ],
    kept: [endpoint({ scaling: { maxInstances: 4, target } })],
  },
  'components-have-instances': {
    broken: [
      [shared({ serverless }), COMPONENTS],
      [shared({ async: true }), COMPONENTS],
      [shared({ variants: [{ name: 'a' }] }), COMPONENTS],
      [shared({ shadow: { name: 's' } }), COMPONENTS],
    ],
    kept: [shared({})],
  },
  'a-component-holds-one-model': {
    broken: [
      [
        {
          models: {
            m: {
              multiModel: 's3://models/m/',
              endpoint: { managedInstances, components: [{ name: 'a' }] },
            },
          },
        },
        'models.m.multiModel',
      ],
    ],
    kept: [shared({})],
  },
  'names-of-components': {
    broken: [[shared({ components: [{ name: 'a' }, { name: 'a' }] }), `${COMPONENTS}[1].name`]],
    kept: [shared({ components: [{ name: 'a' }, { name: 'b' }] })],
  },
  'copies-of-a-component': {
    broken: [
      [
        shared({ components: [{ name: 'a', scaling: { minCopies: 3, maxCopies: 2, target } }] }),
        `${COMPONENTS}[0].scaling.minCopies`,
      ],
      [
        shared({ components: [{ name: 'a', copies: 3, scaling: { maxCopies: 2, target } }] }),
        `${COMPONENTS}[0].copies`,
      ],
    ],
    kept: [
      shared({ components: [{ name: 'a', scaling: { minCopies: 0, maxCopies: 2, target } }] }),
    ],
  },
  'managed-instances': {
    broken: [
      [
        shared({ managedInstances: { minInstances: 3, maxInstances: 2 } }),
        'models.m.endpoint.managedInstances.minInstances',
      ],
    ],
    kept: [shared({ managedInstances: { minInstances: 2, maxInstances: 2 } })],
  },
  'accelerators-of-a-component': {
    broken: [
      [
        shared({
          instanceType: 'ml.c6i.xlarge',
          components: [{ name: 'a' }, { name: 'b', accelerators: 1 }],
        }),
        `${COMPONENTS}[1].accelerators`,
      ],
    ],
    kept: [shared({ components: [{ name: 'a', accelerators: 1 }] })],
  },
  'share-of-a-component': {
    broken: [
      [
        shared({
          instanceType: 'ml.c6i.xlarge',
          components: [{ name: 'a' }, { name: 'b', cpus: 5 }],
        }),
        `${COMPONENTS}[1].cpus`,
      ],
      [
        shared({ instanceType: 'ml.c6i.xlarge', components: [{ name: 'a', memoryMiB: 8192 }] }),
        `${COMPONENTS}[0].memoryMiB`,
      ],
    ],
    kept: [
      shared({
        instanceType: 'ml.c6i.xlarge',
        components: [{ name: 'a', cpus: 4, memoryMiB: 7168 }],
      }),
    ],
  },
  'components-are-updated-in-batches': {
    broken: [
      [shared({ deployment: {} }), TRAFFIC],
      [
        shared({ deployment: { traffic: { type: 'canary', percent: 20, waitSeconds: 60 } } }),
        TRAFFIC,
      ],
      [
        shared({
          deployment: {
            traffic: { type: 'rolling', percent: 20, waitSeconds: 60 },
            modelLatencyP90Ms: 90,
          },
        }),
        'models.m.endpoint.deployment.modelLatencyP90Ms',
      ],
    ],
    kept: [shared({ deployment: { traffic: { type: 'rolling', percent: 20, waitSeconds: 60 } } })],
  },
  'serverless-has-no-instances': {
    broken: [
      [endpoint({ serverless, instanceType: 'ml.c6i.xlarge' }), 'models.m.endpoint.serverless'],
      [endpoint({ serverless, async: true }), 'models.m.endpoint.serverless'],
      [endpoint({ serverless, dataCapturePercent: 5 }), 'models.m.endpoint.serverless'],
      [endpoint({ serverless, deployment: {} }), 'models.m.endpoint.serverless'],
      [endpoint({ serverless, variants: [{ name: 'a' }] }), 'models.m.endpoint.serverless'],
    ],
    kept: [endpoint({ serverless })],
  },
  'instance-pools': {
    broken: [
      [
        endpoint({ instanceTypes: ['ml.g5.xlarge'], instanceType: 'ml.g5.xlarge' }),
        'models.m.endpoint.instanceTypes',
      ],
      [
        endpoint({ instanceTypes: ['ml.g5.xlarge', 'ml.g6.xlarge', 'ml.g5.xlarge'] }),
        'models.m.endpoint.instanceTypes',
      ],
      [
        endpoint({ instanceType: 'ml.g5.xlarge', provisioningTimeoutSeconds: 300 }),
        'models.m.endpoint.provisioningTimeoutSeconds',
      ],
    ],
    kept: [
      endpoint({
        instanceTypes: ['ml.g5.xlarge', 'ml.g6.xlarge'],
        provisioningTimeoutSeconds: 300,
      }),
    ],
  },
  'rolling-moves-one-variant': {
    broken: [
      [
        shift(
          { type: 'rolling', percent: 25, waitSeconds: 60 },
          {},
          { variants: [{ name: 'a' }, { name: 'b', weight: 3 }] },
        ),
        TRAFFIC,
      ],
    ],
    kept: [
      shift({ type: 'rolling', percent: 25, waitSeconds: 60 }, {}, { variants: [{ name: 'a' }] }),
    ],
  },
  'one-variant-beside-a-shadow': {
    broken: [
      [endpoint({ shadow: { name: 's', scaling: limits } }), 'models.m.endpoint.shadow.scaling'],
      [endpoint({ async: true, shadow: { name: 's' } }), 'models.m.endpoint.shadow'],
      [
        endpoint({ shadow: { name: 's' }, variants: [{ name: 'a' }, { name: 'b' }] }),
        'models.m.endpoint.shadow',
      ],
    ],
    kept: [
      endpoint({ shadow: { name: 's', archive: 's3://bucket/2.tar.gz' }, scaling: limits }),
      endpoint({ shadow: { name: 's', weight: 0.1 }, variants: [{ name: 'a' }] }),
    ],
  },
  'serverless-concurrency': {
    broken: [
      [
        endpoint({ serverless: { memoryGiB: 1, maxConcurrency: 201 } }),
        'models.m.endpoint.serverless.maxConcurrency',
      ],
      [
        endpoint({ serverless: { memoryGiB: 1, provisionedConcurrency: 6 } }),
        'models.m.endpoint.serverless.provisionedConcurrency',
      ],
    ],
    kept: [endpoint({ serverless: { memoryGiB: 1, maxConcurrency: 200 } })],
  },
  'serverless-starts-in-three-minutes': {
    broken: [
      [
        endpoint({ serverless, startupTimeoutSeconds: 600 }),
        'models.m.endpoint.startupTimeoutSeconds',
      ],
    ],
    kept: [endpoint({ serverless, startupTimeoutSeconds: 120 })],
  },
  'api-answers-at-once': {
    broken: [[endpoint({ async: true, api: { auth: 'apiKey' } }), 'models.m.endpoint.api']],
    kept: [endpoint({ api: { auth: 'apiKey' } })],
  },
  'certificate-of-the-region': {
    broken: [[named('us-east-1', 'eu-central-1'), `${DOMAIN}.certificateArn`]],
    kept: [named('eu-central-1', 'eu-central-1'), endpoint({ api: { auth: 'iam' } })],
  },
  'certificate-of-the-account': {
    broken: [[named('eu-central-1', 'eu-central-1', '222222222222'), `${DOMAIN}.certificateArn`]],
    kept: [named('eu-central-1', 'eu-central-1')],
  },
  'one-api-of-a-name': {
    broken: [[inTwoEnvironments('eu-central-1', 'eu-central-1'), `${DOMAIN}.name`]],
    kept: [named('eu-central-1', 'eu-central-1')],
  },
  'name-in-the-zone': {
    broken: [[inZone('other.org'), `${DOMAIN}.hostedZone.name`]],
    kept: [inZone('example.com'), inZone('models.example.com.')],
  },
  'capture-is-for-real-time': {
    broken: [
      [endpoint({ async: true, dataCapturePercent: 5 }), 'models.m.endpoint.dataCapturePercent'],
    ],
    kept: [endpoint({ async: true })],
  },
  'key-of-the-region': {
    broken: [
      [
        { ...endpoint({}), ...keyed('us-east-1', 'eu-central-1') },
        'environments[0].encryptionKeyArn',
      ],
      [
        {
          ...endpoint({}),
          ...keyed('eu-central-1', 'eu-central-1'),
          formerEncryptionKeyArns: ['arn:aws:kms:us-east-1:123456789012:key/1234'],
        },
        'environments[0].formerEncryptionKeyArns[0]',
      ],
    ],
    kept: [{ ...endpoint({}), ...keyed('eu-central-1', 'eu-central-1') }],
  },
  'archive-key-of-the-region': {
    broken: [
      [archived('eu-west-1', 'us-east-1'), 'models.m.archiveKeyArn'],
      [
        {
          ...endpoint({ variants: [{ name: 'a' }, { name: 'b', ...archiveUnder('us-east-1') }] }),
          environments: [environment('eu-west-1')],
        },
        'models.m.endpoint.variants[1].archiveKeyArn',
      ],
    ],
    kept: [
      archived('us-east-1', 'us-east-1'),
      { ...archived('us-east-1', 'us-east-1'), environments: undefined },
    ],
  },
  partitions: {
    broken: [
      [inRegion('eusc-de-east-1'), 'environments[0].region'],
      [inRegion('us-iso-east-1'), 'environments[0].region'],
      [inRegion('us-isof-south-1'), 'environments[0].region'],
    ],
    kept: [inRegion('eu-central-1'), inRegion('us-gov-west-1'), inRegion('xx-new-1')],
  },
  'arns-of-the-partition': {
    broken: [
      [{ ...endpoint({}), ...keyed('us-gov-west-1', 'us-gov-west-1') }, 'encryptionKeyArn'],
      [named('cn-north-1', 'cn-north-1'), `${DOMAIN}.certificateArn`],
      [
        {
          ...endpoint({}),
          environments: [
            {
              ...{ name: 'prod', account: '123456789012', region: 'cn-north-1' },
              formerEncryptionKeyArns: ['arn:aws:kms:cn-north-1:123456789012:key/1234'],
            },
          ],
        },
        'environments[0].formerEncryptionKeyArns[0]',
      ],
    ],
    kept: [
      { ...endpoint({}), ...keyed('us-gov-west-1', 'us-gov-west-1', 'aws-us-gov') },
      { ...endpoint({}), ...keyed('cn-north-1', 'cn-north-1', 'aws-cn') },
      // Its own key is in place of the one for all.
      {
        ...endpoint({}),
        encryptionKeyArn: 'arn:aws:kms:eu-central-1:123456789012:key/1234',
        environments: [
          {
            ...{ name: 'prod', account: '123456789012', region: 'cn-north-1' },
            encryptionKeyArn: 'arn:aws-cn:kms:cn-north-1:123456789012:key/1234',
          },
        ],
      },
      {
        ...endpoint({}, { environment: { TOPIC: 'arn:aws:sns:us-east-1:123456789012:t' } }),
        environments: [{ name: 'prod', account: '123456789012', region: 'cn-north-1' }],
      },
    ],
  },
};

/** An API with a certificate of one region, in another. */
function named(certificateRegion: string, region: string, owner = '123456789012', zone?: string) {
  const certificateArn = `arn:aws:acm:${certificateRegion}:${owner}:certificate/1234`;
  const hostedZone = zone === undefined ? {} : { hostedZone: { id: 'Z1', name: zone } };
  const domain = { name: 'models.example.com', certificateArn, ...hostedZone };
  return {
    ...endpoint({ api: { auth: 'apiKey', domain } }),
    environments: [{ name: 'prod', account: '123456789012', region }],
  };
}

function inZone(zone: string) {
  return named('eu-central-1', 'eu-central-1', '123456789012', zone);
}

/** An API with a name, in two environments of one account. */
function inTwoEnvironments(...regions: readonly [string, string]) {
  const [first] = regions;
  const environments = regions.map((region, i) => ({
    ...{ name: `e${i}`, account: '123456789012', region },
  }));
  return { ...named(first, first), environments };
}

function inRegion(region: string) {
  return { ...endpoint({}), environments: [{ name: 'prod', account: '123456789012', region }] };
}

/** A key of one region for an environment in another. */
function keyed(keyRegion: string, region: string, partition = 'aws') {
  return {
    encryptionKeyArn: `arn:${partition}:kms:${keyRegion}:123456789012:key/1234`,
    environments: [{ name: 'prod', account: '123456789012', region }],
  };
}

function many(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}

function big(size: number): string {
  return 'x'.repeat(size);
}

test('every rule has its example, and a page of AWS as its source', () => {
  expect(AWS_RULES.map(({ id }) => id).sort()).toEqual(Object.keys(CASES).sort());
  for (const { source } of AWS_RULES) expect(source).toMatch(/^https:\/\/docs\.aws\.amazon\.com\//);
});

describe.each(AWS_RULES.map(({ id, source }) => [id, source] as const))('%s', (id, source) => {
  const { broken = [], kept = [] } = CASES[id] ?? {};

  test.each(broken)('%j is refused', (config, path) => {
    const parse = () => parseConfig(config, 'serving.config.ts');
    expect(parse).toThrow(`\n  ${path}: `);
    expect(parse).toThrow(`(${source})`);
  });

  test.each(kept)('%j is taken', (config) => {
    expect(() => parseConfig(config, 'serving.config.ts')).not.toThrow();
  });
});
