/** The smoke test's construct, and cdk-nag over everything that the app out of the box does not use. */
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { type ISecurityGroup, type IVpc, SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { type App, NestedStack, Stack, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import {
  DriftMonitor,
  EndpointApi,
  EndpointMonitoring,
  ModelData,
  RealtimeEndpoint,
  SmokeTest,
  type SmokeTestProps,
  type VpcAttachmentProps,
} from '../../lib/index.ts';
import { writeBaseline } from '../support/baseline-file.ts';
import { existingImage, masked, testApp, testModel, testStack } from '../support/stacks.ts';

const sample = {
  name: 'seven',
  file: 'examples/digits/samples/00000-7.jpg',
  contentType: 'application/x-image',
};

function importedVpc(stack: Stack): VpcAttachmentProps {
  const vpc: IVpc = Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-0123456789abcdef0',
    availabilityZones: ['us-east-1a'],
    privateSubnetIds: ['subnet-0123456789abcdef0'],
  });
  const group: ISecurityGroup = SecurityGroup.fromSecurityGroupId(
    stack,
    'Group',
    'sg-0123456789abcdef0',
  );
  return { vpc, securityGroups: [group] };
}

function smokeTemplate(props: (stack: Stack) => Partial<SmokeTestProps> = () => ({})): Template {
  const stack = testStack();
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model: testModel(stack) }],
  });
  new SmokeTest(stack, 'Smoke', { endpoint, samples: [sample], ...props(stack) });
  return Template.fromStack(stack);
}

/** The plan, with the name of the configuration instead of the reference to it. */
function planOf(template: Template): Record<string, unknown> {
  const [resource] = Object.values(template.findResources('Custom::SageMakerSmokeTest'));
  const join = resource?.Properties.Plan as { 'Fn::Join': [string, unknown[]] };
  const [, parts] = join['Fn::Join'];
  const text = parts.map((part) => (typeof part === 'string' ? part : 'CONFIG')).join('');
  return JSON.parse(text) as Record<string, unknown>;
}

test('template', () => {
  expect(masked(smokeTemplate().toJSON())).toMatchSnapshot();
});

test('autoscaling begins after the checks: a rollback cannot change a variant that is registered', () => {
  const stack = testStack();
  const scaling = { maxInstances: 4, target: { invocationsPerMinute: 600 } };
  const model = testModel(stack);
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [
      { model, variantName: 'a', scaling },
      { model, variantName: 'b' },
    ],
  });
  new SmokeTest(stack, 'Smoke', { endpoint, samples: [] });
  endpoint.autoScaleInstanceCount(scaling, 'b');
  const template = Template.fromStack(stack);
  const [check] = Object.keys(template.findResources('Custom::SageMakerSmokeTest'));
  const [deployed] = Object.keys(template.findResources('Custom::SageMakerDeployedConfiguration'));
  for (const kind of ['ScalableTarget', 'ScalingPolicy']) {
    const found = Object.values(template.findResources(`AWS::ApplicationAutoScaling::${kind}`));
    expect(found).toHaveLength(2);
    for (const { DependsOn } of found) {
      expect(DependsOn).toEqual(expect.arrayContaining([check, deployed]));
    }
  }
});

test('the plan names the configuration just deployed, the fingerprint and the price', () => {
  expect(planOf(smokeTemplate())).toEqual({
    endpointName: expect.any(String),
    endpointConfigName: 'CONFIG',
    variants: [
      {
        name: 'AllTraffic',
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
        transports: ['rest', 'grpc'],
        usdPerSecond: 0.736 / 3600,
      },
    ],
    iterations: 100,
    samples: [{ ...sample, file: expect.stringMatching(/^[0-9a-f]{16}-00000-7\.jpg$/) }],
    metricNamespace: 'SageMakerTensorFlow/SmokeTest',
  });
});

