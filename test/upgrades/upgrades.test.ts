/** Every usual change of a configuration, as CloudFormation would deploy it. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { baselineOf, gatherer, parseCapture } from '@sagemaker-tfs/container/captures';
import { Template } from 'aws-cdk-lib/assertions';
import { Alarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { SecurityGroup } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import type { CfnEndpoint } from 'aws-cdk-lib/aws-sagemaker';
import { Size, type Stack, Tags } from 'aws-cdk-lib/core';
import {
  addServingStacks,
  type DeploymentProps,
  ModelData,
  parseConfig,
  RealtimeEndpoint,
  type ServingConfigInput,
  ServingImage,
  type TensorFlowModelProps,
} from '../../lib/index.ts';
import { addWorker, type Choice } from '../service-models/worker-matrix.ts';
import { MODEL_DIR, testApp, testModel, testStack } from '../support/stacks.ts';
import type { Resources } from './resources.ts';
import { lines, rightsLostEarly, type Story, tell } from './story.ts';

const IMAGE = '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving';
const KEY = 'arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef';
const VPC = {
  vpcId: 'vpc-0123456789abcdef0',
  availabilityZones: ['us-east-1a'],
  subnetIds: ['subnet-0123456789abcdef0'],
  securityGroupIds: ['sg-0123456789abcdef0'],
};
const SAMPLE = {
  name: 'seven',
  file: 'examples/digits/samples/00000-7.jpg',
  contentType: 'application/x-image',
};
const CANARY = { type: 'canary', percent: 50, waitSeconds: 60 } as const;
const TARGET = { concurrentRequests: 4 };
const OTHER_TYPE = { instanceType: 'ml.m5.xlarge' };
const OTHER_MODEL = 'test/fixtures/models/keras_functional';

const work = mkdtempSync(join(tmpdir(), 'upgrades-'));
/** What captures are compared with. */
function baselineFile(name: string, ages: number): string {
  const all = gatherer();
  for (let age = 0; age < ages; age++) {
    const data = JSON.stringify({ instances: [age] });
    const endpointInput = { observedContentType: 'application/json', data, encoding: 'JSON' };
    all.add(parseCapture(JSON.stringify({ captureData: { endpointInput }, eventMetadata: {} })));
  }
  const path = join(work, name);
  writeFileSync(path, JSON.stringify(baselineOf(all.gathered())));
  return path;
}
const BASELINE = baselineFile('baseline.json', 20);
const OTHER_BASELINE = baselineFile('other.json', 40);
afterAll(() => rmSync(work, { recursive: true, force: true }));

type Model = Partial<ServingConfigInput['models'][string]>;
/** A configuration: fields of its one model, and of the rest. */
type Half = readonly [model: Model, rest?: Partial<ServingConfigInput>];

const CPU = { instanceType: 'ml.c6i.xlarge', instanceCount: 2 };
const endpoint = (fields: object = {}, rest: Partial<ServingConfigInput> = {}): Half => [
  { endpoint: { ...CPU, ...fields } },
  rest,
];
const version = (keyArn: string): Half => [
  {
    ...endpoint()[0],
    model: undefined,
    modelPackage: {
      arn: 'arn:aws:sagemaker:us-east-1:222222222222:model-package/digits/3',
      archives: 's3://models/registry/',
      image: `${IMAGE}:1`,
      keyArn,
    },
  },
];
const registry = (fields: NonNullable<ServingConfigInput['registry']>): Half =>
  endpoint({}, { registry: fields });
const api = (fields: object, more: object = {}): Half => endpoint({ api: fields, ...more });
const DOMAIN = {
  name: 'models.example.com',
  certificateArn: 'arn:aws:acm:us-east-1:111111111111:certificate/0123',
  hostedZone: { id: 'Z0123456789', name: 'example.com' },
};
const JWT = { issuer: 'https://login.example.com', audience: ['m'] };
const drift = (fields: object, more: object = {}): Half =>
  endpoint({ dataCapturePercent: 5, drift: { baseline: BASELINE, ...fields }, ...more });
