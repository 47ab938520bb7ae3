/** Endpoints: what each feature becomes in CloudFormation. */
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { Alarm, AlarmRule, CompositeAlarm, type IAlarm, Metric } from 'aws-cdk-lib/aws-cloudwatch';
import { type IRole, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Duration, Size, type Stack } from 'aws-cdk-lib/core';
import {
  AwsCustomResource,
  AwsCustomResourcePolicy,
  PhysicalResourceId,
} from 'aws-cdk-lib/custom-resources';
import {
  type DeploymentProps,
  EndpointMonitoring,
  RealtimeEndpoint,
  type RealtimeEndpointProps,
  SmokeTest,
  type VariantProps,
} from '../../lib/index.ts';
import { existingImage, masked, testModel, testStack } from '../support/stacks.ts';

const bucketOf = (stack: Stack): IBucket => Bucket.fromBucketName(stack, 'Bucket', 'data');

function endpointWith(
  variant: Partial<VariantProps>,
  props: (stack: Stack) => Partial<RealtimeEndpointProps> = () => ({}),
): { template: Template } {
  const stack = testStack();
  const variants = [{ model: testModel(stack), ...variant }];
  new RealtimeEndpoint(stack, 'Endpoint', { variants, ...props(stack) });
  return { template: Template.fromStack(stack) };
}

const assumedBy = new ServicePrincipal('sagemaker.amazonaws.com');
const OWN_ALARM = Alarm.fromAlarmName(testStack(), 'Own', 'own');
const CONFIG = 'AWS::SageMaker::EndpointConfig';
const ENDPOINT = 'AWS::SageMaker::Endpoint';

test('everything at once', () => {
  const stack = testStack();
  const model = testModel(stack);
  const topic = new Topic(stack, 'Topic');
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [
      {
        model,
        instanceType: 'ml.p3.2xlarge',
        instanceCount: 2,
        volumeSize: Size.gibibytes(64),
        modelDataDownloadTimeout: Duration.minutes(10),
        containerStartupHealthCheckTimeout: Duration.minutes(15),
        routing: 'random',
        scaling: { minInstances: 2, maxInstances: 8, target: { concurrentRequests: 4 } },
      },
    ],
    shadowVariant: {
      model: testModel(stack, {}, 'Candidate'),
      variantName: 'candidate',
      instanceType: 'ml.p3.2xlarge',
      weight: 0.5,
    },
    dataCapture: { bucket: bucketOf(stack), samplingPercentage: 5 },
    deployment: {
      traffic: { type: 'linear', percent: 50, wait: Duration.minutes(5) },
      bakeTime: Duration.minutes(10),
      timeout: Duration.hours(2),
      modelLatencyP90: Duration.millis(500),
    },
    volumeKey: new Key(stack, 'Key'),
  });
  new EndpointMonitoring(stack, 'Monitoring', { endpoint, alarmTopic: topic });
  expect(masked(Template.fromStack(stack).toJSON())).toMatchSnapshot();
});

test('a frequency of metrics that SageMaker does not take is refused', () => {
  expect(() => endpointWith({}, () => ({ metricsConfig: { frequencySeconds: 15 } }))).toThrow(
    /metricsConfig\.frequencySeconds.*15.*10, 30, 60/s,
  );
});

test('a time of a schedule that has passed is warned of', () => {
  const warnings = (when: string, timeZone?: string) => {
    const entry = { when, maxInstances: 4, ...(timeZone && { timeZone }) };
    const target = { invocationsPerMinute: 600 };
    const stack = testStack();
    const scaling = { maxInstances: 4, target, schedule: [entry] };
    new RealtimeEndpoint(stack, 'Endpoint', { variants: [{ model: testModel(stack), scaling }] });
    const says = Match.stringLikeRegexp('schedule\\[0\\]\\.when: .* has passed');
    return Annotations.fromStack(stack).findWarning('*', says).length;
  };
  const at = (hours: number) =>
    `at(${new Date(Date.now() + hours * 3_600_000).toISOString().slice(0, 19)})`;
  expect(warnings('at(2020-01-01T00:00:00)')).toBe(1);
  expect(warnings('at(2020-01-01T00:00:00)', 'Europe/Berlin')).toBe(1);
  expect(warnings(at(-2))).toBe(1);
  // Where it is still to come.
  expect(warnings(at(-2), 'America/Los_Angeles')).toBe(0);
  expect(warnings(at(2))).toBe(0);
  expect(warnings('cron(0 8 ? * * *)')).toBe(0);
});