test('a value that an answer must equal reaches the function as JSON, NaN included', () => {
  const expected = { a: [Number.NaN, Number.POSITIVE_INFINITY, -0, 7], b: 2n ** 60n };
  const samples = [{ ...sample, expect: [{ path: '$.y', equals: expected }, { equals: '7' }] }];
  expect(planOf(smokeTemplate(() => ({ samples })))).toMatchObject({
    samples: [
      {
        expect: [
          { path: '$.y', equals: '{"a":[NaN,Infinity,-0,7],"b":1152921504606846976}' },
          { equals: '"7"' },
        ],
      },
    ],
  });
});

test('it runs after the endpoint, on Node 24, for at most 15 minutes', () => {
  const template = smokeTemplate();
  const [proven = ''] = Object.keys(
    template.findResources('Custom::SageMakerDeployedConfiguration'),
  );
  template.hasResource('Custom::SageMakerSmokeTest', { DependsOn: Match.arrayWith([proven]) });
  template.hasResourceProperties('AWS::Lambda::Function', { Runtime: 'nodejs24.x', Timeout: 900 });
});

describe('the stack of its endpoint', () => {
  const endpointIn = (stack: Stack) =>
    new RealtimeEndpoint(stack, 'Endpoint', { variants: [{ model: testModel(stack) }] });

  test('is the only one that may have it', () => {
    const app = testApp();
    const [digits, other] = [new Stack(app, 'Digits'), new Stack(app, 'Other')];
    const endpoint = endpointIn(digits);
    expect(() => new SmokeTest(other, 'Smoke', { endpoint, samples: [] })).toThrow(
      'Other/Smoke: endpoint: it is in the stack Digits, and the test in Other: a failed check would not roll the endpoint back. Create the smoke test in Digits.',
    );
  });

  test.each([
    ['it', (stack: Stack) => stack],
    ['a stack that is nested in it', (stack: Stack) => new NestedStack(stack, 'Inner')],
    [
      'one two levels down',
      (stack: Stack) => new NestedStack(new NestedStack(stack, 'Beside'), 'Inner'),
    ],
  ])('scales once the test in %s has passed', (_, place) => {
    const stack = testStack();
    const endpoint = endpointIn(stack);
    const target = { invocationsPerMinute: 600 };
    endpoint.autoScaleInstanceCount({ minInstances: 1, maxInstances: 2, target });
    new SmokeTest(place(stack), 'Smoke', { endpoint, samples: [] });
    const template = Template.fromStack(stack);
    const waits = Object.keys({
      ...template.findResources('Custom::SageMakerSmokeTest'),
      ...template.findResources('AWS::CloudFormation::Stack'),
    });
    expect(waits).toHaveLength(1);
    template.hasResource('AWS::ApplicationAutoScaling::ScalableTarget', {
      DependsOn: Match.arrayWith(waits),
    });
  });

  test('has no circle if the test depends on the whole endpoint', () => {
    const stack = testStack();
    const endpoint = endpointIn(stack);
    const target = { invocationsPerMinute: 600 };
    endpoint.autoScaleInstanceCount({ minInstances: 1, maxInstances: 2, target });
    new SmokeTest(stack, 'Smoke', { endpoint, samples: [] }).node.addDependency(endpoint);
    const template = Template.fromStack(stack);
    const idsOf = (type: string) => Object.keys(template.findResources(type));
    const [smoke] = Object.values(template.findResources('Custom::SageMakerSmokeTest'));
    expect(smoke?.DependsOn).toEqual(expect.arrayContaining(idsOf('AWS::SageMaker::Endpoint')));
    const scaling = idsOf('AWS::ApplicationAutoScaling::ScalableTarget');
    expect(scaling).toHaveLength(1);
    expect(smoke?.DependsOn).not.toEqual(expect.arrayContaining(scaling));
  });

  test('may be nested with it', () => {
    const stack = testStack();
    const endpoint = endpointIn(new NestedStack(stack, 'Nested'));
    new SmokeTest(stack, 'Smoke', { endpoint, samples: [] });
    new SmokeTest(new NestedStack(stack, 'Beside'), 'Smoke', { endpoint, samples: [] });
    Template.fromStack(stack).resourceCountIs('Custom::SageMakerSmokeTest', 1);
    const warning = Match.stringLikeRegexp('cannot wait for a smoke test in');
    expect(Annotations.fromStack(stack).findWarning('*', warning)).toEqual([]);
  });

  test.each([
    ['around', '/Test/Smoke', (stack: Stack) => stack],
    ['beside', '/Test/Beside/', (stack: Stack) => new NestedStack(stack, 'Beside')],
  ])(
    'is not waited for %s the nested stack of an endpoint that scales: a warning',
    (_, path, place) => {
      const stack = testStack();
      const endpoint = endpointIn(new NestedStack(stack, 'Nested'));
      new SmokeTest(place(stack), 'Smoke', { endpoint, samples: [] });
      const target = { invocationsPerMinute: 600 };
      endpoint.autoScaleInstanceCount({ minInstances: 1, maxInstances: 2, target });
      const warning = Match.stringLikeRegexp("cannot wait for a smoke test .*'registered: false'");
      const found = Annotations.fromStack(stack).findWarning('*', warning);
      expect(found.map(({ id }) => id)).toEqual([expect.stringContaining(path)]);
    },
  );

  test.each<[string, (stack: Stack, endpoint: RealtimeEndpoint) => unknown]>([
    ['EndpointMonitoring', (stack, endpoint) => new EndpointMonitoring(stack, 'It', { endpoint })],
    ['EndpointApi', (stack, endpoint) => new EndpointApi(stack, 'It', { endpoint, auth: 'iam' })],
    [
      'DriftMonitor',
      (stack, endpoint) => {
        const bucket: IBucket = Bucket.fromBucketName(stack, 'Bucket', 'data');
        const baseline = join(mkdtempSync(join(tmpdir(), 'drift-')), 'baseline.json');
        writeBaseline(baseline);
        return new DriftMonitor(stack, 'It', { endpoint, bucket, baseline });
      },
    ],
  ])('exports nothing to %s in another one, as an export in use never changes', (_, make) => {
    const app = testApp();
    app.node.setContext('@aws-cdk/core:defaultCrossStackReferences', undefined);
    const [digits, other] = [new Stack(app, 'Digits'), new Stack(app, 'Other')];
    make(other, endpointIn(digits));
    Template.fromStack(other);
    expect(Template.fromStack(digits).findOutputs('*', { Export: Match.anyValue() })).toEqual({});
  });
});

