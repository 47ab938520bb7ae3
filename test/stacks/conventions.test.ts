/** The constructs keep the CDK's conventions: imports, names and roles of one's own, grants, metrics, scaling. */
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { type IRole, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Duration, Stack } from 'aws-cdk-lib/core';
import {
  BatchTransform,
  EndpointMonitoring,
  type IModel,
  QueueMetrics,
  RealtimeEndpoint,
  type RealtimeEndpointProps,
  SmokeTest,
  TensorFlowModel,
  VariantMetrics,
} from '../../lib/index.ts';
import { testApp, testModel, testStack } from '../support/stacks.ts';

const ROLE = 'arn:aws:iam::123456789012:role/serving';
const importedRole = (stack: Stack): IRole => Role.fromRoleArn(stack, 'Theirs', ROLE);
const bucketOf = (stack: Stack, id = 'Data'): IBucket => Bucket.fromBucketName(stack, id, 'data');

function batchOf(stack: Stack, model: IModel, props = {}): BatchTransform {
  const bucket = bucketOf(stack);
  return new BatchTransform(stack, 'Batch', {
    model,
    instanceType: 'ml.c6i.xlarge',
    input: { bucket, prefix: 'in/' },
    output: { bucket, prefix: 'out/' },
    ...props,
  });
}

function endpointOf(stack: Stack, model: IModel, props: Partial<RealtimeEndpointProps> = {}) {
  return new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model, instanceType: 'ml.c6i.xlarge' }],
    ...props,
  });
}

/** Actions of the policies that are attached to a role. */
function actionsOf(template: Template, role: unknown): string[] {
  const policies = Object.values(template.findResources('AWS::IAM::Policy'));
  return policies
    .filter(({ Properties }) => JSON.stringify(Properties.Roles) === JSON.stringify([role]))
    .flatMap(({ Properties }) =>
      (Properties.PolicyDocument.Statement as { Action: string | string[] }[]).flatMap(
        ({ Action }) => Action,
      ),
    );
}

describe('a model that exists already', () => {
  test('serves at an endpoint, is checked and watched, and runs in batch', () => {
    const stack = testStack();
    const model = TensorFlowModel.fromModelName(stack, 'Model', 'digits');
    const endpoint = endpointOf(stack, model);
    new EndpointMonitoring(stack, 'Monitoring', { endpoint });
    new SmokeTest(stack, 'Smoke', { endpoint, samples: [] });
    batchOf(stack, model);
    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::SageMaker::Model', 0);
    template.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
      ProductionVariants: [Match.objectLike({ ModelName: 'digits' })],
    });
    expect(JSON.stringify(template.findResources('AWS::StepFunctions::StateMachine'))).toContain(
      'digits',
    );
    expect(stack.resolve(model.modelArn)).toEqual({
      'Fn::Join': ['', expect.arrayContaining([':model/digits'])],
    });
  });

  test('gets its leave through its role, where that is known', () => {
    const stack = testStack();
    const role = importedRole(stack);
    const model = TensorFlowModel.fromModelAttributes(stack, 'Model', {
      modelName: 'digits',
      role,
      fingerprint: 'f'.repeat(64),
    });
    endpointOf(stack, model, { asyncInference: { outputBucket: bucketOf(stack, 'Answers') } });
    batchOf(stack, model);
    const actions = actionsOf(Template.fromStack(stack), 'serving');
    for (const action of ['logs:PutLogEvents', 's3:PutObject', 'cloudwatch:DescribeAlarms']) {
      expect(actions).toContain(action);
    }
  });

  test('has its image and data checked as one that is made here', () => {
    const stack = testStack();
    const gpu = TensorFlowModel.fromModelAttributes(stack, 'Gpu', {
      modelName: 'gpu',
      variant: 'gpu',
    });
    expect(() => endpointOf(stack, gpu)).toThrow(/ml\.c6i\.xlarge has no GPU/);
    const many = TensorFlowModel.fromModelAttributes(stack, 'Many', {
      modelName: 'many',
      multiModel: true,
    });
    expect(() => batchOf(stack, many)).toThrow(/does not take multi-model data/);
  });
});

test('a model with a role and a name of its own', () => {
  const stack = testStack();
  testModel(stack, { role: importedRole(stack), modelName: 'digits-7' });
  const template = Template.fromStack(stack);
  template.resourceCountIs('AWS::IAM::Role', 0);
  template.hasResourceProperties('AWS::SageMaker::Model', {
    ModelName: 'digits-7',
    ExecutionRoleArn: ROLE,
  });
  expect(actionsOf(template, 'serving')).toEqual(
    expect.arrayContaining(['cloudwatch:PutMetricData', 'ecr:BatchGetImage', 's3:GetObject']),
  );
  Annotations.fromStack(stack).hasWarning('*', Match.stringLikeRegexp("'digits-7' is fixed"));
  expect(() => testModel(stack, { modelName: 'a_b' }, 'Other')).toThrow(
    /modelName: 'a_b' is not a name of a model/,
  );
});

test('an endpoint that exists already, by its name and by its ARN', () => {
  const stack = testStack();
  const grantee = new Role(stack, 'Caller', {
    assumedBy: new ServicePrincipal('ecs.amazonaws.com'),
  });
  const arn = 'arn:aws:sagemaker:eu-west-1:111111111111:endpoint/theirs';
  const byArn = RealtimeEndpoint.fromEndpointArn(stack, 'ByArn', arn);
  const byName = RealtimeEndpoint.fromEndpointName(stack, 'ByName', 'Theirs');
  expect(byArn).toMatchObject({ endpointName: 'theirs', endpointArn: arn });
  expect(byArn.env).toMatchObject({ account: '111111111111', region: 'eu-west-1' });
  expect(byName.endpointName).toBe('Theirs');
  expect(byName.variantMetrics().metricInvocations().dimensions).toEqual({
    EndpointName: 'Theirs',
    VariantName: 'AllTraffic',
  });
  byArn.grantInvoke(grantee);
  Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: [
        {
          Action: [
            'sagemaker:InvokeEndpoint',
            'sagemaker:InvokeEndpointAsync',
            'sagemaker:InvokeEndpointWithResponseStream',
          ],
          Resource: arn,
        },
      ],
    },
  });
});

