/** Names as long as a configuration may have them: what AWS makes of them still fits its limits. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { Stack, Stage } from 'aws-cdk-lib/core';
import { addServingStacks, parseConfig } from '../../lib/index.ts';
import { batchProblems } from '../service-models/batch-resources.ts';
import { problemsOfResource } from '../service-models/template-problems.ts';
import { writeBaseline } from '../support/baseline-file.ts';
import { MODEL_DIR, testApp } from '../support/stacks.ts';
import type { Resources } from '../upgrades/resources.ts';

// A synth prints the warnings of its stacks.
jest.spyOn(console, 'error').mockImplementation(() => {});

const work = mkdtempSync(join(tmpdir(), 'long-names-'));
const baseline = join(work, 'baseline.json');
writeBaseline(baseline);
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Where AWS's own limits are, beyond those of the service models. The longest values are put in for what is known later. */
const LIMITS: Readonly<Record<string, readonly [property: string, most: number]>> = {
  'AWS::ApiGateway::RestApi': ['Name', 1024],
  'AWS::ApplicationAutoScaling::ScalingPolicy': ['PolicyName', 256],
  'AWS::CloudWatch::Alarm': ['AlarmName', 255],
  'AWS::Events::Rule': ['Description', 512],
  'AWS::IAM::Policy': ['PolicyName', 128],
  'AWS::IAM::Role': ['Description', 1000],
  'AWS::Lambda::Function': ['Description', 256],
  'AWS::Logs::LogGroup': ['LogGroupName', 512],
  'AWS::SageMaker::Endpoint': ['EndpointName', 63],
  'AWS::SageMaker::InferenceComponent': ['InferenceComponentName', 63],
  'AWS::SSM::Parameter': ['Name', 1011],
};
const LONGEST_CONFIG_NAME = 'c'.repeat(63);

/** The text of a value, with what CloudFormation fills in. */
function textOf(value: unknown): string {
  if (typeof value === 'string') return value;
  const { 'Fn::Join': join, 'Fn::GetAtt': attribute } = value as Record<string, unknown>;
  if (attribute) return LONGEST_CONFIG_NAME;
  const [separator, parts] = join as [string, unknown[]];
  return parts.map(textOf).join(separator);
}

const name = `n${'a'.repeat(34)}`;
const model = `m${'b'.repeat(30)}`;
const stage = `e${'d'.repeat(50)}`;
const variant = 'v'.repeat(63);
const instances = { instanceType: 'ml.c6i.xlarge', instanceCount: 2 };
const scaling = { minInstances: 2, maxInstances: 4, target: { concurrentRequests: 4 } };

const CONFIGS: Readonly<Record<string, object>> = {
  'an endpoint with all around it': {
    endpoint: {
      ...instances,
      variants: [
        { name: variant, scaling },
        { name: 'w', scaling },
      ],
      alarmEmail: 'a@example.com',
      dataCapturePercent: 5,
      drift: { baseline },
      api: { auth: 'jwt', jwt: { issuer: 'https://login.example.com', audience: ['m'] } },
      metrics: { detailed: true },
      deployment: { modelLatencyP90Ms: 90 },
    },
  },
  'an asynchronous endpoint that sleeps': {
    endpoint: {
      ...instances,
      async: true,
      scaling: { minInstances: 0, maxInstances: 2, target: { backlog: 5 } },
    },
  },
  components: {
    endpoint: {
      instanceType: 'ml.c6i.4xlarge',
      managedInstances: { maxInstances: 2 },
      components: [
        { name: 'a', scaling: { minCopies: 0, maxCopies: 4, target: { concurrentRequests: 2 } } },
      ],
    },
  },
  batch: {
    batch: {
      instanceType: 'ml.c6i.xlarge',
      schedule: 'rate(1 day)',
      sharding: { objectsPerShard: 9 },
      email: 'a@example.com',
    },
  },
  'workers on AWS Batch': {
    batchWorker: { schedule: 'rate(1 day)', email: 'a@example.com', noticesAt: [50] },
  },
};
const vpc = {
  vpcId: 'vpc-1',
  availabilityZones: ['us-east-1a'],
  subnetIds: ['subnet-1'],
  securityGroupIds: ['sg-1'],
};

test.each(Object.entries(CONFIGS))('%s', (_, fields) => {
  const app = testApp();
  const image = {
    uri: '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:1',
    variant: 'cpu',
  } as const;
  const environments = [{ name: stage, account: '111111111111', region: 'us-east-1' }];
  const isWorker = 'batchWorker' in fields;
  // Its stack has the longest end.
  const long = isWorker ? model.slice('-worker'.length) : model;
  const models = { [long]: { model: MODEL_DIR, ...fields } };
  const config = { name, image, models, environments, ...(isWorker && { vpc }) };
  addServingStacks(app, parseConfig(config, 'test'));
  const stacks = app.node.findAll().filter((one): one is Stack => Stack.isStack(one));
  expect(stacks.length).toBeGreaterThan(0);
  expect(Math.max(...stacks.map(({ stackName }) => stackName.length))).toBeGreaterThan(118);
  expect(Stage.of(stacks[0] as Stack)?.stageName).toBe(stage);
  for (const stack of stacks) {
    const { Resources } = Template.fromStack(stack).toJSON() as { Resources: Resources };
    for (const { Type, Properties = {} } of Object.values(Resources)) {
      expect(batchProblems(Type, Properties) ?? problemsOfResource({ Type, Properties })).toEqual(
        [],
      );
      const [property = '', most = 0] = LIMITS[Type] ?? [];
      const value = Properties[property];
      if (value === undefined) continue;
      const text = textOf(value);
      expect([Type, text, text.length <= most]).toEqual([Type, text, true]);
    }
  }
});
