/** Inference components: several models on the instances of one endpoint. */
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { type IVpc, SecurityGroup, SubnetType, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Policy, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { App, Duration, Size, Stack } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import {
  addServingStacks,
  ComponentEndpoint,
  type ComponentEndpointProps,
  ComponentMonitoring,
  ModelData,
  parseConfig,
  SmokeTest,
  TensorFlowModel,
} from '../../lib/index.ts';
import { templateProblems } from '../service-models/template-problems.ts';
import { existingImage, MODEL_DIR, testApp, testModel, testStack } from '../support/stacks.ts';

const COMPONENT = 'AWS::SageMaker::InferenceComponent';
const CONFIG = 'AWS::SageMaker::EndpointConfig';
const TARGET = 'AWS::ApplicationAutoScaling::ScalableTarget';
const POLICY = 'AWS::ApplicationAutoScaling::ScalingPolicy';
const KEY_ARN = 'arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef';
const createRole = (stack: Stack) =>
  new Role(stack, 'ModelRole', { assumedBy: new ServicePrincipal('sagemaker.amazonaws.com') });
const asleep = { minCopies: 0, maxCopies: 2, target: { concurrentRequests: 4 } };

/** An endpoint of two models on CPUs, or what the props change of it. */
function endpointOf(stack: Stack, props: Partial<ComponentEndpointProps> = {}): ComponentEndpoint {
  const model = (id: string) => testModel(stack, { image: existingImage({ variant: 'cpu' }) }, id);
  return new ComponentEndpoint(stack, 'Endpoint', {
    components: [
      { name: 'cats', model: model('Cats'), cpus: 2, memory: Size.mebibytes(2048), copies: 2 },
      { name: 'dogs', model: model('Dogs') },
    ],
    instances: { instanceType: 'ml.c6i.2xlarge', maxInstances: 3 },
    ...props,
  });
}

const refused = (props: Partial<ComponentEndpointProps>) => () => endpointOf(testStack(), props);

test('several models share instances, each with copies and a share', () => {
  const stack = testStack();
  endpointOf(stack);
  const template = Template.fromStack(stack);
  template.hasResourceProperties(CONFIG, {
    ExecutionRoleArn: Match.anyValue(),
    EnableNetworkIsolation: true,
    ProductionVariants: [
      {
        VariantName: 'AllTraffic',
        ModelName: Match.absent(),
        InitialVariantWeight: Match.absent(),
        InitialInstanceCount: 1,
        InstanceType: 'ml.c6i.2xlarge',
        ManagedInstanceScaling: { Status: 'ENABLED', MinInstanceCount: 1, MaxInstanceCount: 3 },
        RoutingConfig: { RoutingStrategy: 'LEAST_OUTSTANDING_REQUESTS' },
      },
    ],
  });
  template.hasResourceProperties(COMPONENT, {
    InferenceComponentName: Match.stringLikeRegexp('-components-cats$'),
    VariantName: 'AllTraffic',
    Specification: {
      ModelName: { 'Fn::GetAtt': [Match.stringLikeRegexp('Cats'), 'ModelName'] },
      ComputeResourceRequirements: { NumberOfCpuCoresRequired: 2, MinMemoryRequiredInMb: 2048 },
    },
    RuntimeConfig: { CopyCount: 2 },
    DeploymentConfig: Match.absent(),
  });
  template.hasResourceProperties(COMPONENT, {
    InferenceComponentName: Match.stringLikeRegexp('-components-dogs$'),
    Specification: { ComputeResourceRequirements: { MinMemoryRequiredInMb: 1024 } },
    RuntimeConfig: { CopyCount: 1 },
  });
  // Components come when the endpoint runs what was deployed.
  for (const { DependsOn } of Object.values(template.findResources(COMPONENT))) {
    expect(DependsOn).toContainEqual(expect.stringMatching(/^EndpointDeployed/));
  }
  expect(templateProblems(template.toJSON())).toEqual([]);
});

test('the role of the endpoint reads every model, pulls every image, and writes the logs of every component', () => {
  const stack = testStack();
  endpointOf(stack);
  const template = Template.fromStack(stack);
  const [role] = Object.keys(
    template.findResources('AWS::IAM::Role', {
      Properties: { Description: 'Runs a TensorFlow model on SageMaker' },
    }),
  ).filter((id) => id.startsWith('Endpoint'));
  const policies = Object.values(template.findResources('AWS::IAM::Policy')).filter(
    ({ Properties }) => JSON.stringify(Properties.Roles) === JSON.stringify([{ Ref: role }]),
  );
  const text = JSON.stringify(policies);
  expect(text).toContain(
    'log-group:/aws/sagemaker/InferenceComponents/test-endpoint-9ca9ee48-components-*',
  );
  expect(text).toContain('ecr:BatchGetImage');
  expect(text).toContain('s3:GetObject');
});

// https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_iam-quotas.html
describe('IAM takes 10,240 characters of inline policies from a role', () => {
  const many = (stack: Stack, count: number, props: Partial<ComponentEndpointProps> = {}) =>
    endpointOf(stack, {
      components: Array.from({ length: count }, (_, i) => ({
        name: `one-${i}`,
        model: testModel(stack, { image: existingImage({ variant: 'cpu' }) }, `Model${i}`),
      })),
      ...props,
    });
  const stackWithout = () =>
    new Stack(new App({ context: { 'aws:cdk:bundling-stacks': [] } }), 'Test');
  // With the flags of `init`, and without any.
  const STACKS: readonly [string, () => Stack][] = [
    ['flags', testStack],
    ['no flags', stackWithout],
  ];

  test.each(STACKS)('16 components fit, with a key and without: %s', (_, make) => {
    const plain = make();
    many(plain, 16);
    expect(() => Template.fromStack(plain)).not.toThrow();
    const stack = make();
    const { executionRole } = many(stack, 16, {
      encryptionKey: Key.fromKeyArn(stack, 'Key', KEY_ARN),
    });
    // While an update replaces all models, the role has the policies of both revisions.
    const isData = (child: IConstruct) => child.node.id.startsWith('ReadModelData');
    const { document } = executionRole.node.children.find(isData) as Policy;
    const former = new Policy(executionRole, 'Former', { document });
    executionRole.attachInlinePolicy(former);
    const template = Template.fromStack(stack);
    const release = Object.keys(template.findResources('AWS::IAM::Policy')).filter((id) =>
      id.startsWith('EndpointLogsRelease'),
    );
    expect(release).toHaveLength(1);
    for (const { DependsOn } of Object.values(template.findResources('Custom::SageMakerLogKey'))) {
      expect(DependsOn).toEqual(expect.arrayContaining(release));
    }
  });

  test.each(STACKS)(
    '8 models in a VPC share a role and its policy for the network: %s',
    (_, make) => {
      const stack = make();
      const role = createRole(stack);
      const vpc = new Vpc(stack, 'Vpc', { natGateways: 0 }) as IVpc;
      const securityGroups = [new SecurityGroup(stack, 'Group', { vpc })];
      const vpcSubnets = { subnetType: SubnetType.PUBLIC };
      for (let i = 0; i < 8; i++) {
        testModel(stack, { role, vpc, vpcSubnets, securityGroups }, `Model${i}`);
      }
      const template = Template.fromStack(stack);
      const joins = Object.keys(template.findResources('AWS::IAM::Policy')).filter((id) =>
        id.includes('JoinNetwork'),
      );
      expect(joins).toHaveLength(1);
      for (const { DependsOn } of Object.values(template.findResources('AWS::SageMaker::Model'))) {
        expect(DependsOn).toEqual(expect.arrayContaining(joins));
      }
    },
  );

  test('a policy without statements is left to the words of the CDK', () => {
    const stack = testStack();
    const role = createRole(stack);
    new Policy(stack, 'Empty', { roles: [role] });
    testModel(stack, { role });
    expect(() => Template.fromStack(stack)).toThrow(/must contain at least one statement/);
  });

  test('what does not fit is refused at synthesis, with the number', () => {
    const stack = testStack();
    const role = createRole(stack);
    for (let i = 0; i < 30; i++) testModel(stack, { role }, `Model${i}`);
    expect(() => Template.fromStack(stack)).toThrow(
      /Test: role ModelRole\w+: its inline policies have about 1\d,\d{3} characters, and IAM takes 10,240\. Give models roles/,
    );
  });
});

test('an update keeps the number of instances that SageMaker chose', () => {
  const stack = testStack();
  endpointOf(stack);
  Template.fromStack(stack).hasResourceProperties('AWS::SageMaker::Endpoint', {
    RetainAllVariantProperties: true,
    ExcludeRetainedVariantProperties: Match.absent(),
  });
});

test('sleeps without requests, and the first that is refused wakes it', () => {
  const stack = testStack();
  const model = testModel(stack, { image: existingImage({ variant: 'cpu' }) });
  endpointOf(stack, { components: [{ name: 'cats', model, scaling: asleep }] });
  const template = Template.fromStack(stack);
  template.hasResourceProperties(CONFIG, {
    ProductionVariants: [
      {
        InitialInstanceCount: 1,
        ManagedInstanceScaling: { Status: 'ENABLED', MinInstanceCount: 0, MaxInstanceCount: 3 },
      },
    ],
  });
  template.hasResourceProperties(COMPONENT, { RuntimeConfig: { CopyCount: 1 } });
  template.hasResource(TARGET, {
    Properties: {
      ServiceNamespace: 'sagemaker',
      ScalableDimension: 'sagemaker:inference-component:DesiredCopyCount',
      ResourceId: Match.stringLikeRegexp('^inference-component/.*-components-cats$'),
      MinCapacity: 0,
      MaxCapacity: 2,
    },
    DependsOn: Match.arrayWith([Match.stringLikeRegexp('cats')]),
  });
  template.hasResourceProperties(POLICY, {
    TargetTrackingScalingPolicyConfiguration: {
      TargetValue: 4,
      PredefinedMetricSpecification: {
        PredefinedMetricType: 'SageMakerInferenceComponentConcurrentRequestsPerCopyHighResolution',
      },
    },
  });
  const [wakeUp] = Object.keys(
    template.findResources(POLICY, { Properties: { PolicyType: 'StepScaling' } }),
  );
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    Namespace: 'AWS/SageMaker',
    MetricName: 'NoCapacityInvocationFailures',
    Dimensions: [
      { Name: 'InferenceComponentName', Value: Match.stringLikeRegexp('-components-cats$') },
    ],
    Statistic: 'Sum',
    Threshold: 1,
    ComparisonOperator: 'GreaterThanOrEqualToThreshold',
    EvaluationPeriods: 1,
    AlarmActions: [{ Ref: wakeUp }],
  });
  expect(templateProblems(template.toJSON())).toEqual([]);
});

