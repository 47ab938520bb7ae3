/** What a configuration can ask for, as stacks. */
import { existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Match, Template } from 'aws-cdk-lib/assertions';
import type { Stack } from 'aws-cdk-lib/core';
import { addServingStacks, parseConfig, type ServingConfigInput } from '../../lib/index.ts';
import { MODEL_DIR, stubContainer, testApp } from '../support/stacks.ts';

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

describe('Graviton', () => {
  test('has the in-process image, built for arm64', () => {
    const { 'tensorflow-m': serving, 'tensorflow-image': image } = stacks({
      endpoint: { instanceType: 'ml.c7g.xlarge' },
      batch: { instanceType: 'ml.m5.xlarge' },
    });
    const parameter = (name: string) => ({ Name: `/tensorflow-image/${name}` });
    image?.hasResourceProperties('AWS::SSM::Parameter', parameter('in-process-arm64'));
    // Jobs have no Graviton: theirs is for x86-64.
    image?.hasResourceProperties('AWS::SSM::Parameter', parameter('cpu'));
    serving?.hasResourceProperties(CONFIG, {
      ProductionVariants: [{ InstanceType: 'ml.c7g.xlarge', InferenceAmiVersion: Match.absent() }],
    });
  });

  test('and x86-64 in one configuration have an in-process image each', () => {
    const { 'tensorflow-image': image } = stacks(
      {
        endpoint: { instanceType: 'ml.c7g.xlarge' },
        batch: { instanceType: 'ml.m5.xlarge' },
      },
      { image: { variant: 'in-process' } },
    );
    const parameters = Object.values(image?.findResources('AWS::SSM::Parameter') ?? {});
    expect(parameters.map(({ Properties }) => Properties.Name)).toEqual(
      expect.arrayContaining([
        '/tensorflow-image/in-process',
        '/tensorflow-image/in-process-arm64',
      ]),
    );
  });

  test('has no TensorFlow Serving', () => {
    const onGraviton = { endpoint: { instanceType: 'ml.c7g.xlarge' } };
    expect(() => stacks(onGraviton, { image: { variant: 'cpu' } })).toThrow(
      'models.m.endpoint.instanceType: ml.c7g.xlarge is arm64 and the image is x86_64. ' +
        "Use an 'in-process' image built for arm64 (TensorFlow Serving is published for x86-64 alone)",
    );
  });

  test('takes an image in ECR that says that it is for arm64', () => {
    const uri = '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1';
    const endpoint = { instanceType: 'ml.c8g.xlarge' };
    const image = { uri, variant: 'in-process' as const };
    expect(() => stacks({ endpoint }, { image })).toThrow(/is arm64 and the image is x86_64/);
    const made = stacks({ endpoint }, { image: { ...image, architecture: 'arm64' } });
    expect(Object.keys(made)).toEqual(['tensorflow-m']);
  });

  test('is not mixed with x86-64 among the types of an endpoint', () => {
    const instanceTypes = ['ml.c7g.xlarge', 'ml.c6i.xlarge'];
    expect(() => stacks({ endpoint: { instanceTypes } })).toThrow(
      'models.m.endpoint.instanceTypes[1]: ml.c6i.xlarge is x86_64 and the image is arm64',
    );
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

test('a schedule that AWS refuses is reported by its path', () => {
  const scaling = { maxInstances: 2, target: { concurrentRequests: 4 } };
  const wrong = [{ when: 'cron(0 8 ? * * *)', timeZone: 'Berlin' }];
  expect(() => stacks({ endpoint: { scaling: { ...scaling, schedule: wrong } } })).toThrow(
    /models\.m\.endpoint\.scaling\.schedule\[0\]\.timeZone: 'Berlin' is no time zone/,
  );
});

describe('several variants', () => {
  const MODEL = 'AWS::SageMaker::Model';
  const uri = '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1';
  const serving = (
    endpoint: object,
    model: object = {},
    config: Partial<ServingConfigInput> = {},
  ) => stacks({ ...model, endpoint }, config)['tensorflow-m'] as Template;
  const configOf = (template: Template) =>
    Object.values(template.findResources(CONFIG))[0]?.Properties as {
      ProductionVariants: Record<string, unknown>[];
      ShadowProductionVariants?: Record<string, unknown>[];
    };

  test('share the requests by weight, each with its own fields, and the endpoint fields it has none of', () => {
    const scaling = { minInstances: 2, maxInstances: 4, target: { concurrentRequests: 4 } };
    const template = serving({
      instanceType: 'ml.c6i.xlarge',
      startupTimeoutSeconds: 600,
      scaling,
      variants: [
        { name: 'now', weight: 9 },
        {
          name: 'next',
          archive: 's3://models/next/2.tar.gz',
          environment: { COLOR: 'blue' },
          instanceType: 'ml.g5.xlarge',
          scaling: { ...scaling, maxInstances: 8 },
        },
      ],
    });
    template.resourceCountIs(MODEL, 2);
    template.hasResourceProperties(MODEL, {
      PrimaryContainer: {
        ModelDataUrl: 's3://models/next/2.tar.gz',
        Environment: { COLOR: 'blue' },
      },
    });
    const [now, next] = configOf(template).ProductionVariants;
    expect(now).toMatchObject({
      VariantName: 'now',
      InitialVariantWeight: 9,
      InitialInstanceCount: 2,
      InstanceType: 'ml.c6i.xlarge',
      ContainerStartupHealthCheckTimeoutInSeconds: 600,
    });
    expect(now).not.toHaveProperty('InferenceAmiVersion');
    expect(next).toMatchObject({
      VariantName: 'next',
      InitialVariantWeight: 1,
      InstanceType: 'ml.g5.xlarge',
      InferenceAmiVersion: expect.any(String) as string,
      ContainerStartupHealthCheckTimeoutInSeconds: 600,
    });
    expect(next?.ModelName).not.toEqual(now?.ModelName);
    template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', {
      MaxCapacity: 8,
    });
    template.resourceCountIs('AWS::ApplicationAutoScaling::ScalableTarget', 2);
    // Each on the image of its own instances.
    const images = Object.values(template.findResources(MODEL)).map(({ Properties }) =>
      JSON.stringify(
        (Properties as { PrimaryContainer: { Image: object } }).PrimaryContainer.Image,
      ),
    );
    expect(new Set(images).size).toBe(2);
  });

  test('variants that differ in instances alone share a model, and the only one has the id it had', () => {
    const alone = serving({ instanceType: 'ml.c6i.xlarge' });
    const both = serving({
      variants: [
        { name: 'a', instanceType: 'ml.c6i.xlarge' },
        { name: 'b', instanceType: 'ml.c7i.xlarge' },
      ],
    });
    expect(Object.keys(both.findResources(MODEL))).toEqual(Object.keys(alone.findResources(MODEL)));
  });

  test('a shadow with a model of its own, one instance, and no scaling', () => {
    const template = serving({
      instanceType: 'ml.c6i.xlarge',
      scaling: { minInstances: 2, maxInstances: 4, target: { concurrentRequests: 4 } },
      shadow: { name: 'next', weight: 0.5, model: MODEL_DIR, postprocess: { topK: { k: 1 } } },
    });
    const { ProductionVariants, ShadowProductionVariants } = configOf(template);
    expect(ProductionVariants).toMatchObject([{ VariantName: 'AllTraffic' }]);
    expect(ShadowProductionVariants).toMatchObject([
      { VariantName: 'next', InitialVariantWeight: 0.5, InitialInstanceCount: 1 },
    ]);
    template.resourceCountIs(MODEL, 2);
    template.resourceCountIs('AWS::ApplicationAutoScaling::ScalableTarget', 1);
  });

  test('models that are in SageMaker already, with no image built for them', () => {
    const made = stacks({
      model: undefined,
      modelName: 'digits-1',
      endpoint: { variants: [{ name: 'a' }, { name: 'b', modelName: 'digits-2' }] },
      batch: {},
    });
    expect(Object.keys(made).sort()).toEqual(['tensorflow-m', 'tensorflow-m-batch']);
    const { ProductionVariants } = configOf(made['tensorflow-m'] as Template);
    expect(ProductionVariants.map(({ ModelName }) => ModelName)).toEqual(['digits-1', 'digits-2']);
    // The GPU image of this project, as far as the type says.
    expect(ProductionVariants[0]).toHaveProperty('InferenceAmiVersion');
    made['tensorflow-m']?.resourceCountIs(MODEL, 0);
    expect(JSON.stringify(made['tensorflow-m-batch'])).toContain('digits-1');
  });

  test('an image in ECR is for all', () => {
    const template = serving(
      {
        instanceType: 'ml.c6i.xlarge',
        variants: [{ name: 'a' }, { name: 'b', model: MODEL_DIR, postprocess: { topK: { k: 2 } } }],
      },
      {},
      { image: { uri } },
    );
    for (const { Properties } of Object.values(template.findResources(MODEL))) {
      expect(Properties).toMatchObject({ PrimaryContainer: { Image: uri } });
    }
  });

  const two = (b: object) => ({
    instanceType: 'ml.c6i.xlarge',
    variants: [{ name: 'a' }, { name: 'b', ...b }],
  });
  test.each<[object, RegExp, object?]>([
    [two({ name: 'a' }), /models\.m\.endpoint\.variants: two are named 'a'/],
    [two({ name: 'a_b' }), /models\.m\.endpoint\.variants\[1\]\.name: use letters/],
    [two({ instanceType: 'ml.none.big' }), /models\.m\.endpoint\.variants\[1\]\.instanceType: /],
    [{ ...two({}), instanceType: 'ml.none.big' }, /models\.m\.endpoint\.instanceType: /],
    [
      two({ environment: { SAGEMAKER_TFS_MAX_BATCH_SIZE: 'many' } }),
      /models\.m\.endpoint\.variants\[1\]\.environment: SAGEMAKER_TFS_MAX_BATCH_SIZE is/,
    ],
    [
      two({ model: 'x', archive: 's3://bucket/k.tar.gz' }),
      /models\.m\.endpoint\.variants\[1\]: model and archive of/,
    ],
    [
      two({ archive: 's3://bucket/k.tar.gz', handler: 'h.ts' }),
      /models\.m\.endpoint\.variants\[1\]\.handler: it is packaged with/,
    ],
    [two({ fingerprint: 'a'.repeat(64) }), /variants\[1\]\.fingerprint: it is of an 'archive'/],
    [
      two({ handler: 'h.ts' }),
      /models\.m\.endpoint\.variants\[1\]\.handler: it is packaged with/,
      { model: undefined, archive: 's3://bucket/k.tar.gz' },
    ],
    [
      two({ environment: { A: 1 } }),
      /models\.m\.endpoint\.variants\[1\]\.environment: a model of SageMaker has its own/,
      { model: undefined, modelName: 'there' },
    ],
    [
      { variants: [{ name: 'a', archive: 's3://bucket/k.tar.gz' }] },
      /models\.m\.model: no variant serves it/,
    ],
    [{ shadow: { weight: 1 } }, /models\.m\.endpoint\.shadow\.name: /],
    [two({ weight: -1 }), /models\.m\.endpoint\.variants\[1\]\.weight: /],
  ])('%j is refused', (endpoint, message, model = {}) => {
    expect(() => serving(endpoint, model)).toThrow(message);
  });
});

describe('models that are in S3 already', () => {
  const cpu = { endpoint: { instanceType: 'ml.c6i.xlarge' } };
  const container = (model: object) => {
    const app = testApp();
    const config = { image: { directory }, models: { m: { ...cpu, ...model } } };
    addServingStacks(app, parseConfig(config, 'test'));
    return Template.fromStack(app.node.findChild('tensorflow-m') as Stack);
  };

  test('an archive, that the model may read and no other', () => {
    const template = container({ archive: 's3://models/digits/1.tar.gz' });
    template.hasResourceProperties('AWS::SageMaker::Model', {
      PrimaryContainer: { ModelDataUrl: 's3://models/digits/1.tar.gz' },
    });
    const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'));
    expect(policies).toContain(':s3:::models/digits/1.tar.gz');
    expect(policies).not.toContain(':s3:::models/*');
  });

  test('its files below a prefix', () => {
    const source = { S3DataType: 'S3Prefix', CompressionType: 'None', S3Uri: 's3://models/d/' };
    container({ archive: 's3://models/d/' }).hasResourceProperties('AWS::SageMaker::Model', {
      PrimaryContainer: { ModelDataSource: { S3DataSource: source } },
    });
  });

  test('many, and requests name one', () => {
    const template = container({ multiModel: 's3://models/all/' });
    template.hasResourceProperties('AWS::SageMaker::Model', {
      PrimaryContainer: { Mode: 'MultiModel', ModelDataUrl: 's3://models/all/' },
    });
  });

  test.each<[object, RegExp]>([
    [
      {},
      /models\.m: none of 'model', 'archive', 'multiModel', 'modelName' and 'modelPackage' is given/,
    ],
    [
      { model: 'm', archive: 's3://bucket/k.tar.gz' },
      /models\.m: model and archive of 'model', 'archive'/,
    ],
    [{ archive: 's3://bucket/k.zip' }, /models\.m\.archive: write s3:\/\/BUCKET\/KEY\.tar\.gz/],
    [{ multiModel: 's3://bucket/all' }, /models\.m\.multiModel: write s3:\/\/BUCKET\/PREFIX\//],
    [
      { archive: 's3://bucket/k.tar.gz', handler: 'h.ts' },
      /models\.m\.handler: it is packaged with/,
    ],
    [
      { multiModel: 's3://bucket/all/', fingerprint: 'a'.repeat(64) },
      /fingerprint: it is of an 'archive'/,
    ],
    [
      { multiModel: 's3://bucket/all/', endpoint: {} },
      /multi-model endpoints on GPUs exist only with/,
    ],
    [{ multiModel: 's3://bucket/all/', endpoint: undefined, batch: {} }, /multi-model/],
    [{ archive: 's3://B/k.tar.gz' }, /models\.m\.archive: write s3/],
    [{ archive: 's3://bucket/p/', endpoint: { serverless: { memoryGiB: 2 } } }, /only archives/],
  ])('%j is refused', (model, message) => {
    expect(() => container(model)).toThrow(message);
  });
});

test('an environment has its own image, of its own region', () => {
  const uri = (region: string) => `123456789012.dkr.ecr.${region}.amazonaws.com/serving:1`;
  const environments = ['us-east-1', 'eu-central-1'].map((region) => ({
    name: region,
    account: '123456789012',
    region,
    ...(region === 'eu-central-1' && { image: { uri: uri(region), variant: 'cpu' as const } }),
  }));
  const models = { m: { model: MODEL_DIR, endpoint: { instanceType: 'ml.c6i.xlarge' } } };
  const image = { uri: uri('us-east-1') };
  const app = testApp();
  addServingStacks(app, parseConfig({ image, models, environments }, 'test'));
  for (const region of ['us-east-1', 'eu-central-1']) {
    const stack = app.node.findChild(region).node.findChild('tensorflow-m') as Stack;
    Template.fromStack(stack).hasResourceProperties('AWS::SageMaker::Model', {
      PrimaryContainer: { Image: uri(region) },
    });
  }
  const wrong = environments.map((one) => ({ ...one, image: { uri: uri('us-east-1') } }));
  expect(() => parseConfig({ image, models, environments: wrong }, 'test')).toThrow(
    /environments\[1\]\.image\.uri: the image is in us-east-1 and the model in eu-central-1/,
  );
});

test.each([
  [true, false],
  [false, true],
])(
  'the dashboard shows what SageMaker counts: asynchronous %s, requests %s',
  (isAsync, counted) => {
    const { 'tensorflow-m': serving } = stacks({ endpoint: { async: isAsync } });
    const [dashboard] = Object.values(serving?.findResources('AWS::CloudWatch::Dashboard') ?? {});
    const body = JSON.stringify(dashboard).replaceAll('\\', '');
    for (const metric of ['Invocations', 'InvocationsPerInstance', 'OverheadLatency']) {
      expect([metric, body.includes(`"${metric}"`)]).toEqual([metric, counted]);
    }
    for (const metric of ['ModelLatency', 'Invocation5XXErrors']) {
      expect(body).toContain(`"${metric}"`);
    }
  },
);

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
])('%j is reported by the field of the configuration', (model, field) => {
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
  const synth = (sample: object, outdir?: string, compression?: 'none') => {
    const smokeTest = { samples: [{ name: 'numbers', file, ...sample }] };
    const config = {
      image: { directory },
      models: { m: { model: MODEL_DIR, compression, endpoint: { smokeTest } } },
    };
    addServingStacks(testApp({ bundle: true, outdir }), parseConfig(config, 'test'));
  };

  test('by its content type, whatever the ending of its name', () => {
    expect(() => synth({ contentType: 'application/json' })).not.toThrow();
    expect(() => synth({ contentType: 'application/x-own' })).toThrow(
      /packaging .*request\.bin \(application\/x-own\) with status 415/s,
    );
  });

  test.each([
    { compression: undefined, made: 'model.tar.gz' },
    { compression: 'none', made: 'unpacked/1/saved_model.pb' },
  ] as const)('again once it has changed, though $made is there', ({ compression, made }) => {
    const outdir = mkdtempSync(join(tmpdir(), 'synth-'));
    const other = join(directory, 'other.json');
    const synthesize = (text: string) => {
      writeFileSync(other, text);
      synth({ file: other, contentType: 'application/json' }, outdir, compression);
      return readdirSync(outdir)
        .map((name) => join(outdir, name, made))
        .flatMap((path) => (existsSync(path) ? [statSync(path).mtimeMs] : []));
    };
    const written = synthesize('{"instances": [[1.0]]}');
    expect(written).toHaveLength(1);
    expect(() => synthesize('{"instances": [["one"]]}')).toThrow(/the sample .*other\.json/);
    expect(synthesize('{"instances": [[2.0]]}')).toEqual(written);
  });

  test('with its custom attributes', () => {
    const sample = { contentType: 'application/json', customAttributes: 'tfs-signature=none' };
    expect(() => synth(sample)).toThrow(/with status 400/);
  });
});

test('several instance types decide about the image by the first', () => {
  const instanceTypes = ['ml.g5.xlarge', 'ml.g4dn.xlarge'];
  const { 'tensorflow-m': serving, 'tensorflow-image': image } = stacks({
    endpoint: { instanceTypes, provisioningTimeoutSeconds: 600 },
  });
  image?.hasResourceProperties('AWS::SSM::Parameter', { Name: '/tensorflow-image/gpu' });
  serving?.hasResourceProperties(CONFIG, {
    ProductionVariants: [
      Match.objectLike({
        InstancePools: [Match.objectLike({ Priority: 1 }), Match.objectLike({ Priority: 2 })],
        VariantInstanceProvisionTimeoutInSeconds: 600,
      }),
    ],
  });
  const mixed = { endpoint: { instanceTypes: [...instanceTypes, 'ml.c6i.xlarge'] } };
  expect(() => stacks(mixed)).toThrow(
    'models.m.endpoint.instanceTypes[2]: ml.c6i.xlarge has no GPU',
  );
});

describe('an API', () => {
  const outputsOf = (endpoint: object, config: Partial<ServingConfigInput> = {}) => {
    const { 'tensorflow-m': serving } = stacks({ endpoint }, config);
    const outputs = serving?.findOutputs('*') ?? {};
    return { serving, value: (name: string) => JSON.stringify(outputs[name]?.Value) };
  };

  test('with a key: what a caller needs is an output', () => {
    const { serving, value } = outputsOf({ api: { auth: 'apiKey', corsOrigin: '*' } });
    expect(value('ApiUrl')).toContain('/invocations');
    expect(value('ApiKeyId')).toContain('ApiKey');
    expect(value('ApiCommand')).toContain(
      `-H 'Content-Type: application/json' --data-binary @FILE`,
    );
    serving?.resourceCountIs('AWS::ApiGateway::ApiKey', 1);
    serving?.hasResource('AWS::ApiGateway::Method', {
      DependsOn: Match.arrayWith([
        Match.stringLikeRegexp('^EndpointDeployed'),
        Match.stringLikeRegexp('^SmokeTest'),
      ]),
    });
  });

  test('with tokens and a name of its own', () => {
    const certificateArn = 'arn:aws:acm:us-east-1:123456789012:certificate/1234';
    const { value } = outputsOf({
      api: {
        auth: 'jwt',
        jwt: { issuer: 'https://login.example.com/', audience: ['m'] },
        domain: { name: 'models.example.com', certificateArn },
      },
    });
    expect(value('ApiUrl')).toBe('"https://models.example.com/invocations"');
    expect(value('ApiDomainTarget')).toContain('RegionalDomainName');
    expect(value('ApiCommand')).toContain('Bearer $TOKEN');
  });

  test('stays, with its address and key, while the endpoint is off', () => {
    const { serving } = outputsOf({ enabled: false, api: { auth: 'apiKey' } });
    serving?.resourceCountIs('AWS::SageMaker::Endpoint', 0);
    serving?.resourceCountIs('AWS::ApiGateway::ApiKey', 1);
  });

  test.each([
    [{ auth: 'jwt' }, 'api.jwt: missing'],
    [{ auth: 'apiKey', jwt: { issuer: 'https://a.example', audience: ['m'] } }, 'api.jwt: given'],
    [{ auth: 'jwt', jwt: { issuer: 'http://a.example', audience: ['m'] } }, 'api.jwt.issuer: '],
    [{ auth: 'apiKey', corsOrigin: 'https://a.example/' }, 'api.corsOrigin: write'],
    [{ auth: 'apiKey', timeoutSeconds: 61 }, 'api.timeoutSeconds: '],
    [
      { auth: 'apiKey', throttle: { requestsPerSecond: 1e9, burst: 1 } },
      'api.throttle.requestsPer',
    ],
    [{ auth: 'apiKey', domain: { name: 'a', certificateArn: 'b' } }, 'api.domain.name: write'],
  ])('%j is reported by its path', (api, message) => {
    expect(() => stacks({ endpoint: { api } })).toThrow(`models.m.endpoint.${message}`);
  });
});