const redeploy = (...redeploy: NonNullable<ServingConfigInput['redeploy']>): Half =>
  endpoint({}, { redeploy });
const APPROVED = { approvedIn: 'digits', project: 'deploy' };
const POINTED = { pointer: 's3://models/now.txt', pipeline: 'deploy' };
const batch = (fields: object = {}, model: Model = {}): Half => [
  { batch: { instanceType: 'ml.c6i.xlarge', ...fields }, ...model },
];
const scaled = (fields: object = {}) => ({
  scaling: { minInstances: 2, maxInstances: 4, target: TARGET, ...fields },
});
/** Two variants that share the requests; what the second has of its own. */
const compared = (own: object = {}): Half =>
  endpoint({
    ...scaled(),
    variants: [
      { name: 'AllTraffic', weight: 9 },
      { name: 'next', weight: 1, model: OTHER_MODEL, ...own },
    ],
  });
const components = (list: { name: string; copies?: number; memoryMiB?: number }[]): Half => [
  {
    endpoint: {
      instanceType: 'ml.c6i.4xlarge',
      components: list,
      managedInstances: { maxInstances: 2 },
    },
  },
];

/** Changes by their names. */
const PAIRS: Readonly<Record<string, readonly [before: Half, after: Half]>> = {
  nothing: [endpoint(), endpoint()],
  'another model': [endpoint(), [{ ...endpoint()[0], model: OTHER_MODEL }]],
  'another handler': [
    endpoint(),
    [{ ...endpoint()[0], handler: 'docs/examples/handlers/picture-from-json.ts' }],
  ],
  'a variable of the runtime': [
    endpoint(),
    [{ ...endpoint()[0], environment: { SAGEMAKER_TFS_ENABLE_BATCHING: true } }],
  ],
  'another image': [endpoint(), endpoint({}, { image: { uri: `${IMAGE}:2`, variant: 'cpu' } })],
  'another instance type': [endpoint(), endpoint(OTHER_TYPE)],
  'more instances': [endpoint(), endpoint({ instanceCount: 3 })],
  'autoscaling on': [endpoint(), endpoint(scaled())],
  'autoscaling off': [endpoint(scaled()), endpoint()],
  'other limits of autoscaling': [endpoint(scaled()), endpoint(scaled({ maxInstances: 9 }))],
  'another type of a scaled endpoint, at once': [
    endpoint(scaled()),
    endpoint({ ...scaled(), ...OTHER_TYPE }),
  ],
  'another type of a scaled endpoint, first step': [
    endpoint(scaled()),
    endpoint(scaled({ registered: false })),
  ],
  'another type of a scaled endpoint, second step': [
    endpoint(scaled({ registered: false })),
    endpoint({ ...scaled(), ...OTHER_TYPE }),
  ],
  'a second variant that scales': [endpoint(scaled()), compared()],
  'a variant that scales taken away, at once': [compared(), endpoint(scaled())],
  'a variant that scales taken away, first step': [
    compared(),
    compared(scaled({ registered: false })),
  ],
  'a variant that scales taken away, second step': [
    compared(scaled({ registered: false })),
    endpoint(scaled()),
  ],
  'traffic in steps': [endpoint(), endpoint({ deployment: { traffic: CANARY } })],
  'another alarm that rolls back': [endpoint(), endpoint({ deployment: { modelLatencyP90Ms: 9 } })],
  'another threshold of the alarm that rolls back': [
    endpoint(),
    endpoint({ deployment: { serverErrorsPerMinute: 9 } }),
  ],
  'a longer bake time': [endpoint(), endpoint({ deployment: { bakeSeconds: 900 } })],
  'an asynchronous endpoint that may sleep': [
    endpoint({ async: true, ...scaled({ target: { backlog: 4 } }) }),
    endpoint({ async: true, ...scaled({ target: { backlog: 4 }, minInstances: 0 }) }),
  ],
  'data capture on': [endpoint(), endpoint({ dataCapturePercent: 5 })],
  'data capture off': [endpoint({ dataCapturePercent: 5 }), endpoint()],
  'requests through a queue': [endpoint(), endpoint({ async: true })],
  'instances instead of a queue': [endpoint({ async: true }), endpoint()],
  'serverless instead of instances': [endpoint(), [{ endpoint: { serverless: { memoryGiB: 2 } } }]],
  'a key of your own': [endpoint(), endpoint({}, { encryptionKeyArn: KEY })],
  'a VPC': [endpoint(), endpoint({}, { vpc: VPC })],
  'other subnets': [
    endpoint({}, { vpc: VPC }),
    endpoint({}, { vpc: { ...VPC, subnetIds: ['subnet-0123456789abcdef1'] } }),
  ],
  'other security groups': [
    endpoint({}, { vpc: VPC }),
    endpoint({}, { vpc: { ...VPC, securityGroupIds: ['sg-0123456789abcdef1'] } }),
  ],
  'the VPC taken away': [endpoint({}, { vpc: VPC }), endpoint()],
  'mail from alarms': [endpoint(), endpoint({ alarmEmail: 'a@example.com' })],
  'a sample of the smoke test': [endpoint(), endpoint({ smokeTest: { samples: [SAMPLE] } })],
  'another key': [
    endpoint({ async: true }, { encryptionKeyArn: KEY }),
    endpoint({ async: true }, { encryptionKeyArn: KEY.replace('cdef', 'cdea') }),
  ],
  'another key, while the former one may still be used': [
    endpoint({ async: true }, { encryptionKeyArn: KEY }),
    endpoint(
      { async: true },
      { encryptionKeyArn: KEY.replace('cdef', 'cdea'), formerEncryptionKeyArns: [KEY] },
    ),
  ],
  'the key taken away': [endpoint({}, { encryptionKeyArn: KEY }), endpoint()],
  'a version of the registry under another key': [
    version(KEY),
    version(KEY.replace('cdef', 'cdea')),
  ],
  'metrics of the container': [
    endpoint(),
    endpoint({ metrics: { detailed: true, frequencySeconds: 10 } }),
  ],
  'captures that expire': [
    endpoint({ dataCapturePercent: 5 }),
    endpoint({ dataCapturePercent: 5, dataCaptureRetentionDays: 30 }),
  ],
  'another model, unpacked': [
    [{ ...endpoint()[0], compression: 'none' }],
    [{ ...endpoint()[0], compression: 'none', model: OTHER_MODEL }],
  ],
  'alarms by mail': [endpoint(), endpoint({ alarmEmail: 'a@example.com' })],
  tags: [endpoint(), endpoint({}, { tags: { team: 'vision' } })],
  'logs kept for a year': [endpoint(), endpoint({ logRetentionDays: 365 })],
  'another list of instance types': [
    [{ endpoint: { instanceTypes: ['ml.c6i.xlarge', 'ml.m5.xlarge'], instanceCount: 2 } }],
    [{ endpoint: { instanceTypes: ['ml.c6i.xlarge', 'ml.m5.large'], instanceCount: 2 } }],
  ],
  'a component more, and more copies': [
    components([{ name: 'a' }]),
    components([{ name: 'a', copies: 2 }, { name: 'b' }]),
  ],
  'a component less': [components([{ name: 'a' }, { name: 'b' }]), components([{ name: 'a' }])],
  'the share of a component': [
    components([{ name: 'a' }]),
    components([{ name: 'a', memoryMiB: 2048 }]),
  ],
  'registry: another account approves': [
    registry({ groups: ['digits'], readers: ['222222222222'] }),
    registry({ groups: ['digits'], readers: ['222222222222'], approvers: ['333333333333'] }),
  ],
  'registry: one group for another': [
    registry({ groups: ['digits', 'cats'] }),
    registry({ groups: ['dogs', 'cats'] }),
  ],
  'registry: another order': [
    registry({ groups: ['digits', 'cats'] }),
    registry({ groups: ['cats', 'digits'] }),
  ],
  'an API': [endpoint(), api({ auth: 'iam' })],
  'the API taken away': [api({ auth: 'iam' }), endpoint()],
  'API: tokens instead of keys': [api({ auth: 'apiKey' }), api({ auth: 'jwt', jwt: JWT })],
  'API: another issuer': [
    api({ auth: 'jwt', jwt: JWT }),
    api({ auth: 'jwt', jwt: { ...JWT, issuer: 'https://other.example.com' } }),
  ],
  'API: other limits, and pages that call': [
    api({ auth: 'apiKey' }),
    api({
      auth: 'apiKey',
      throttle: { requestsPerSecond: 5, burst: 10 },
      corsOrigin: 'https://app.example.com',
    }),
  ],
  'API: a domain': [api({ auth: 'iam' }), api({ auth: 'iam', domain: DOMAIN })],
  'API: another domain': [
    api({ auth: 'iam', domain: DOMAIN }),
    api({ auth: 'iam', domain: { ...DOMAIN, name: 'digits.example.com' } }),
  ],
  'API: serverless instead of instances': [
    api({ auth: 'apiKey' }),
    [{ endpoint: { serverless: { memoryGiB: 2 }, api: { auth: 'apiKey' } } }],
  ],
  'drift: a look every day': [endpoint({ dataCapturePercent: 5 }), drift({})],
  'drift: mail from its alarms': [drift({}), drift({}, { alarmEmail: 'a@example.com' })],
  'drift: another baseline': [drift({}), drift({ baseline: OTHER_BASELINE })],
  'drift: a look every week, of more hours': [
    drift({}),
    drift({ schedule: 'rate(7 days)', hours: 168 }),
  ],
  'drift: the endpoint switched off': [drift({}), drift({}, { enabled: false })],
  'drift: no look any more': [drift({}), endpoint({ dataCapturePercent: 5 })],
  'redeploy: of approved versions': [endpoint(), redeploy(APPROVED)],
  'redeploy: another group, by a pipeline, with mail': [
    redeploy(APPROVED),
    redeploy({ approvedIn: 'cats', pipeline: 'deploy', alarmEmail: 'a@example.com' }),
  ],
  'redeploy: a pointer too': [redeploy(APPROVED), redeploy(APPROVED, POINTED)],
  'redeploy: the first taken away': [redeploy(APPROVED, POINTED), redeploy(POINTED)],
  'batch: another model while jobs run': [batch(), batch({}, { model: OTHER_MODEL })],
  'batch: another instance type': [batch(), batch(OTHER_TYPE)],
  'batch: shards': [batch(), batch({ sharding: { objectsPerShard: 1000 } })],
  'batch: a key of your own': [
    [{ batch: { instanceType: 'ml.c6i.xlarge' } }],
    [{ batch: { instanceType: 'ml.c6i.xlarge' } }, { encryptionKeyArn: KEY }],
  ],
  'batch: the key taken away': [
    [{ batch: { instanceType: 'ml.c6i.xlarge' } }, { encryptionKeyArn: KEY }],
    [{ batch: { instanceType: 'ml.c6i.xlarge' } }],
  ],
  'batch: mail at the end': [batch(), batch({ email: 'a@example.com' })],
  'batch: a schedule': [batch(), batch({ schedule: 'rate(1 day)' })],
};