test('an update keeps the number of instances that autoscaling chose, and nothing else', () => {
  const scaling = { maxInstances: 4, target: { invocationsPerMinute: 600 } };
  const { template } = endpointWith({ scaling });
  template.hasResourceProperties(ENDPOINT, {
    RetainAllVariantProperties: true,
    // AWS calls DataCaptureConfig, the third, 'Not currently supported'.
    ExcludeRetainedVariantProperties: [{ VariantPropertyType: 'DesiredWeight' }],
  });
  template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', {
    ScalableDimension: 'sagemaker:variant:DesiredInstanceCount',
    MinCapacity: 1,
    MaxCapacity: 4,
  });
  template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalingPolicy', {
    TargetTrackingScalingPolicyConfiguration: {
      TargetValue: 600,
      PredefinedMetricSpecification: {
        PredefinedMetricType: 'SageMakerVariantInvocationsPerInstance',
      },
    },
  });
});

test.each([
  [0, 1],
  [1, 1],
  [3, 3],
])(
  'an update of an asynchronous endpoint with at least %i instances starts %i, which prove the new model',
  (minInstances, InitialInstanceCount) => {
    const scaling = { minInstances, maxInstances: 4, target: { backlog: 5 } };
    const { template } = endpointWith({ scaling }, (stack) => ({
      asyncInference: { outputBucket: new Bucket(stack, 'Answers') },
    }));
    // The fleet that is deployed may have no instances, whatever the new limits are.
    template.hasResourceProperties(ENDPOINT, {
      RetainAllVariantProperties: false,
      ExcludeRetainedVariantProperties: Match.absent(),
    });
    template.hasResourceProperties(CONFIG, {
      ProductionVariants: [Match.objectLike({ InitialInstanceCount })],
    });
  },
);

test('an endpoint that sleeps is not woken without autoscaling', () => {
  const warned = (limits: object, registered?: boolean, name?: string) => {
    const stack = testStack();
    const scaling = { maxInstances: 4, target: { backlog: 5 }, ...limits };
    const own = registered === undefined ? {} : { registered };
    new RealtimeEndpoint(stack, 'Endpoint', {
      variants: [{ model: testModel(stack), scaling: { ...scaling, ...own } }],
      asyncInference: { outputBucket: new Bucket(stack, 'Answers') },
      ...(name && { endpointName: name }),
    });
    const wakes = `--endpoint-name ${name ?? '.*'} --desired-weights-and-capacities VariantName=AllTraffic,`;
    const says = Match.stringLikeRegexp(wakes);
    return Annotations.fromStack(stack).findWarning('*', says).length;
  };
  const atNight = { schedule: [{ when: 'cron(0 20 ? * * *)', minInstances: 0 }] };
  expect(warned({ minInstances: 0 }, false, 'tiles')).toBe(1);
  expect(warned(atNight, false)).toBe(1);
  expect(warned({ minInstances: 1 }, false)).toBe(0);
  expect(warned({ minInstances: 0 })).toBe(0);
});

test('limits by the clock', () => {
  const { template } = endpointWith({
    scaling: {
      minInstances: 1,
      maxInstances: 8,
      target: { concurrentRequests: 4 },
      schedule: [
        { when: 'cron(0 8 ? * MON-FRI *)', timeZone: 'Europe/Berlin', minInstances: 4 },
        { when: 'cron(0 20 ? * * *)', timeZone: 'Europe/Berlin', maxInstances: 2 },
        { when: 'at(2026-12-24T18:00:00)' },
      ],
    },
  });
  const action = (place: number, Schedule: string, Timezone: string, min: number, max: number) => ({
    ScheduledActionName: `schedule-${place}`,
    Schedule,
    Timezone,
    ScalableTargetAction: { MinCapacity: min, MaxCapacity: max },
  });
  template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', {
    MinCapacity: 1,
    MaxCapacity: 8,
    ScheduledActions: [
      action(0, 'cron(0 8 ? * MON-FRI *)', 'Europe/Berlin', 4, 8),
      action(1, 'cron(0 20 ? * * *)', 'Europe/Berlin', 1, 2),
      action(2, 'at(2026-12-24T18:00:00)', 'UTC', 1, 8),
    ],
  });
});

test('a queue that may have no instance at night wakes one', () => {
  const { template } = endpointWith(
    {
      scaling: {
        maxInstances: 3,
        target: { backlog: 5 },
        schedule: [{ when: 'cron(0 20 ? * * *)', minInstances: 0 }],
      },
    },
    (stack) => ({ asyncInference: { outputBucket: bucketOf(stack) } }),
  );
  template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalingPolicy', {
    PolicyType: 'StepScaling',
  });
});