test('with a copy that stays there is no alarm that wakes', () => {
  const stack = testStack();
  const model = testModel(stack, { image: existingImage({ variant: 'cpu' }) });
  const scaling = { maxCopies: 4, target: { invocationsPerMinute: 100 } };
  endpointOf(stack, { components: [{ name: 'cats', model, scaling }] });
  const template = Template.fromStack(stack);
  template.resourceCountIs('AWS::CloudWatch::Alarm', 0);
  template.resourceCountIs(POLICY, 1);
  template.hasResourceProperties(POLICY, {
    TargetTrackingScalingPolicyConfiguration: {
      PredefinedMetricSpecification: {
        PredefinedMetricType: 'SageMakerInferenceComponentInvocationsPerCopy',
      },
    },
  });
});

test('copies are replaced in batches, and 5xx answers undo it', () => {
  const stack = testStack();
  const endpoint = endpointOf(stack, { update: { percent: 25, wait: Duration.minutes(2) } });
  const template = Template.fromStack(stack);
  const { alarmName } = stack.resolve({
    alarmName: endpoint.rollbackAlarms[0]?.alarmName,
  }) as { alarmName: unknown };
  template.hasResourceProperties(COMPONENT, {
    DeploymentConfig: {
      RollingUpdatePolicy: {
        MaximumBatchSize: { Type: 'CAPACITY_PERCENT', Value: 25 },
        WaitIntervalInSeconds: 120,
      },
      AutoRollbackConfiguration: { Alarms: [{ AlarmName: alarmName }] },
    },
  });
  template.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: Match.arrayWith([Match.objectLike({ Action: 'cloudwatch:DescribeAlarms' })]),
    },
  });
  expect(templateProblems(template.toJSON())).toEqual([]);
});