type Worker = readonly [worker: Choice, model?: Partial<TensorFlowModelProps>];

/** Changes of a worker on AWS Batch: its props, and those of its model, after the change. */
const WORKERS: Readonly<Record<string, Worker>> = {
  'worker: another image': [{}, { image: ServingImage.fromUri(`${IMAGE}:2`, { variant: 'gpu' }) }],
  'worker: another model': [{}, { modelData: ModelData.fromDirectory(OTHER_MODEL) }],
  'worker: on demand instead of spot': [{ spot: false }],
  'worker: other instance types': [{ instanceTypes: ['g6.2xlarge'] }],
  'worker: more workers': [{ workers: 40 }],
  'worker: bigger workers': [
    { vcpus: 8, memory: Size.gibibytes(28), instanceTypes: ['g6.2xlarge'] },
  ],
  'worker: a larger disk': [{ diskSize: Size.gibibytes(200) }],
  'worker: other inputs': [{ contentType: 'application/json', keySuffix: '.json' }],
  'worker: a schedule': [{ schedule: Schedule.expression('rate(1 day)') }],
  'worker: tags': [
    (stack) => {
      Tags.of(stack).add('team', 'vision');
      return {};
    },
  ],
  'worker: a key of your own': [(stack) => ({ encryptionKey: Key.fromKeyArn(stack, 'Key', KEY) })],
  'worker: security groups of your own': [
    (stack) => ({
      securityGroups: [SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-0123456789abcdef0')],
    }),
  ],
};

const made = new Map<string, Resources>();

/** Resources of the configuration's stack, and of its registry. */
function resourcesOf([model, rest]: Half): Resources {
  const key = JSON.stringify([model, rest]);
  const known = made.get(key);
  if (known) return known;
  const app = testApp();
  const models = { m: { model: MODEL_DIR, ...model } };
  const image = { uri: `${IMAGE}:1`, variant: 'cpu' } as const;
  addServingStacks(app, parseConfig({ image, models, ...rest }, 'test'));
  const templates = app.node.children.map((stack) => Template.fromStack(stack as Stack).toJSON());
  const all: Resources = Object.assign({}, ...templates.map(({ Resources }) => Resources));
  made.set(key, all);
  return all;
}

function workerResources([choice, model = {}]: Worker): Resources {
  const { Resources } = Template.fromStack(addWorker(testApp(), 'Worker', model, choice)).toJSON();
  return Resources as Resources;
}

const stories: readonly [string, Story][] = [
  ...Object.entries(PAIRS).map(([name, [before, after]]): [string, Story] => [
    name,
    tell(resourcesOf(before), resourcesOf(after)),
  ]),
  ...Object.entries(WORKERS).map(([name, after]): [string, Story] => [
    name,
    tell(workerResources([{}]), workerResources(after)),
  ]),
];

test.each(stories)('%s', (_, story) => {
  expect(lines(story)).toMatchSnapshot();
});

/** Rights that go early, by the change that takes them, and why that is meant. */
const GOES_EARLY: Readonly<Record<string, RegExp>> = {
  // The captures are not wanted any more.
  'data capture off': /^s3:PutObject /,
  // Another endpoint, which callers move to; the old one is deleted.
  'requests through a queue': /^(logs|cloudwatch):/,
  'instances instead of a queue': /^(logs|cloudwatch|s3|sns):/,
  'serverless instead of instances': /^(logs|cloudwatch):/,
  'API: serverless instead of instances': /^(logs|cloudwatch):/,
  // What needs the former key keeps it by `formerEncryptionKeyArns`, which another pair shows.
  'another key': /^kms:/,
  'the key taken away': /^kms:/,
  'batch: the key taken away': /^kms:/,
  // The alarm of the variant that goes: an update asks for those of its own configuration.
  'a variant that scales taken away, at once': /^cloudwatch:DescribeAlarms .*Rollbacknext/,
  'a variant that scales taken away, second step': /^cloudwatch:DescribeAlarms .*Rollbacknext/,
};

describe('of every change', () => {
  test.each(Object.entries(PAIRS))(
    '%s: what the old instances may do, they may until the update is complete',
    (name, [before, after]) => {
      const lost = rightsLostEarly(resourcesOf(before), resourcesOf(after));
      const meant = GOES_EARLY[name];
      expect(lost.filter((right) => !meant?.test(right))).toEqual([]);
      expect(lost.length > 0).toBe(meant !== undefined);
    },
  );

  test.each(stories)('%s: nothing is made under a name that is taken', (_, { steps }) => {
    expect(steps.filter(({ nameTaken }) => nameTaken)).toEqual([]);
  });

  test.each(stories)('%s: the endpoint stays, and no data goes', (name, { steps, cleanup }) => {
    const gone = [...steps.filter(({ does }) => does === 'replaces'), ...cleanup]
      .filter(({ does }) => does !== 'keeps')
      .map(({ type }) => type);
    // Another kind of endpoint is another endpoint.
    const kind = /queue|serverless|switched off/.test(name);
    expect(gone.includes('AWS::SageMaker::Endpoint')).toBe(kind);
    expect(gone).not.toContain('AWS::S3::Bucket');
  });

  test.each(stories)('%s: SageMaker takes it', (name, { refused }) => {
    expect(refused.length > 0).toBe(name.endsWith(', at once'));
  });
});

test.each(Object.keys(WORKERS))('%s: the queue stays, with the jobs that wait in it', (name) => {
  const { steps, cleanup } = stories.find(([other]) => other === name)?.[1] ?? {};
  const lost = [...(steps ?? []), ...(cleanup ?? [])].filter(
    ({ does }) => does === 'replaces' || does === 'deletes',
  );
  expect(lost.length + (steps ?? []).length).toBeGreaterThan(0);
  expect(lost.map(({ type }) => type)).not.toContain('AWS::Batch::JobQueue');
  // Jobs may run on them.
  expect(lost.map(({ type }) => type)).not.toContain('AWS::Batch::ComputeEnvironment');
});

function storyOf(name: string): Story {
  const [, story] = stories.find(([other]) => other === name) ?? [];
  if (!story) throw new Error(`no change is named ${name}`);
  return story;
}

/** What goes of a change: at once where it is replaced, or in the end. */
function goneOf(name: string): readonly string[] {
  const { steps, cleanup } = storyOf(name);
  const replaced = steps.filter(({ does }) => does === 'replaces');
  return [...replaced, ...cleanup].map(({ type }) => type);
}

test.each(Object.keys(PAIRS).filter((name) => name.startsWith('API: ')))(
  '%s: callers keep their address',
  (name) => {
    for (const part of ['RestApi', 'Resource', 'Method', 'Stage']) {
      expect(goneOf(name)).not.toContain(`AWS::ApiGateway::${part}`);
    }
    // Keys go only where nobody sends them any more.
    expect(goneOf(name).includes('AWS::ApiGateway::ApiKey')).toBe(name.includes('instead of keys'));
  },
);

test('an API leads to the new endpoint before the former one goes', () => {
  const { steps } = storyOf('API: serverless instead of instances');
  const order = steps.map(({ type }) => type);
  const at = (type: string) => order.indexOf(type);
  expect(at('Custom::SageMakerSmokeTest')).toBeGreaterThan(at('AWS::SageMaker::Endpoint'));
  expect(at('AWS::ApiGateway::Stage')).toBeGreaterThan(at('Custom::SageMakerSmokeTest'));
});

test('a drift monitor that looks on keeps its alarms, and their state', () => {
  for (const name of ['drift: another baseline', 'drift: mail from its alarms']) {
    expect(goneOf(name)).toEqual([]);
  }
});

test('events that started nothing are kept as long as their cause is', () => {
  for (const name of Object.keys(PAIRS).filter((name) => name.startsWith('redeploy: '))) {
    expect(goneOf(name).includes('AWS::SQS::Queue')).toBe(name.includes('taken away'));
  }
});

test.each([
  ['before access logs', (bucket: object) => ({ ...bucket, LoggingConfiguration: undefined })],
  [
    'whose access logs were let in by an ACL',
    (bucket: object) => ({ ...bucket, AccessControl: 'LogDeliveryWrite' }),
  ],
])('data of a stack from %s stays where it is', (_, earlierBucket) => {
  const now = resourcesOf(endpoint({ dataCapturePercent: 5 }));
  const earlier = Object.fromEntries(
    Object.entries(now).map(([id, resource]) => [
      id,
      resource.Type === 'AWS::S3::Bucket'
        ? { ...resource, Properties: earlierBucket(resource.Properties ?? {}) }
        : resource,
    ]),
  );
  const { steps, cleanup } = tell(earlier, now);
  expect(cleanup).toEqual([]);
  expect(steps.length).toBeGreaterThan(0);
  for (const step of steps)
    expect(step).toMatchObject({ type: 'AWS::S3::Bucket', does: 'updates' });
});

test('models that running jobs name are kept', () => {
  const story = stories.find(([name]) => name.includes('while jobs run'))?.[1];
  const models = story?.cleanup.filter(({ type }) => type === 'AWS::SageMaker::Model');
  expect(models).toEqual([expect.objectContaining({ does: 'keeps' })]);
});

test('a stack from before the expiry of logs gets it, also where SageMaker made the group already', () => {
  const now = resourcesOf(endpoint());
  const upkeep = /^LogGroupUpkeep|^EndpointLogs|^AWS679f/;
  const earlier = Object.fromEntries(Object.entries(now).filter(([id]) => !upkeep.test(id)));
  const { steps, cleanup } = tell(earlier, now);
  expect(cleanup).toEqual([]);
  expect(steps.map(({ does }) => does)).not.toContain('replaces');
  // No log group under SageMaker's name, which CloudFormation could not make where there is one.
  const groups = Object.values(now).filter(({ Type }) => Type === 'AWS::Logs::LogGroup');
  expect(JSON.stringify(groups)).not.toContain('/aws/sagemaker/');
  const made = JSON.stringify(
    Object.values(now).find(({ Type }) => Type.endsWith('LogGroup') && Type.startsWith('Custom')),
  );
  expect(made).toContain('ResourceAlreadyExistsException');
});

test('components of a stack with a policy for each log group keep their rights until the update is complete', () => {
  const [model] = components([{ name: 'a' }, { name: 'b' }]);
  const now = resourcesOf([model, { encryptionKeyArn: KEY }]);
  const released = /^EndpointLogsRelease/;
  const [id = '', policy] = Object.entries(now).find(([one]) => released.test(one)) ?? [];
  expect(policy).toBeDefined();
  const text = JSON.stringify(now).replaceAll(`"${id}"`, '"EndpointComponentaLogsRelease"');
  const earlier = JSON.parse(text) as Resources;
  const { steps, cleanup } = tell(earlier, now);
  expect(steps.map(({ does, id: one }) => `${does} ${one}`)).toEqual([`makes ${id}`]);
  // A rollback, and the functions that free a group meanwhile, still find the old one.
  expect(cleanup.map(({ does, id: one }) => `${does} ${one}`)).toEqual([
    'deletes EndpointComponentaLogsRelease',
  ]);
  expect(rightsLostEarly(earlier, now)).toEqual([]);
});

test('an endpoint that keeps its name cannot become another kind', () => {
  const of = (ProductionVariants: object[], more = {}): Resources => ({
    C: { Type: 'AWS::SageMaker::EndpointConfig', Properties: { ProductionVariants, ...more } },
    E: { Type: 'AWS::SageMaker::Endpoint', Properties: { EndpointName: 'mine' } },
  });
  const instances = of([{ VariantName: 'a', InstanceType: 'ml.m5.large' }]);
  const serverless = of([{ VariantName: 'a', ServerlessConfig: {} }]);
  const queue = of([{ VariantName: 'a', InstanceType: 'ml.m5.large' }], {
    AsyncInferenceConfig: {},
  });
  expect(tell(instances, serverless).refused).toEqual([
    'an endpoint that is of instances cannot become serverless',
  ]);
  expect(tell(queue, instances).refused).toHaveLength(1);
  expect(tell(instances, instances).refused).toEqual([]);
});

test('files of an unpacked model go after the endpoint has left them', () => {
  const { steps, cleanup } = stories.find(([name]) => name === 'another model, unpacked')?.[1] ?? {
    steps: [],
    cleanup: [],
  };
  const upload = 'Custom::CDKBucketDeployment';
  const at = (type: string) => steps.findIndex((step) => step.type === type);
  expect(steps[at(upload)]?.does).toBe('makes');
  expect(at(upload)).toBeLessThan(at('AWS::SageMaker::Model'));
  const order = cleanup.map(({ type }) => type);
  expect(order.indexOf(upload)).toBeGreaterThan(order.indexOf('AWS::SageMaker::EndpointConfig'));
  expect(order.indexOf(upload)).toBeGreaterThan(order.indexOf('AWS::SageMaker::Model'));
});

test('an endpoint from before new configurations for every update gets one', () => {
  const [model] = components([{ name: 'a' }]);
  for (const now of [resourcesOf(endpoint()), resourcesOf([model])]) {
    const [id = ''] =
      Object.entries(now).find(([, { Type }]) => /EndpointConfig$/.test(Type)) ?? [];
    expect(id).toMatch(/[0-9A-F]{8}[0-9a-f]{8}$/);
    const text = JSON.stringify(now).replaceAll(id, id.slice(0, -8));
    const earlier = JSON.parse(text.replace('"RetainAllVariantProperties":true,', '')) as Resources;
    expect(tell(earlier, now).refused).toEqual([]);
  }
});

describe('a configuration is new with what the app changes of an endpoint', () => {
  const configOf = (change: (stack: Stack) => DeploymentProps, override?: string) => {
    const stack = testStack();
    const variants = [{ model: testModel(stack) }];
    const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
      variants,
      deployment: change(stack),
    });
    const { defaultChild } = endpoint.node;
    if (override) (defaultChild as CfnEndpoint).addPropertyOverride(OVERRIDDEN, override);
    return Object.keys(
      Template.fromStack(stack).findResources('AWS::SageMaker::EndpointConfig'),
    )[0];
  };
  const OVERRIDDEN = 'DeploymentConfig.AutoRollbackConfiguration.Alarms.0.AlarmName';

  test('the name of an alarm', () => {
    const named = (alarmName: string) =>
      configOf((stack) => {
        const metric = new Metric({ namespace: 'app', metricName: 'wrong' });
        const props = { alarmName, metric, threshold: 1, evaluationPeriods: 1 };
        return { rollbackAlarms: [new Alarm(stack, 'Mine', props)] };
      });
    expect(named('a')).toBe(named('a'));
    expect(named('a')).not.toBe(named('b'));
  });

  test('an override of a property', () => {
    const overridden = (value?: string) => configOf(() => ({}), value);
    expect(overridden('a')).toBe(overridden('a'));
    expect(new Set([overridden(), overridden('a'), overridden('b')]).size).toBe(3);
  });
});