test('a fleet that is one instance at night moves all at once', () => {
  const traffic = { type: 'canary' as const, percent: 50, wait: Duration.minutes(5) };
  const scaling = {
    minInstances: 2,
    maxInstances: 4,
    target: { concurrentRequests: 4 },
    schedule: [{ when: 'cron(0 20 ? * * *)', minInstances: 1 }],
  };
  expect(() =>
    endpointWith({ scaling, instanceCount: 2 }, () => ({ deployment: { traffic } })),
  ).toThrow(/deployment\.traffic: 'canary' moves part of a fleet/);
});

test('without the endpoint all else stays, under the same names', () => {
  const scaling = { maxInstances: 4, target: { invocationsPerMinute: 600 } };
  const made = (enabled: boolean) => {
    const stack = testStack();
    const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
      variants: [{ model: testModel(stack), scaling }],
      enabled,
    });
    new EndpointMonitoring(stack, 'Monitoring', { endpoint });
    return { stack, endpoint, resources: Template.fromStack(stack).toJSON().Resources };
  };
  const [on, off] = [made(true), made(false)];
  expect(off.endpoint.endpointName).toBe(on.endpoint.endpointName);
  const gone = Object.keys(on.resources).filter((id) => !(id in off.resources));
  expect(new Set(gone.map((id) => on.resources[id].Type))).toEqual(
    new Set([
      ENDPOINT,
      'AWS::ApplicationAutoScaling::ScalableTarget',
      'AWS::ApplicationAutoScaling::ScalingPolicy',
      'Custom::SageMakerDeployedConfiguration',
      // Of the check.
      'AWS::IAM::Role',
      'AWS::IAM::Policy',
      'AWS::Lambda::Function',
      'AWS::Logs::LogGroup',
    ]),
  );
  for (const [id, resource] of Object.entries(off.resources)) {
    expect(on.resources[id]).toEqual(resource);
  }
  expect(() => off.endpoint.endpoint).toThrow(/enabled: there is no endpoint/);
  expect(
    () => new SmokeTest(off.stack, 'SmokeTest', { endpoint: off.endpoint, samples: [] }),
  ).toThrow(/endpoint: it is not enabled/);
});

test('a variant without scaling beside one that scales is warned of: its count can no longer change', () => {
  const scaling = { maxInstances: 4, target: { invocationsPerMinute: 600 } };
  const stack = testStack();
  const model = testModel(stack);
  const variants = ['a', 'b'].map((variantName) => ({ model, variantName, weight: 1 }));
  const endpoint = (id: string) => new RealtimeEndpoint(stack, id, { variants });
  endpoint('None');
  endpoint('One').autoScaleInstanceCount(scaling, 'b');
  const both = endpoint('Both');
  for (const name of ['a', 'b']) both.autoScaleInstanceCount(scaling, name);
  const says = Match.stringLikeRegexp("'a' has no scaling");
  const found = Annotations.fromStack(stack).findWarning('*', says);
  expect(found.map(({ id }) => id)).toEqual(['/Test/One']);
});

test('alarms may use the key of the topic that they tell', () => {
  const stack = testStack();
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model: testModel(stack) }],
  });
  const alarmTopic = new Topic(stack, 'Topic', { masterKey: new Key(stack, 'Key') });
  new EndpointMonitoring(stack, 'Monitoring', { endpoint, alarmTopic });
  Template.fromStack(stack).hasResourceProperties('AWS::KMS::Key', {
    KeyPolicy: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Action: Match.arrayWith(['kms:Decrypt', 'kms:GenerateDataKey*']),
          Principal: { Service: 'cloudwatch.amazonaws.com' },
        }),
      ]),
    },
  });
});

test('without autoscaling the configuration decides the number of instances', () => {
  endpointWith({ instanceCount: 3 }).template.hasResourceProperties(ENDPOINT, {
    RetainAllVariantProperties: false,
    ExcludeRetainedVariantProperties: Match.absent(),
  });
});

test('an update is rolled back by alarms that exist before the endpoint', () => {
  const { template } = endpointWith({});
  const [alarm = ''] = Object.keys(template.findResources('AWS::CloudWatch::Alarm'));
  template.hasResourceProperties(ENDPOINT, {
    DeploymentConfig: {
      AutoRollbackConfiguration: { Alarms: [{ AlarmName: { Ref: alarm } }] },
      BlueGreenUpdatePolicy: { TrafficRoutingConfiguration: { Type: 'ALL_AT_ONCE' } },
    },
  });
});