test('it works inside a VPC', () => {
  smokeTemplate(importedVpc).hasResourceProperties('AWS::Lambda::Function', {
    VpcConfig: {
      SubnetIds: ['subnet-0123456789abcdef0'],
      SecurityGroupIds: ['sg-0123456789abcdef0'],
    },
  });
});

test('an asynchronous endpoint is asked through S3, and the function may do that and no more', () => {
  const stack = testStack();
  const outputBucket: IBucket = Bucket.fromBucketName(stack, 'Bucket', 'data');
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model: testModel(stack) }],
    asyncInference: { outputBucket },
  });
  new SmokeTest(stack, 'Smoke', { endpoint, samples: [sample] });
  const template = Template.fromStack(stack);
  expect(planOf(template)).toMatchObject({
    asyncInputUri: 's3://data/async-input/',
    iterations: 1,
    variants: [{ name: 'AllTraffic', transports: ['rest', 'grpc'] }],
  });
  const policies = template.findResources('AWS::IAM::Policy');
  const [policy] = Object.entries(policies).flatMap(([id, { Properties }]) =>
    id.startsWith('SmokeRole') ? [JSON.stringify(Properties.PolicyDocument)] : [],
  );
  const statements = (
    JSON.parse(policy ?? '{"Statement":[]}') as { Statement: { Action: string | string[] }[] }
  ).Statement;
  const mayDo = (place: string) =>
    statements
      .filter((statement) => JSON.stringify(statement).includes(place))
      .flatMap(({ Action }) => Action)
      .sort();
  expect(mayDo(':endpoint/')).toEqual([
    'sagemaker:DescribeEndpoint',
    'sagemaker:InvokeEndpointAsync',
  ]);
  expect(mayDo(':data/async-input/*')).toEqual(['s3:DeleteObject', 's3:PutObject']);
  expect(mayDo(':data/async-output/*')).toEqual(['s3:GetObject']);
  expect(mayDo(':data/async-failures/*')).toEqual(['s3:GetObject']);
  expect(mayDo('"async-output/*"')).toEqual(['s3:ListBucket']);
});