describe('the teller', () => {
  const config = { Type: 'AWS::SageMaker::EndpointConfig', Properties: { KmsKeyId: 'a' } };
  const endpointOf = (): Resources[string] => ({
    Type: 'AWS::SageMaker::Endpoint',
    Properties: { EndpointConfigName: { 'Fn::GetAtt': ['C', 'Name'] } },
  });
  const other = { ...config, Properties: { KmsKeyId: 'b' } };

  test('follows a replacement through references', () => {
    const told = tell({ C: config, E: endpointOf() }, { C: other, E: endpointOf() });
    expect(told.steps.map(({ does, id }) => `${does} ${id}`)).toEqual(['replaces C', 'updates E']);
    expect(told.cleanup.map(({ does, id }) => `${does} ${id}`)).toEqual(['deletes C']);
  });

  test('sees an update to the configuration in use', () => {
    const retaining = {
      ...endpointOf(),
      Properties: { ...endpointOf().Properties, RetainAllVariantProperties: true },
    } as Resources[string];
    const tagged = {
      ...endpointOf(),
      Properties: { ...endpointOf().Properties, Tags: [] },
    } as Resources[string];
    const before = { C: config, E: endpointOf() };
    expect(tell(before, { C: config, E: retaining }).refused).toHaveLength(1);
    expect(tell(before, { C: config, E: tagged }).refused).toEqual([]);
    expect(tell(before, { C: other, E: retaining }).refused).toEqual([]);
  });

  test('sees a name that is taken', () => {
    const model = (ModelName: string, PrimaryContainer: string): Resources => ({
      M: { Type: 'AWS::SageMaker::Model', Properties: { ModelName, PrimaryContainer } },
    });
    expect(tell(model('a', 'x'), model('b', 'y')).steps[0]?.nameTaken).toBe(false);
    expect(tell(model('a', 'x'), model('a', 'y')).steps[0]?.nameTaken).toBe(true);
  });
});