test('rollback alarms count the new fleet alone: the old one may be what the update mends', () => {
  const latency = { deployment: { modelLatencyP90: Duration.seconds(1) } };
  const { template } = endpointWith({}, () => latency);
  const [config = ''] = Object.keys(template.findResources(CONFIG));
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
  expect(alarms).toHaveLength(2);
  for (const { Properties } of alarms) {
    expect(Properties.Dimensions).toContainEqual({
      Name: 'EndpointConfigName',
      Value: { 'Fn::GetAtt': [config, 'EndpointConfigName'] },
    });
  }
});

describe('the grant to read rollback alarms', () => {
  const arn = (account: string, path = '') => `arn:aws:iam::${account}:role/${path}theirs`;
  const withRole = (roleOf: (stack: Stack) => IRole) => {
    const stack = testStack();
    const model = testModel(stack, { role: roleOf(stack) });
    new RealtimeEndpoint(stack, 'Endpoint', { variants: [{ model }] });
    const policies = Template.fromStack(stack).findResources('AWS::IAM::Policy');
    const roles = Object.values(policies)
      .filter((policy) => JSON.stringify(policy).includes('cloudwatch:DescribeAlarms'))
      .map(({ Properties }) => Properties.Roles);
    const warnings = Annotations.fromStack(stack).findWarning(
      '*',
      Match.stringLikeRegexp('theirs takes no policies.*cloudwatch:DescribeAlarms on every alarm'),
    );
    return { roles, warnings: warnings.length };
  };

  test.each([
    ['of the app', (s: Stack) => new Role(s, 'R', { assumedBy }), [[{ Ref: expect.any(String) }]]],
    ['imported', (s: Stack) => Role.fromRoleArn(s, 'R', arn(s.account)), [['theirs']]],
    ['under a path', (s: Stack) => Role.fromRoleArn(s, 'R', arn(s.account, 'a/b/')), [['theirs']]],
  ])('is attached to a role %s', (_, roleOf, roles) => {
    expect(withRole(roleOf)).toEqual({ roles, warnings: 0 });
  });

  test('leaves a role alone that takes no policies, and says what it needs', () => {
    const immutable = (s: Stack) => Role.fromRoleArn(s, 'R', arn(s.account), { mutable: false });
    expect(withRole(immutable)).toEqual({ roles: [], warnings: 1 });
  });
});

test('every model role may read every rollback alarm before the endpoint is updated', () => {
  const stack = testStack();
  const theirs = new Alarm(stack, 'Theirs', {
    metric: new Metric({ namespace: 'Orders', metricName: 'Failed' }),
    threshold: 1,
    evaluationPeriods: 1,
  });
  new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model: testModel(stack) }],
    shadowVariant: { model: testModel(stack, {}, 'Candidate'), variantName: 'candidate' },
    deployment: { rollbackAlarms: [theirs] },
  });
  const template = Template.fromStack(stack);
  const alarms = Object.keys(template.findResources('AWS::CloudWatch::Alarm'));
  const policies = Object.entries(template.findResources('AWS::IAM::Policy')).filter(([, policy]) =>
    JSON.stringify(policy).includes('cloudwatch:DescribeAlarms'),
  );
  expect(policies).toHaveLength(1);
  const [id = '', policy] = policies[0] ?? [];
  expect(policy?.Properties.PolicyDocument.Statement).toEqual([
    {
      Action: 'cloudwatch:DescribeAlarms',
      Effect: 'Allow',
      Resource: expect.arrayContaining(
        alarms.map((alarm) => ({
          'Fn::Join': ['', expect.arrayContaining([':cloudwatch:', ':alarm:', { Ref: alarm }])],
        })),
      ),
    },
  ]);
  expect(policy?.Properties.Roles).toHaveLength(2);
  template.hasResource(ENDPOINT, { DependsOn: Match.arrayWith([id]) });
});

test.each<[string, (stack: Stack) => IAlarm]>([
  [
    'composite',
    (stack) => new CompositeAlarm(stack, 'Any', { alarmRule: AlarmRule.fromBoolean(false) }),
  ],
  ['imported', (stack) => CompositeAlarm.fromCompositeAlarmName(stack, 'Any', 'any')],
])('with a %s alarm the role may read all alarms, as CloudWatch asks', (_, alarmIn) => {
  const { template } = endpointWith({}, (stack) => ({
    deployment: { rollbackAlarms: [alarmIn(stack)] },
  }));
  template.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: [{ Action: 'cloudwatch:DescribeAlarms', Effect: 'Allow', Resource: '*' }],
    },
  });
});