test('the in-process image is asked over its only transport', () => {
  const stack = testStack();
  const model = testModel(stack, { image: existingImage({ variant: 'in-process' }) });
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model, instanceType: 'ml.c6i.xlarge' }],
  });
  new SmokeTest(stack, 'Smoke', { endpoint, samples: [sample] });
  expect(planOf(Template.fromStack(stack))).toMatchObject({
    variants: [{ transports: ['in-process'] }],
  });
});

test('cdk-nag finds of an API and of a key from outside what the documents name', () => {
  const app: App = testApp();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const stack = new Stack(app, 'Api');
  const encryptionKey = Key.fromKeyArn(stack, 'Key', 'arn:aws:kms:us-east-1:123456789012:key/1');
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model: testModel(stack) }],
    dataCapture: { bucket: Bucket.fromBucketName(stack, 'Bucket', 'data') },
    encryptionKey,
  });
  new EndpointApi(stack, 'ByKey', { endpoint, auth: 'apiKey', corsOrigin: 'https://a.example' });
  expect(() => app.synth()).toThrow();
  const report = readFileSync(join(app.outdir, 'validation-report.json'), 'utf8');
  const page = readFileSync('docs/https-api.md', 'utf8');
  const found = [...report.matchAll(/AwsSolutions-([A-Z0-9]+(?:\[[^\]]*\])?)/g)].map(
    ([, id]) => id,
  );
  expect(found).toContain('APIG1');
  expect([...new Set(found)].filter((id) => !page.includes(`\`${id}\``))).toEqual([]);
});

test('cdk-nag has no finding: VPC, queue, capture, models from S3', () => {
  const app: App = testApp();
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  const stack = new Stack(app, 'Everything');
  const network = importedVpc(stack);
  const bucket: IBucket = Bucket.fromBucketName(stack, 'Bucket', 'data');
  const model = testModel(stack, { ...network, modelData: ModelData.fromPrefix(bucket, 'm/') });
  const async = new RealtimeEndpoint(stack, 'Async', {
    variants: [{ model }],
    asyncInference: { outputBucket: bucket },
  });
  new SmokeTest(stack, 'SmokeAsync', { endpoint: async, samples: [sample], ...network });
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model }],
    dataCapture: { bucket },
  });
  new SmokeTest(stack, 'Smoke', { endpoint, samples: [sample], ...network });
  expect(() => app.synth()).not.toThrow();
});

test.each<[of: string, isMulti: boolean, targetModel: string | undefined, message: RegExp]>([
  [
    'many models names one',
    true,
    undefined,
    /samples\[0\]\.targetModel: requests of a multi-model/,
  ],
  [
    'one model names none',
    false,
    'a.tar.gz',
    /samples\[0\]\.targetModel: the endpoint has one model/,
  ],
])('a sample for an endpoint of %s', (_, isMulti, targetModel, message) => {
  const make = (target: string | undefined) => {
    const stack = testStack();
    const modelData = isMulti && ModelData.multiModel(new Bucket(stack, 'Many'), 'models/');
    const model = testModel(stack, {
      image: existingImage({ variant: 'cpu' }),
      ...(modelData && { modelData }),
    });
    const variants = [{ model, instanceType: 'ml.c6i.large' }];
    const endpoint = new RealtimeEndpoint(stack, 'Endpoint', { variants });
    const samples = [{ ...sample, ...(target !== undefined && { targetModel: target }) }];
    return () => new SmokeTest(stack, 'Smoke', { endpoint, samples });
  };
  expect(make(targetModel)).toThrow(message);
  expect(make(isMulti ? 'a.tar.gz' : undefined)).not.toThrow();
});