test('an image for GPUs takes a GPU for each copy, and the host image suits it', () => {
  const stack = testStack();
  endpointOf(stack, {
    components: [{ name: 'cats', model: testModel(stack) }],
    instances: { instanceType: 'ml.g5.12xlarge', maxInstances: 1 },
  });
  const template = Template.fromStack(stack);
  template.hasResourceProperties(COMPONENT, {
    Specification: { ComputeResourceRequirements: { NumberOfAcceleratorDevicesRequired: 1 } },
  });
  template.hasResourceProperties(CONFIG, {
    ProductionVariants: [Match.objectLike({ InferenceAmiVersion: Match.anyValue() })],
  });
});

test('not enabled, it keeps everything but the endpoint and its components', () => {
  const stack = testStack();
  endpointOf(stack, { enabled: false });
  const template = Template.fromStack(stack);
  template.resourceCountIs('AWS::SageMaker::Endpoint', 0);
  template.resourceCountIs(COMPONENT, 0);
  template.resourceCountIs(CONFIG, 1);
});

test('who may ask the endpoint may ask each component', () => {
  const stack = testStack();
  const endpoint = endpointOf(stack);
  endpoint.grantInvoke(endpoint.executionRole);
  const text = JSON.stringify(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
  expect(text).toMatch(/inference-component\/test-endpoint-\w+-components-cats/);
});

test('the dashboard and the alarms are of each component', () => {
  const stack = testStack();
  const monitoring = new ComponentMonitoring(stack, 'Monitoring', { endpoint: endpointOf(stack) });
  expect(monitoring.alarms).toHaveLength(6);
  const template = Template.fromStack(stack);
  const [dashboard] = Object.values(template.findResources('AWS::CloudWatch::Dashboard'));
  const body = JSON.stringify(dashboard);
  expect(body).toContain('## Component cats');
  expect(body).toContain('NoCapacityInvocationFailures');
  expect(body).toContain('MemoryUtilizationNormalized');
  expect(templateProblems(template.toJSON())).toEqual([]);
});

test('the smoke test asks each component by name, and samples that name one only that', () => {
  const stack = testStack();
  const samples = [
    { name: 'all', file: 'package.json', contentType: 'text/plain' },
    { name: 'one', file: 'package.json', contentType: 'text/plain', component: 'dogs' },
  ];
  new SmokeTest(stack, 'SmokeTest', { endpoint: endpointOf(stack), samples });
  const template = Template.fromStack(stack);
  const [{ Properties } = { Properties: {} }] = Object.values(
    template.findResources('Custom::SageMakerSmokeTest'),
  );
  const plan = JSON.stringify(Properties.Plan);
  expect(plan).toMatch(/componentName\\+":\\+"test-endpoint-\w+-components-cats/);
  expect(plan).toMatch(/component\\+":\\+"dogs/);
  const wrong = [{ ...samples[0], name: 'x', component: 'birds' }] as typeof samples;
  const other = testStack();
  expect(
    () => new SmokeTest(other, 'Wrong', { endpoint: endpointOf(other), samples: wrong }),
  ).toThrow(/samples\[0\]\.component: there is no component 'birds'. Known: cats, dogs/);
});

describe('refuses what SageMaker would', () => {
  const model = (stack: Stack) => testModel(stack, { image: existingImage({ variant: 'cpu' }) });
  const one = (component: object) => () => {
    const stack = testStack();
    endpointOf(stack, { components: [{ name: 'a', model: model(stack), ...component }] });
  };
  test.each([
    ['no component', refused({ components: [] }), /components: none given/],
    ['a long name', one({ name: 'x'.repeat(23) }), /components\[0\]\.name: .* at most 22/],
    ['little memory', one({ memory: Size.mebibytes(64) }), /components\[0\]\.memory: 64 is out/],
    [
      'more CPUs than an instance has',
      one({ cpus: 9 }),
      /components\[0\]\.cpus: 9 never fit: ml\.c6i\.2xlarge has 8 vCPUs and 16 GiB/,
    ],
    [
      'all of its memory',
      one({ memory: Size.gibibytes(16) }),
      /components\[0\]\.memory: 16384 MiB never fit/,
    ],
    ['a bit of a CPU', one({ cpus: 0.1 }), /components\[0\]\.cpus: 0\.1 is out/],
    [
      'half a GPU',
      one({ accelerators: 0.5 }),
      /components\[0\]\.accelerators: 0\.5 is not a whole/,
    ],
    ['a GPU of a CPU type', one({ accelerators: 1 }), /ml\.c6i\.2xlarge has no accelerators/],
    [
      'more copies than scaling allows',
      one({ copies: 3, scaling: asleep }),
      /components\[0\]\.copies: 3, and scaling keeps 0 to 2/,
    ],
    [
      'fewest above most',
      one({ scaling: { ...asleep, minCopies: 3 } }),
      /components\[0\]\.scaling\.minCopies: 3 is more than maxCopies, 2/,
    ],
    [
      'small batches',
      refused({ update: { percent: 2, wait: Duration.minutes(1) } }),
      /update\.percent: 2 is out of range/,
    ],
    [
      'fewest instances above most',
      refused({ instances: { minInstances: 4, maxInstances: 2 } }),
      /instances\.minInstances: 4 is out of range/,
    ],
    ['a long endpoint name', refused({ endpointName: 'x'.repeat(60) }), /at most 63/],
    ['no model', one({ model: undefined }), /components\[0\]\.model: missing/],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(message);
  });

  test('two of one name, and models that differ in network isolation', () => {
    const stack = testStack();
    const cats = { name: 'cats', model: model(stack) };
    expect(() => endpointOf(stack, { components: [cats, cats] })).toThrow(/'cats' is used twice/);
    const other = testStack();
    const image = existingImage({ variant: 'cpu' });
    const open = testModel(other, { image, networkIsolation: false }, 'Open');
    const closed = { name: 'closed', model: model(other) };
    expect(() =>
      endpointOf(other, { components: [{ name: 'open', model: open }, closed] }),
    ).toThrow(/some models have network isolation and some have not/);
  });
});

test('the data of a model that is there already must be granted', () => {
  const stack = testStack();
  const model = TensorFlowModel.fromModelName(stack, 'Known', 'known');
  endpointOf(stack, { components: [{ name: 'cats', model }] });
  Annotations.fromStack(stack).hasWarning('*', Match.stringLikeRegexp('known are not known here'));
});

describe('in a configuration', () => {
  const uri = '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1';
  function stackOf(endpoint: object, model: object = {}): Template {
    const app = testApp();
    const image = { uri, variant: 'cpu' as const };
    const models = { m: { model: MODEL_DIR, ...model, endpoint } };
    addServingStacks(app, parseConfig({ image, models }, 'test'));
    return Template.fromStack(app.node.findChild('tensorflow-m') as Stack);
  }
  const base = { instanceType: 'ml.c6i.2xlarge', managedInstances: { maxInstances: 2 } };

  describe('a sample that names a component is tried on the package that this component serves, and on no other', () => {
    const OTHER = 'test/fixtures/models/keras_functional';
    const file = 'package.json';
    const sample = { file, contentType: 'application/json' };
    /** The packages of an endpoint of the components `a` and `b`: the model, and the names of the samples that it is tried with. */
    function packagesOf(own: object, more: object = {}) {
      const samples = ['a', 'b', undefined].map((component) => ({
        ...{ name: component ?? 'all', component },
        ...{ ...sample, customAttributes: component ?? 'all' },
      }));
      const components = [{ name: 'a' }, { name: 'b', ...own }];
      const endpoint = { ...base, components, smokeTest: { samples } };
      const models = { m: { model: MODEL_DIR, ...more, endpoint } };
      const vpc = {
        ...{ vpcId: 'vpc-1', availabilityZones: ['us-east-1a'] },
        ...{ subnetIds: ['subnet-1'], securityGroupIds: ['sg-1'] },
      };
      const made = jest.spyOn(ModelData, 'fromDirectory');
      const image = { uri, variant: 'cpu' as const };
      addServingStacks(testApp(), parseConfig({ image, models, vpc }, 'test'));
      const found = made.mock.calls.map(([model, options]) => [
        model === OTHER ? 'other' : 'configured',
        options?.samples?.map((one) => typeof one === 'object' && one.customAttributes),
      ]);
      made.mockRestore();
      return found;
    }
    const batch = { contentType: 'text/csv' };

    test.each<[string, own: object, more: object, packages: unknown]>([
      ['one package of both', { cpus: 1 }, {}, [['configured', ['a', 'b', 'all']]]],
      [
        'another model',
        { model: OTHER },
        {},
        [
          ['configured', ['a', 'all']],
          ['other', ['b', 'all']],
        ],
      ],
      [
        'the same model with other variables',
        { environment: { A: 'b' } },
        {},
        [
          ['configured', ['a', 'all']],
          ['configured', ['b', 'all']],
        ],
      ],
      ['a model in S3', { archive: 's3://models/b.tar.gz' }, {}, [['configured', ['a', 'all']]]],
      [
        'batch transform and workers beside them',
        { model: OTHER },
        { batch, batchWorker: { workers: 1 }, networkIsolation: false },
        [
          ['configured', ['a', 'all']],
          ['other', ['b', 'all']],
          ['configured', ['a', 'all']],
          ['configured', ['a', 'all']],
        ],
      ],
    ])('%s', (_, own, more, packages) => {
      expect(packagesOf(own, more)).toEqual(packages);
    });
  });

  test('components with models of their own, and the model of the configuration', () => {
    const template = stackOf({
      ...base,
      startupTimeoutSeconds: 600,
      deployment: { traffic: { type: 'rolling', percent: 50, waitSeconds: 60 } },
      alarmEmail: 'a@example.com',
      metrics: { enhanced: true },
      smokeTest: {
        samples: [{ name: 's', file: 'package.json', contentType: 'text/plain', component: 'b' }],
      },
      components: [
        { name: 'a', cpus: 1, memoryMiB: 4096, scaling: asleep },
        { name: 'b', archive: 's3://models/b.tar.gz', scaling: asleep, startupTimeoutSeconds: 900 },
      ],
    });
    template.resourceCountIs('AWS::SageMaker::Model', 2);
    template.hasResourceProperties(COMPONENT, {
      Specification: {
        ComputeResourceRequirements: { MinMemoryRequiredInMb: 4096, NumberOfCpuCoresRequired: 1 },
        StartupParameters: { ContainerStartupHealthCheckTimeoutInSeconds: 600 },
      },
    });
    template.hasResourceProperties(COMPONENT, {
      Specification: { StartupParameters: { ContainerStartupHealthCheckTimeoutInSeconds: 900 } },
    });
    template.hasResourceProperties(CONFIG, {
      ProductionVariants: [
        Match.objectLike({
          ManagedInstanceScaling: { Status: 'ENABLED', MinInstanceCount: 0, MaxInstanceCount: 2 },
        }),
      ],
      MetricsConfig: { EnableEnhancedMetrics: true },
    });
    expect(Object.keys(template.findOutputs('*'))).toEqual(
      expect.arrayContaining(['ComponentAName', 'ComponentBInvokeCommand', 'EndpointName']),
    );
    expect(templateProblems(template.toJSON())).toEqual([]);
  });

  test.each([
    [
      'an image stack for the components',
      { ...base, components: [{ name: 'a' }], dataCapturePercent: 5 },
      /models\.m\.endpoint\.dataCapturePercent: not offered here together with 'components'/,
    ],
    ['no number of instances', { components: [{ name: 'a' }] }, /managedInstances: missing/],
    [
      'instances of no component',
      { managedInstances: { maxInstances: 2 } },
      /managedInstances: given without 'components'/,
    ],
    [
      'what only the construct finds',
      { ...base, instanceType: 'ml.c6i.nothing', components: [{ name: 'a' }] },
      /models\.m\.endpoint\.instanceType: 'ml\.c6i\.nothing' is not an instance type/,
    ],
  ])('%s', (_, endpoint, message) => {
    expect(() => stackOf(endpoint)).toThrow(message);
  });
});
