/** What a configuration can ask for, as stacks. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Match, Template } from 'aws-cdk-lib/assertions';
import type { Stack } from 'aws-cdk-lib/core';
import { addServingStacks, parseConfig, type ServingConfigInput } from '../../lib/index.ts';
import { MODEL_DIR, stubContainer, testApp } from './support.ts';

const directory = stubContainer();

function stacks(model: object, config: Partial<ServingConfigInput> = {}): Record<string, Template> {
  const app = testApp();
  const models = { m: { model: MODEL_DIR, ...model } };
  addServingStacks(app, parseConfig({ image: { directory }, models, ...config }, 'test'));
  const templates = app.node.children.map((stack): [string, Template] => [
    stack.node.id,
    Template.fromStack(stack as Stack),
  ]);
  return Object.fromEntries(templates);
}

const CONFIG = 'AWS::SageMaker::EndpointConfig';

test('a CPU type gets the CPU image', () => {
  const { 'tensorflow-m': serving, 'tensorflow-image': image } = stacks({
    endpoint: { instanceType: 'ml.c6i.xlarge' },
  });
  image?.hasResourceProperties('AWS::SSM::Parameter', { Name: '/tensorflow-image/cpu' });
  serving?.hasResourceProperties(CONFIG, {
    ProductionVariants: [{ InferenceAmiVersion: Match.absent() }],
  });
});

test('an image in ECR needs no image stack', () => {
  const uri = '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1';
  const made = stacks({ endpoint: {} }, { image: { uri, variant: 'gpu' } });
  expect(Object.keys(made)).toEqual(['tensorflow-m']);
  made['tensorflow-m']?.hasResourceProperties('AWS::SageMaker::Model', {
    PrimaryContainer: { Image: uri },
  });
});

test('serverless, with network isolation off as it must be', () => {
  const { 'tensorflow-m': serving } = stacks({ endpoint: { serverless: { memoryGiB: 4 } } });
  serving?.hasResourceProperties('AWS::SageMaker::Model', { EnableNetworkIsolation: false });
  serving?.hasResourceProperties(CONFIG, {
    ProductionVariants: [{ ServerlessConfig: { MemorySizeInMB: 4096 } }],
  });
});

test('off, with everything but the endpoint', () => {
  const sample = { name: 'a', file: 'package.json', contentType: 'application/json' };
  const schedule = [{ when: 'cron(0 20 ? * * *)', timeZone: 'America/New_York', maxInstances: 2 }];
  const endpoint = {
    scaling: { maxInstances: 4, target: { concurrentRequests: 4 }, schedule },
    smokeTest: { samples: [sample] },
    dataCapturePercent: 5,
  };
  const { 'tensorflow-m': on } = stacks({ endpoint });
  on?.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', {
    ScheduledActions: [Match.objectLike({ Timezone: 'America/New_York' })],
  });
  const { 'tensorflow-m': off } = stacks({ endpoint: { ...endpoint, enabled: false } });
  for (const type of ['Endpoint', 'ApplicationAutoScaling::ScalableTarget']) {
    off?.resourceCountIs(type.includes(':') ? `AWS::${type}` : `AWS::SageMaker::${type}`, 0);
  }
  off?.resourceCountIs('Custom::SageMakerSmokeTest', 0);
  off?.resourceCountIs(CONFIG, 1);
  off?.resourceCountIs('AWS::SageMaker::Model', 1);
  off?.resourceCountIs(
    'AWS::S3::Bucket',
    Object.keys(on?.findResources('AWS::S3::Bucket') ?? {}).length,
  );
  expect(Object.keys(off?.findOutputs('*') ?? {})).not.toContain('InvokeCommand');
});

test('a schedule that AWS refuses is told by its path', () => {
  const scaling = { maxInstances: 2, target: { concurrentRequests: 4 } };
  const wrong = [{ when: 'cron(0 8 ? * * *)', timeZone: 'Berlin' }];
  expect(() => stacks({ endpoint: { scaling: { ...scaling, schedule: wrong } } })).toThrow(
    /models\.m\.endpoint\.scaling\.schedule\[0\]\.timeZone: 'Berlin' is no time zone/,
  );
});

test('asynchronous, scaled to zero, with a bucket of its own and mail', () => {
  const { 'tensorflow-m': serving } = stacks({
    endpoint: {
      async: true,
      scaling: { minInstances: 0, maxInstances: 2, target: { backlog: 5 } },
      alarmEmail: 'ops@example.com',
    },
  });
  // Also where the first deployment failed: the smoke test has filled it, and CloudFormation cannot empty it.
  serving?.allResources('AWS::S3::Bucket', { DeletionPolicy: 'Retain' });
  const alarms = Object.values(serving?.findResources('AWS::CloudWatch::Alarm') ?? {});
  const watched = JSON.stringify(alarms);
  for (const metric of [
    'InvocationFailures',
    'ApproximateAgeOfOldestRequest',
    'HasBacklogWithoutCapacity',
  ]) {
    expect(watched).toContain(`"${metric}"`);
  }
  // Asynchronous endpoints do not publish it: a share of it would have no data for ever.
  expect(watched).not.toContain('"Invocations"');
  serving?.hasOutput('InputUri', {});
  serving?.hasResourceProperties(CONFIG, { AsyncInferenceConfig: Match.anyValue() });
  serving?.hasResourceProperties('AWS::SNS::Subscription', { Endpoint: 'ops@example.com' });
  // A topic's own policy replaces the default: without this, alarms could not publish.
  serving?.hasResourceProperties('AWS::SNS::TopicPolicy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Effect: 'Allow',
          Action: 'sns:Publish',
          Principal: { Service: 'cloudwatch.amazonaws.com' },
        }),
      ]),
    },
  });
});

test('a canary deployment, data capture, metrics, variables of the runtime and of the handler', () => {
  const { 'tensorflow-m': serving } = stacks({
    environment: { SAGEMAKER_TFS_ENABLE_BATCHING: true, THRESHOLD: 0.5 },
    endpoint: {
      instanceCount: 2,
      dataCapturePercent: 10,
      metrics: { detailed: true, enhanced: true, frequencySeconds: 10 },
      deployment: { traffic: { type: 'canary', percent: 50, waitSeconds: 300 }, bakeSeconds: 60 },
    },
  });
  serving?.hasResourceProperties('AWS::SageMaker::Model', {
    PrimaryContainer: { Environment: { SAGEMAKER_TFS_ENABLE_BATCHING: 'true', THRESHOLD: '0.5' } },
  });
  serving?.hasResourceProperties(CONFIG, {
    DataCaptureConfig: { InitialSamplingPercentage: 10 },
    MetricsConfig: {
      EnableDetailedObservability: true,
      EnableEnhancedMetrics: true,
      MetricPublishFrequencyInSeconds: 10,
    },
  });
  serving?.hasResourceProperties('AWS::SageMaker::Endpoint', {
    DeploymentConfig: { BlueGreenUpdatePolicy: { TerminationWaitInSeconds: 60 } },
  });
});

const vpcOf = (digit: number) => ({
  vpcId: `vpc-${digit}123456789abcdef0`,
  availabilityZones: ['us-east-1a'],
  subnetIds: [`subnet-${digit}123456789abcdef0`],
  securityGroupIds: [`sg-${digit}123456789abcdef0`],
});

test('models and smoke test in an existing VPC', () => {
  const { 'tensorflow-m': serving } = stacks({ endpoint: {} }, { vpc: vpcOf(1) });
  serving?.hasResourceProperties('AWS::SageMaker::Model', {
    VpcConfig: { Subnets: vpcOf(1).subnetIds },
  });
  serving?.hasResourceProperties('AWS::Lambda::Function', {
    VpcConfig: { SubnetIds: vpcOf(1).subnetIds },
  });
});

test('an environment has its own VPC, or the one for all', () => {
  const app = testApp();
  const at = { account: '111111111111', region: 'us-east-1' };
  const environments = [
    { name: 'own', ...at, vpc: vpcOf(2) },
    { name: 'shared', ...at },
  ];
  const models = { m: { model: MODEL_DIR, batch: {} } };
  addServingStacks(
    app,
    parseConfig({ image: { directory }, models, environments, vpc: vpcOf(1) }, 'test'),
  );
  const subnets = environments.map(({ name }) => {
    const stack = app.node.findChild(name).node.findChild('tensorflow-m-batch') as Stack;
    const found = Template.fromStack(stack).findResources('AWS::SageMaker::Model');
    return Object.values(found).map(({ Properties }) => Properties.VpcConfig.Subnets);
  });
  expect(subnets).toEqual([[vpcOf(2).subnetIds], [vpcOf(1).subnetIds]]);
});

test('batch alone, sharded and scheduled', () => {
  const made = stacks({
    batch: {
      instanceType: 'ml.c6i.xlarge',
      sharding: { objectsPerShard: 100_000, maxConcurrentJobs: 10 },
      schedule: 'rate(1 day)',
      email: 'ops@example.com',
    },
  });
  expect(Object.keys(made).sort()).toEqual(['tensorflow-image', 'tensorflow-m-batch']);
  // The schedule, the rule that stops jobs, and the one that tells of runs that end.
  made['tensorflow-m-batch']?.resourceCountIs('AWS::Events::Rule', 3);
  made['tensorflow-m-batch']?.hasOutput('StartCommand', Match.anyValue());
});

test.each<[object, string]>([
  [{ endpoint: { instanceType: 'ml.g4dn.tiny' } }, 'models.m.endpoint.instanceType: '],
  [{ batch: { instanceType: 'ml.p5.48xlarge' } }, 'models.m.batch.instanceType: '],
  [{ batch: { fallbackInstanceTypes: ['ml.x.y'] } }, 'models.m.batch.fallbackInstanceTypes[0]: '],
  [{ environment: { SAGEMAKER_TFS_BACKEND: 'x' }, endpoint: {} }, 'models.m.environment'],
  [
    {
      endpoint: {
        smokeTest: { samples: [{ name: 'a', file: 'no/such', contentType: 'text/csv' }] },
      },
    },
    'models.m.endpoint.smokeTest.samples[0].file: ',
  ],
])('%j is told by the field of the configuration', (model, field) => {
  expect(() => stacks(model)).toThrow(
    expect.objectContaining({
      name: 'ConfigurationError',
      message: expect.stringContaining(field),
    }),
  );
});

describe('a sample of the smoke test is tried as it declares', () => {
  const file = join(directory, 'request.bin');
  writeFileSync(file, '{"instances": [[1.0], [2.0]]}');
  const synth = (sample: object) => {
    const smokeTest = { samples: [{ name: 'numbers', file, ...sample }] };
    const config = {
      image: { directory },
      models: { m: { model: MODEL_DIR, endpoint: { smokeTest } } },
    };
    addServingStacks(testApp({ bundle: true }), parseConfig(config, 'test'));
  };

  test('by its content type, whatever the ending of its name', () => {
    expect(() => synth({ contentType: 'application/json' })).not.toThrow();
    expect(() => synth({ contentType: 'application/x-own' })).toThrow(
      /packaging .*request\.bin \(application\/x-own\) with status 415/s,
    );
  });

  test('with its custom attributes', () => {
    const sample = { contentType: 'application/json', customAttributes: 'tfs-signature=none' };
    expect(() => synth(sample)).toThrow(/with status 400/);
  });
});