test.each<[number, DeploymentProps, RegExp]>([
  [8, { modelLatencyP90: Duration.millis(90) }, /16 alarms, .*takes 10\. Leave out modelLatency/],
  [10, { rollbackAlarms: [OWN_ALARM] }, /11 alarms, .*takes 10\. Use fewer variants, or combine/],
])('too many alarms of %i variants: the error says what helps', (count, deployment, message) => {
  const stack = testStack();
  const model = testModel(stack);
  const variants = Array.from({ length: count }, (_, i) => ({ model, variantName: `v${i}` }));
  expect(() => new RealtimeEndpoint(stack, 'Endpoint', { variants, deployment })).toThrow(message);
});

test('an alarm that sounds for the old fleet is not the alarm of the new one', () => {
  const { template } = endpointWith({}, () => ({
    deployment: { modelLatencyP90: Duration.millis(9) },
  }));
  const [config = ''] = Object.keys(template.findResources(CONFIG));
  const fleet = { 'Fn::GetAtt': [config, 'EndpointConfigName'] };
  for (const suffix of ['server-errors', 'model-latency']) {
    // CloudFormation gives every configuration another name, and so another alarm.
    const AlarmName = { 'Fn::Join': ['', [fleet, `-AllTraffic-${suffix}`]] };
    template.hasResourceProperties('AWS::CloudWatch::Alarm', { AlarmName });
  }
});

test.each<[string, Partial<RealtimeEndpointProps>, string]>([
  ['three months', {}, 'putRetentionPolicy.*"retentionInDays":90'],
  ['a week', { logRetention: RetentionDays.ONE_WEEK }, 'putRetentionPolicy.*"retentionInDays":7'],
  ['ever', { logRetention: RetentionDays.INFINITE }, 'deleteRetentionPolicy'],
])('logs are kept for %s before the endpoint writes one', (_, props, call) => {
  const { template } = endpointWith({}, () => ({ endpointName: 'mine', ...props }));
  const [id = '', found] =
    Object.entries(template.findResources('Custom::SageMakerLogRetention'))[0] ?? [];
  const Update = String(found?.Properties.Update);
  expect(Update).toMatch(new RegExp(call));
  expect(Update).toContain('"logGroupName":"/aws/sagemaker/Endpoints/mine"');
  // The group empties itself after the stack is gone.
  expect(found?.Properties.Delete).toBeUndefined();
  template.hasResource(ENDPOINT, { DependsOn: Match.arrayWith([id]) });
});

test("two endpoints' logs are under the key of the construct, by one function", () => {
  const stack = testStack();
  for (const id of ['A', 'B']) {
    const encryptionKey = Key.fromKeyArn(
      stack,
      `Key${id}`,
      'arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef',
    );
    new RealtimeEndpoint(stack, id, {
      variants: [{ model: testModel(stack, {}, `M${id}`) }],
      encryptionKey,
    });
  }
  const template = Template.fromStack(stack);
  const keys = Object.values(template.findResources('Custom::SageMakerLogKey'));
  expect(keys).toHaveLength(2);
  expect(JSON.stringify(keys)).toContain('key/01234567');
  const functions = Object.keys(template.findResources('AWS::Lambda::Function'));
  expect(functions.filter((id) => id.startsWith('AWS679f'))).toHaveLength(1);
});

/** A custom resource of the app's own, which shares the CDK's one function with the endpoint's. */
function foreignCustomResource(stack: Stack): void {
  new AwsCustomResource(stack, 'Foreign', {
    onUpdate: {
      service: 'STS',
      action: 'getCallerIdentity',
      physicalResourceId: PhysicalResourceId.of('foreign'),
    },
    policy: AwsCustomResourcePolicy.fromSdkCalls({
      resources: AwsCustomResourcePolicy.ANY_RESOURCE,
    }),
    installLatestAwsSdk: false,
  });
}