test('constructs are resources, with the environment of their stack', () => {
  const stack = new Stack(testApp(), 'Serving', {
    env: { account: '111111111111', region: 'us-east-1' },
  });
  const model = TensorFlowModel.fromModelName(stack, 'Model', 'm');
  for (const resource of [model, endpointOf(stack, model), batchOf(stack, model)]) {
    expect(resource.stack).toBe(stack);
    expect(resource.env).toMatchObject({ account: '111111111111', region: 'us-east-1' });
  }
});

/** Names of the methods of a class, and of those that it extends, that make metrics. */
function metricMethods(type: { prototype: object }): string[] {
  const names: string[] = [];
  for (let one = type.prototype; one !== Object.prototype; one = Object.getPrototypeOf(one)) {
    names.push(...Object.getOwnPropertyNames(one).filter((name) => /^metric[A-Z]/.test(name)));
  }
  return names;
}

test.each([
  ['variant', new VariantMetrics('e', 'v'), metricMethods(VariantMetrics), 14],
  ['queue', new QueueMetrics('e'), metricMethods(QueueMetrics), 4],
])('every metric of a %s is one of its own, and takes options', (_, metrics, names, count) => {
  const made = names.map((name) =>
    (metrics as unknown as Record<string, (options: object) => unknown>)[name]?.({
      period: Duration.minutes(7),
      statistic: 'p99',
    }),
  );
  expect(new Set(made.map((metric) => (metric as { metricName: string }).metricName)).size).toBe(
    count,
  );
  for (const metric of made) {
    expect(metric).toMatchObject({ statistic: 'p99', period: Duration.minutes(7) });
  }
});

describe('autoScaleInstanceCount', () => {
  const scaling = { minInstances: 2, maxInstances: 6, target: { concurrentRequests: 4 } };
  const scaledStack = (props: Partial<RealtimeEndpointProps> = {}) => {
    const stack = testStack();
    const model = TensorFlowModel.fromModelName(stack, 'Model', 'm');
    return { stack, endpoint: endpointOf(stack, model, props) };
  };

  test('is the same as the prop', () => {
    const { stack, endpoint } = scaledStack();
    endpoint.autoScaleInstanceCount(scaling);
    const later = Template.fromStack(stack);
    later.hasResourceProperties('AWS::ApplicationAutoScaling::ScalableTarget', { MaxCapacity: 6 });
    later.hasResourceProperties('AWS::SageMaker::Endpoint', { RetainAllVariantProperties: true });
    expect(() => endpoint.autoScaleInstanceCount(scaling)).toThrow(/'AllTraffic' scales already/);
  });

  test('is checked as the prop', () => {
    const { endpoint } = scaledStack();
    const zero = { ...scaling, minInstances: 0 };
    expect(() => endpoint.autoScaleInstanceCount(zero)).toThrow(/scaling\.minInstances: 0 is for/);
    expect(() => endpoint.autoScaleInstanceCount(scaling, 'other')).toThrow(/no variant 'other'/);
    const canary = scaledStack({
      variants: [
        {
          model: TensorFlowModel.fromModelName(testStack(), 'Model', 'm'),
          instanceType: 'ml.c6i.xlarge',
          instanceCount: 4,
        },
      ],
      deployment: { traffic: { type: 'canary', percent: 50, wait: Duration.minutes(1) } },
    });
    expect(() => canary.endpoint.autoScaleInstanceCount({ ...scaling, minInstances: 1 })).toThrow(
      /deployment\.traffic: 'canary' moves part of a fleet/,
    );
  });

  test('registered: false takes the target away and keeps the number of instances', () => {
    const { stack, endpoint } = scaledStack();
    endpoint.autoScaleInstanceCount({ ...scaling, registered: false });
    const template = Template.fromStack(stack);
    template.resourceCountIs('AWS::ApplicationAutoScaling::ScalableTarget', 0);
    template.resourceCountIs('AWS::ApplicationAutoScaling::ScalingPolicy', 0);
    template.hasResourceProperties('AWS::SageMaker::Endpoint', {
      RetainAllVariantProperties: true,
      ExcludeRetainedVariantProperties: Match.anyValue(),
    });
  });
});

test('a batch transform with a name and a role of its own, started by others', () => {
  const stack = testStack();
  const role = new Role(stack, 'Machine', {
    assumedBy: new ServicePrincipal('states.amazonaws.com'),
  });
  const batch = batchOf(stack, TensorFlowModel.fromModelName(stack, 'Model', 'm'), {
    stateMachineName: 'nightly',
    role,
  });
  const starter = new Role(stack, 'Starter', {
    assumedBy: new ServicePrincipal('ecs.amazonaws.com'),
  });
  batch.grantStart(starter);
  const template = Template.fromStack(stack);
  template.hasResourceProperties('AWS::StepFunctions::StateMachine', {
    StateMachineName: 'nightly',
    RoleArn: stack.resolve(role.roleArn),
  });
  expect(actionsOf(template, stack.resolve(starter.roleName)).sort()).toEqual([
    'states:DescribeExecution',
    'states:StartExecution',
    'states:StopExecution',
  ]);
  expect(batch.metricFailed({ period: Duration.hours(1) })).toMatchObject({
    metricName: 'ExecutionsFailed',
    period: Duration.hours(1),
  });
});
