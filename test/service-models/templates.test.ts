/** Every property that a template sets is one that AWS's service models take, over many configurations. */
import { readFileSync } from 'node:fs';
import type { App } from 'aws-cdk-lib/core';
import { addServingStacks, parseConfig } from '../../lib/index.ts';
import { batchTemplate, machineOf, run } from '../stacks/batch-machine.ts';
import { MODEL_DIR, testApp } from '../stacks/support.ts';
import { problemsOf } from './validate.ts';

/** Values of the fields that decide about a template; the first of each is the default. */
const CHOICES: Readonly<Record<string, readonly (object | undefined)[]>> = {
  hardware: [
    {},
    { instanceType: 'ml.g5.2xlarge' },
    { instanceType: 'ml.c6i.xlarge' },
    { instanceType: 'ml.p3.2xlarge' },
    { serverless: { memoryGiB: 2 } },
    { serverless: { memoryGiB: 6, maxConcurrency: 20, provisionedConcurrency: 2 } },
  ],
  scaling: [
    {},
    { instanceCount: 4 },
    { scaling: { minInstances: 2, maxInstances: 6, target: { invocationsPerMinute: 600 } } },
    { scaling: { minInstances: 2, maxInstances: 6, target: { concurrentRequests: 0.5 } } },
    { async: true, scaling: { minInstances: 0, maxInstances: 3, target: { backlog: 5 } } },
    { async: true },
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
    { startupTimeoutSeconds: 120, modelDataDownloadTimeoutSeconds: 120 },
    { metrics: { detailed: true, enhanced: true, frequencySeconds: 10 } },
  ],
};

/** Every pair of values of two fields, the other fields at their defaults; each configuration once. */
function pairs(): object[] {
  const fields = Object.values(CHOICES);
  const all = fields.flatMap((first, i) =>
    fields
      .slice(i + 1)
      .flatMap((second) => first.flatMap((a) => second.map((b) => JSON.stringify({ ...a, ...b })))),
  );
  return [...new Set(all)].map((text) => JSON.parse(text) as object);
}

/** Configurations in one run: what AWS takes of the pairs, from all parts of their list. */
const TAKEN = 64;

const EXISTING = '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:1';

/** Adds the stacks of every configuration that the rules take to one app. */
function matrix(): { app: App; taken: number } {
  const app = testApp();
  let taken = 0;
  const all = pairs();
  for (let i = 0; i < all.length && taken < TAKEN; i++) {
    // A stride that shares no factor with the length comes by every one.
    const endpoint = all[(i * 7) % all.length] ?? {};
    const { instanceType = 'ml.g4dn.xlarge', serverless } = endpoint as Record<string, unknown>;
    const gpu = serverless === undefined && /\.[gp]\d/.test(String(instanceType));
    const config = {
      name: `c${i}`,
      image: { uri: EXISTING, variant: gpu ? ('gpu' as const) : ('cpu' as const) },
      models: { m: { model: MODEL_DIR, environment: { THRESHOLD: 0.5 }, endpoint } },
      tags: { team: 'vision' },
    };
    try {
      addServingStacks(app, parseConfig(config, 'matrix'));
      taken += 1;
    } catch (error) {
      // Refused with its reason, and not by a fault of ours.
      expect((error as Error).name).toBe('ConfigurationError');
    }
  }
  return { app, taken };
}

/** Which operations a resource's properties go to, and what CloudFormation supplies itself. */
const OPERATIONS: Readonly<Record<string, readonly [string, string, readonly string[]]>> = {
  'AWS::SageMaker::Model': ['sagemaker', 'CreateModel', ['ModelName']],
  'AWS::SageMaker::EndpointConfig': ['sagemaker', 'CreateEndpointConfig', ['EndpointConfigName']],
  'AWS::ApplicationAutoScaling::ScalableTarget': [
    'application-autoscaling',
    'RegisterScalableTarget',
    [],
  ],
  'AWS::CloudWatch::Alarm': ['cloudwatch', 'PutMetricAlarm', ['AlarmName']],
};

interface Resource {
  readonly Type: string;
  readonly Properties: Readonly<Record<string, unknown>>;
}

function problemsOfResource({ Type, Properties }: Resource): string[] {
  if (Type === 'AWS::SageMaker::Endpoint') {
    // CloudFormation updates with all, and creates without what only an update takes.
    const { Tags, ...update } = Properties;
    const { EndpointName, EndpointConfigName, DeploymentConfig } = Properties;
    const create = {
      EndpointName,
      EndpointConfigName,
      ...(DeploymentConfig ? { DeploymentConfig } : {}),
    };
    return [
      ...problemsOf('sagemaker', 'UpdateEndpoint', update),
      ...problemsOf('sagemaker', 'CreateEndpoint', { ...create, ...(Tags ? { Tags } : {}) }),
    ];
  }
  if (Type === 'AWS::ApplicationAutoScaling::ScalingPolicy') {
    const { ScalingTargetId: _, ...policy } = Properties;
    const supplied = ['ServiceNamespace', 'ResourceId', 'ScalableDimension'];
    return problemsOf('application-autoscaling', 'PutScalingPolicy', policy, supplied);
  }
  const [service, operation, supplied] = OPERATIONS[Type] ?? [];
  if (Type === 'AWS::ApplicationAutoScaling::ScalableTarget') {
    // A list in CloudFormation, a map in the API.
    const { Tags: _, ...target } = Properties;
    return problemsOf('application-autoscaling', 'RegisterScalableTarget', target);
  }
  return service && operation ? problemsOf(service, operation, Properties, supplied) : [];
}

test('the templates of 64 configurations set only what AWS takes', () => {
  const { app, taken } = matrix();
  expect(taken).toBe(TAKEN);
  expect(pairs().length % 7).not.toBe(0);
  const assembly = app.synth();
  const problems = new Set<string>();
  const seen = new Set<string>();
  for (const { templateFullPath } of assembly.stacks) {
    const template = JSON.parse(readFileSync(templateFullPath, 'utf8')) as {
      Resources: Readonly<Record<string, Resource>>;
    };
    for (const resource of Object.values(template.Resources)) {
      seen.add(resource.Type);
      for (const problem of problemsOfResource(resource)) problems.add(problem);
    }
  }
  expect([...problems]).toEqual([]);
  for (const type of [
    ...Object.keys(OPERATIONS),
    'AWS::SageMaker::Endpoint',
    'AWS::ApplicationAutoScaling::ScalingPolicy',
  ]) {
    expect(seen).toContain(type);
  }
});

test('the jobs of the state machine set only what AWS takes', async () => {
  const machine = machineOf(batchTemplate());
  for (const input of [
    {},
    { instanceType: 'ml.c6i.xlarge' },
    {
      splitType: 'Line',
      batchStrategy: 'MultiRecord',
      assembleWith: 'Line',
      environment: { A: '1' },
    },
  ]) {
    const { jobs } = await run(machine, input);
    expect(
      jobs.flatMap((job) =>
        problemsOf('sagemaker', 'CreateTransformJob', { ...job, ModelName: 'm' }),
      ),
    ).toEqual([]);
  }
});

test('a value that AWS does not take is found', () => {
  const model = {
    ModelName: 'a_b',
    ExecutionRoleArn: { 'Fn::GetAtt': ['Role', 'Arn'] },
    Colour: 1,
  };
  expect(problemsOf('sagemaker', 'CreateModel', model)).toEqual([
    expect.stringMatching(/ModelName: 'a_b' does not match/),
    'CreateModel: has no Colour',
  ]);
});