test.each(['before', 'after'])(
  "the function may set expiry and key with a custom resource of the app's own %s the endpoint",
  (when) => {
    const stack = testStack();
    if (when === 'before') foreignCustomResource(stack);
    const encryptionKey = new Key(stack, 'Key');
    const variants = [{ model: testModel(stack) }];
    new RealtimeEndpoint(stack, 'Endpoint', { variants, encryptionKey });
    if (when === 'after') foreignCustomResource(stack);
    const template = Template.fromStack(stack);
    const functions = Object.entries(template.findResources('AWS::Lambda::Function')).filter(
      ([id]) => id.startsWith('AWS679f'),
    );
    expect(functions).toHaveLength(1);
    const [roleId] = functions.map(([, { Properties }]) => Properties.Role['Fn::GetAtt'][0]);
    const policies = Object.entries(template.findResources('AWS::IAM::Policy')).filter(
      ([, { Properties }]) => Properties.Roles.some(({ Ref }: { Ref: string }) => Ref === roleId),
    );
    const holders = (action: string) =>
      policies
        .filter(([, { Properties }]) =>
          Properties.PolicyDocument.Statement.some(({ Action }: { Action: string | string[] }) =>
            [Action].flat().includes(action),
          ),
        )
        .map(([id]) => id);
    const { DependsOn: onGroup } = Object.values(
      template.findResources('Custom::SageMakerLogGroup'),
    )[0] as { DependsOn: string[] };
    for (const action of [
      'logs:CreateLogGroup',
      'logs:PutRetentionPolicy',
      'logs:AssociateKmsKey',
      'kms:GenerateDataKey',
    ]) {
      const [holder = `nobody may ${action}`] = holders(action);
      expect(onGroup).toContain(holder);
    }
    // Under another name, a policy of the old group's own still lets it go.
    const { DependsOn: onKey } = Object.values(
      template.findResources('Custom::SageMakerLogKey'),
    )[0] as { DependsOn: string[] };
    const release = holders('logs:DisassociateKmsKey').filter((id) => id.includes('Release'));
    expect(release).toHaveLength(1);
    expect(onKey).toEqual(expect.arrayContaining(release));
  },
);

test('an endpoint fails the deployment where SageMaker went back to the old configuration', () => {
  const { template } = endpointWith({});
  const [config = ''] = Object.keys(template.findResources(CONFIG));
  const [endpoint = ''] = Object.keys(template.findResources(ENDPOINT));
  const checks = template.findResources('Custom::SageMakerDeployedConfiguration');
  const [check] = Object.values(checks);
  expect(JSON.stringify(check?.Properties.Plan)).toContain(config);
  expect(check?.DependsOn).toContain(endpoint);
});

test('canary and rolling updates', () => {
  const shift = { percent: 25, wait: Duration.minutes(2) };
  const canary = endpointWith({ instanceCount: 4 }, () => ({
    deployment: { traffic: { type: 'canary', ...shift } },
  }));
  canary.template.hasResourceProperties(ENDPOINT, {
    DeploymentConfig: {
      BlueGreenUpdatePolicy: {
        TrafficRoutingConfiguration: {
          Type: 'CANARY',
          CanarySize: { Type: 'CAPACITY_PERCENT', Value: 25 },
          WaitIntervalInSeconds: 120,
        },
      },
    },
  });
  const rolling = endpointWith({ instanceCount: 4 }, () => ({
    deployment: { traffic: { type: 'rolling', ...shift } },
  }));
  rolling.template.hasResourceProperties(ENDPOINT, {
    DeploymentConfig: {
      RollingUpdatePolicy: {
        MaximumBatchSize: { Type: 'CAPACITY_PERCENT', Value: 25 },
        WaitIntervalInSeconds: 120,
      },
    },
  });
});

test('an asynchronous endpoint sleeps without requests and wakes with the first', () => {
  const { template } = endpointWith(
    { scaling: { minInstances: 0, maxInstances: 3, target: { backlog: 5 } } },
    (stack) => ({
      asyncInference: {
        outputBucket: bucketOf(stack),
        errorTopic: new Topic(stack, 'Errors'),
        maxConcurrentInvocationsPerInstance: 4,
      },
    }),
  );
  template.hasResourceProperties(CONFIG, {
    AsyncInferenceConfig: {
      ClientConfig: { MaxConcurrentInvocationsPerInstance: 4 },
      OutputConfig: { NotificationConfig: { ErrorTopic: Match.anyValue() } },
    },
  });
  template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', { MinCapacity: 0 });
  template.hasResourceProperties('AWS::ApplicationAutoScaling::ScalingPolicy', {
    PolicyType: 'StepScaling',
  });
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'HasBacklogWithoutCapacity',
  });
});

test('a serverless endpoint has neither instances nor guardrails', () => {
  const stack = testStack();
  const image = existingImage({ variant: 'cpu' });
  const model = testModel(stack, { image, networkIsolation: false });
  new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model, serverless: { memory: Size.gibibytes(4), provisionedConcurrency: 1 } }],
  });
  const template = Template.fromStack(stack);
  template.hasResourceProperties(CONFIG, {
    ProductionVariants: [
      {
        ServerlessConfig: { MemorySizeInMB: 4096, MaxConcurrency: 5, ProvisionedConcurrency: 1 },
        InstanceType: Match.absent(),
        RoutingConfig: Match.absent(),
      },
    ],
  });
  template.hasResourceProperties(ENDPOINT, { DeploymentConfig: Match.absent() });
});

test('several variants share the requests by weight', () => {
  const stack = testStack();
  const model = testModel(stack);
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [
      { model, variantName: 'old', weight: 9 },
      { model, variantName: 'new' },
    ],
  });
  Template.fromStack(stack).hasResourceProperties(CONFIG, {
    ProductionVariants: [
      { VariantName: 'old', InitialVariantWeight: 9 },
      { VariantName: 'new', InitialVariantWeight: 1 },
    ],
  });
  expect(endpoint.variantMetrics('new').metricModelLatency().dimensions).toEqual({
    EndpointName: endpoint.endpointName,
    VariantName: 'new',
  });
  expect(() => endpoint.variantMetrics('other')).toThrow(/no variant 'other'\. Known: old, new/);
});

test.each([
  [undefined, 1],
  ['digits', 1],
  ['Digits', 2],
])('grantInvoke names the endpoint %s, in each spelling that its ARN may have', (name, count) => {
  const stack = testStack();
  const variants = [{ model: testModel(stack) }];
  const props = { variants, ...(name !== undefined && { endpointName: name }) };
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', props);
  const role = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('ecs.amazonaws.com') });
  endpoint.grantInvoke(role);
  const Policies = Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
  for (const action of ['sagemaker:InvokeEndpoint', 'sagemaker:DescribeEndpoint']) {
    const [statement] = Policies.flatMap(({ Properties }) =>
      Properties.PolicyDocument.Statement.filter(({ Action }: { Action: string | string[] }) =>
        [Action].flat().includes(action),
      ),
    );
    const arns = [statement.Resource].flat().map((arn) => JSON.stringify(arn));
    expect(arns).toHaveLength(count);
    expect(arns.some((arn) => arn.includes(`endpoint/${endpoint.endpointName}"`))).toBe(true);
    expect(arns.some((arn) => arn.includes(endpoint.endpointName.toLowerCase()))).toBe(true);
  }
});

test('the default name has no capitals, and differs from that of earlier releases in more than case', () => {
  const stack = testStack();
  const { endpointName } = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model: testModel(stack) }],
  });
  expect(endpointName).toMatch(/^test-endpoint-[0-9a-f]{8}$/);
  expect(endpointName).not.toBe('test-endpoint-0fbd4e12');
});

test('an endpoint that exists already can be granted by its name', () => {
  const stack = testStack();
  const role = new Role(stack, 'Caller', { assumedBy: new ServicePrincipal('ecs.amazonaws.com') });
  RealtimeEndpoint.fromEndpointName(stack, 'Imported', 'theirs').grantInvoke(role);
  Template.fromStack(stack).resourceCountIs('AWS::IAM::Policy', 1);
});

describe('several instance types', () => {
  const pools = (...types: string[]) => types.map((instanceType) => ({ instanceType }));
  const endpointOn = (variant: Partial<VariantProps>, stack = testStack()) => {
    const model = variant.model ?? testModel(stack);
    new RealtimeEndpoint(stack, 'Endpoint', { variants: [{ ...variant, model }] });
    return Template.fromStack(stack);
  };

  test('in order of preference, with a time limit and one host image for all', () => {
    const template = endpointOn({
      instancePools: pools('ml.g5.xlarge', 'ml.g4dn.xlarge'),
      provisioningTimeout: Duration.minutes(15),
    });
    template.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
      ProductionVariants: [
        Match.objectLike({
          InstanceType: Match.absent(),
          InstancePools: [
            { InstanceType: 'ml.g5.xlarge', Priority: 1 },
            { InstanceType: 'ml.g4dn.xlarge', Priority: 2 },
          ],
          VariantInstanceProvisionTimeoutInSeconds: 900,
          InferenceAmiVersion: 'al2-ami-sagemaker-inference-gpu-3-1',
        }),
      ],
    });
  });

  test('the newest GPU decides about the driver of all', () => {
    const template = endpointOn({ instancePools: pools('ml.g5.xlarge', 'ml.g7e.2xlarge') });
    template.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
      ProductionVariants: [
        Match.objectLike({ InferenceAmiVersion: 'al2023-ami-sagemaker-inference-gpu-4-1' }),
      ],
    });
  });

  test('a model for one type alone', () => {
    const stack = testStack();
    const other = testModel(stack, {}, 'Other');
    const [first, second] = pools('ml.g5.xlarge', 'ml.g6.xlarge');
    if (!first || !second) throw new Error('no pools');
    const template = endpointOn({ instancePools: [first, { ...second, model: other }] }, stack);
    template.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
      ProductionVariants: [
        Match.objectLike({
          InstancePools: [
            { InstanceType: 'ml.g5.xlarge', Priority: 1 },
            Match.objectLike({ ModelNameOverride: stack.resolve(other.modelName) }),
          ],
        }),
      ],
    });
  });

  test('a reservation', () => {
    const capacityReservationArn = 'arn:aws:sagemaker:us-east-1:123456789012:training-plan/mine';
    endpointOn({ capacityReservationArn }).hasResourceProperties('AWS::SageMaker::EndpointConfig', {
      ProductionVariants: [
        Match.objectLike({
          CapacityReservationConfig: {
            CapacityReservationPreference: 'capacity-reservations-only',
            MlReservationArn: capacityReservationArn,
          },
        }),
      ],
    });
  });

  test.each<[string, boolean, NonNullable<DeploymentProps['traffic']>]>([
    ['all at once', true, { type: 'all-at-once' }],
    ['canary', true, { type: 'canary', percent: 50, wait: Duration.minutes(1) }],
    ['rolling', false, { type: 'rolling', percent: 50, wait: Duration.minutes(1) }],
  ])('a second fleet on a reservation is warned of: %s', (_, warned, traffic) => {
    const stack = testStack();
    const capacityReservationArn = 'arn:aws:sagemaker:us-east-1:123456789012:training-plan/mine';
    new RealtimeEndpoint(stack, 'Endpoint', {
      variants: [{ model: testModel(stack), instanceCount: 2, capacityReservationArn }],
      deployment: { traffic },
    });
    const found = Annotations.fromStack(stack).findWarning(
      '*',
      Match.stringLikeRegexp("'AllTraffic' runs on the instances of a reservation"),
    );
    expect(found).toHaveLength(warned ? 1 : 0);
  });

  test.each<[string, Partial<VariantProps>]>([
    ['variants[0].instancePools: 0 given', { instancePools: [] }],
    [
      'variants[0].instancePools: 6 given',
      {
        instancePools: pools(
          ...['x', '2x', '4x', '8x', '12x', '16x'].map((n) => `ml.g5.${n}large`),
        ),
      },
    ],
    [
      'variants[0].instancePools: ml.g5.xlarge is in the list twice',
      { instancePools: pools('ml.g5.xlarge', 'ml.g5.xlarge') },
    ],
    [
      'variants[0].instancePools[1].instanceType: ml.c6i.xlarge has no GPU',
      { instancePools: pools('ml.g5.xlarge', 'ml.c6i.xlarge') },
    ],
    [
      'variants[0].instancePools[1].instanceType: ml.c7g.xlarge is arm64',
      { instancePools: pools('ml.g5.xlarge', 'ml.c7g.xlarge') },
    ],
    [
      `variants[0].instancePools: given with 'instanceType'`,
      { instancePools: pools('ml.g5.xlarge'), instanceType: 'ml.g5.xlarge' },
    ],
    [
      `variants[0].provisioningTimeout: given without several instance types`,
      { provisioningTimeout: Duration.minutes(10) },
    ],
    [
      'variants[0].provisioningTimeout: 60 is out of range',
      { instancePools: pools('ml.g5.xlarge'), provisioningTimeout: Duration.minutes(1) },
    ],
    [
      'variants[0].volumeSize: ml.g4dn.xlarge has local disks',
      { instancePools: pools('ml.p3.2xlarge', 'ml.g4dn.xlarge'), volumeSize: Size.gibibytes(20) },
    ],
  ])('%s', (message, variant) => {
    expect(() => endpointOn(variant)).toThrow(message);
  });

  test('a key of volumes is for types without disks of their own, all of them', () => {
    const stack = testStack();
    const volumeKey = new Key(stack, 'Key');
    const model = testModel(stack);
    const instancePools = pools('ml.p3.2xlarge', 'ml.g5.xlarge');
    expect(
      () => new RealtimeEndpoint(stack, 'E', { variants: [{ model, instancePools }], volumeKey }),
    ).toThrow('volumeKey: ml.g5.xlarge has local disks');
  });
});
