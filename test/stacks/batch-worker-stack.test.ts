/** `batchWorker` of a configuration: the stack, what flows into it, and what is refused. */
import { Match, Template } from 'aws-cdk-lib/assertions';
import type { Stack } from 'aws-cdk-lib/core';
import { addServingStacks, parseConfig, type ServingConfigInput } from '../../lib/index.ts';
import { MODEL_DIR, masked, stubContainer, testApp } from '../support/stacks.ts';

const directory = stubContainer();
const uri = '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1';
const KEY = 'arn:aws:kms:us-east-1:111111111111:key/12345678-1234-1234-1234-123456789012';
const vpcOf = (digit: number) => ({
  vpcId: `vpc-${digit}`,
  availabilityZones: ['us-east-1a', 'us-east-1b'],
  subnetIds: [`subnet-${digit}a`, `subnet-${digit}b`],
  securityGroupIds: [`sg-${digit}`],
});
const ID = 'tensorflow-m-batch-worker';

function appOf(batchWorker: object, config: object = {}, model: object = { model: MODEL_DIR }) {
  const app = testApp();
  const models = { m: { ...model, batchWorker } };
  const all = { image: { directory }, vpc: vpcOf(1), models, ...config };
  addServingStacks(app, parseConfig(all as ServingConfigInput, 'test'));
  return app;
}

function templatesOf(...args: Parameters<typeof appOf>): Record<string, Template> {
  const stacks = appOf(...args).node.children as Stack[];
  return Object.fromEntries(stacks.map((stack) => [stack.node.id, Template.fromStack(stack)]));
}

function workerOf(...args: Parameters<typeof appOf>): Template {
  const made = templatesOf(...args)[ID];
  if (!made) throw new Error('no stack of the workers');
  return made;
}

const EVERYTHING = {
  instanceTypes: ['g5.2xlarge', 'g6.2xlarge'],
  spot: false,
  workers: 20,
  vcpus: 8,
  memoryMiB: 24_576,
  attempts: 3,
  timeoutSeconds: 7200,
  provisioningTimeoutSeconds: 1800,
  contentType: 'text/csv',
  accept: 'application/jsonlines',
  keySuffix: '.csv',
  ranges: 100,
  maxFailurePercent: 2,
  budgetHours: 12.5,
  email: 'ops@example.com',
  noticesAt: [50],
  schedule: 'rate(1 day)',
};

test('the stack of the workers', () => {
  const made = workerOf({ email: 'ops@example.com' }, { encryptionKeyArn: KEY });
  expect(masked(made.toJSON())).toMatchSnapshot();
});

test('every field reaches AWS Batch', () => {
  const made = workerOf(EVERYTHING);
  made.hasResourceProperties('AWS::Batch::ComputeEnvironment', {
    ComputeResources: {
      Type: 'EC2',
      InstanceTypes: EVERYTHING.instanceTypes,
      MaxvCpus: 160,
      Subnets: vpcOf(1).subnetIds,
      SecurityGroupIds: vpcOf(1).securityGroupIds,
    },
  });
  made.hasResourceProperties('AWS::Batch::JobQueue', {
    JobStateTimeLimitActions: Match.arrayWith([Match.objectLike({ MaxTimeSeconds: 1800 })]),
  });
  made.hasResourceProperties('AWS::Batch::JobDefinition', {
    RetryStrategy: { Attempts: 3 },
    Timeout: { AttemptDurationSeconds: 7200 },
    ContainerProperties: {
      ResourceRequirements: Match.arrayWith([
        { Type: 'MEMORY', Value: '24576' },
        { Type: 'VCPU', Value: '8' },
      ]),
    },
  });
  const [definition] = Object.values(made.findResources('AWS::Batch::JobDefinition'));
  const command = JSON.stringify(definition?.Properties.ContainerProperties.Command);
  for (const argument of [
    ...['content-type=text/csv', 'accept=application/jsonlines', 'key-suffix=.csv', 'ranges=100'],
    ...['max-failure-percent=2', 'budget-hours=12.5', 'notices-at=50'],
  ]) {
    expect(command).toContain(`"--${argument}"`);
  }
  expect(command).toContain('--notice-topic=');
  made.hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 day)',
    Targets: [
      Match.objectLike({ BatchParameters: Match.objectLike({ ArrayProperties: { Size: 20 } }) }),
    ],
  });
  made.hasResourceProperties('AWS::SNS::Subscription', { Endpoint: 'ops@example.com' });
});

test('has outputs to start a run with', () => {
  const made = workerOf({ workers: 3 });
  for (const name of ['InputUri', 'OutputUri', 'JobQueueArn', 'JobDefinition', 'JobQueueUrl']) {
    made.hasOutput(name, Match.anyValue());
  }
  const command = JSON.stringify(made.findOutputs('StartCommand'));
  expect(command).toContain('sagemaker-tfs batch start --engine batch --job-queue ');
  expect(command).toContain(' --instance-count 3');
  const jobs = made.findResources('AWS::Batch::JobDefinition');
  const [name] = Object.values(jobs).map(({ Properties }) => String(Properties.JobDefinitionName));
  expect(command).toContain(` --job-definition ${name} `);
  // The revision of today is deregistered by the next deployment.
  expect(JSON.stringify(made.findOutputs('*'))).not.toContain(Object.keys(jobs)[0]);
});

describe('the image that is built is that of the first type', () => {
  test.each([
    [undefined, 'gpu'],
    [['g6.xlarge', 'g5.xlarge'], 'gpu'],
    [['gr6.4xlarge'], 'gpu'],
    [['m7i.xlarge'], 'cpu'],
    [['m7g.xlarge', 'm8g.xlarge'], 'in-process-arm64'],
  ])('%j: %s', (instanceTypes, variant) => {
    const { 'tensorflow-image': image, ...others } = templatesOf({ instanceTypes });
    expect(Object.keys(others)).toEqual([ID]);
    const names = Object.values(image?.findResources('AWS::SSM::Parameter') ?? {});
    expect(names.map(({ Properties }) => Properties.Name)).toContain(
      `/tensorflow-image/${variant}`,
    );
  });

  test('beside that of an endpoint', () => {
    const made = templatesOf(
      { instanceTypes: ['m7i.xlarge'] },
      {},
      { model: MODEL_DIR, endpoint: {}, batch: {} },
    );
    expect(Object.keys(made).sort()).toEqual([
      ...['tensorflow-image', 'tensorflow-m', 'tensorflow-m-batch', ID],
    ]);
  });
});

test('each environment has its own VPC, key and tags', () => {
  const at = { account: '111111111111', region: 'us-east-1' };
  const environments = [
    { name: 'own', ...at, vpc: vpcOf(2), encryptionKeyArn: KEY },
    { name: 'shared', ...at },
  ];
  const app = appOf({}, { environments, tags: { team: 'vision' } });
  const [own, shared] = environments.map(({ name }) =>
    Template.fromStack(app.node.findChild(name).node.findChild(ID) as Stack),
  );
  for (const [made, digit] of [
    [own, 2],
    [shared, 1],
  ] as const) {
    made?.hasResourceProperties('AWS::Batch::ComputeEnvironment', {
      ComputeResources: { Subnets: vpcOf(digit).subnetIds, Tags: { team: 'vision' } },
      Tags: Match.absent(),
    });
  }
  own?.hasResourceProperties('AWS::Logs::LogGroup', { KmsKeyId: KEY });
  shared?.hasResourceProperties('AWS::Logs::LogGroup', { KmsKeyId: Match.absent() });
});

test('another project cannot change its instances and its job', () => {
  const made = workerOf({});
  const owners = Object.keys(made.findResources('AWS::SSM::Parameter'));
  const [owner] = owners.filter((id) => id.startsWith('Owner'));
  for (const type of ['ComputeEnvironment', 'JobDefinition']) {
    made.hasResource(`AWS::Batch::${type}`, { DependsOn: Match.arrayWith([owner]) });
  }
});

test('a model in S3 needs no image stack and no directory', () => {
  const made = templatesOf(
    { contentType: 'text/csv' },
    { image: { uri, variant: 'cpu' } },
    { archive: 's3://models/m.tar.gz' },
  );
  expect(Object.keys(made)).toEqual([ID]);
  expect(JSON.stringify(made[ID]?.findResources('AWS::Batch::JobDefinition'))).toContain(
    'm.tar.gz',
  );
});

const IN_REGISTRY = {
  arn: 'arn:aws:sagemaker:us-east-1:111111111111:model-package/digits/3',
  archives: 's3://models/registry/',
  image: uri,
};

describe('a field that is wrong is named', () => {
  test.each<[worker: object, message: string]>([
    [
      { instanceType: 'g5.xlarge' },
      "batchWorker: unknown field 'instanceType'; did you mean 'instanceTypes'?",
    ],
    [{ workers: 0 }, 'batchWorker.workers: '],
    [{ workers: 10_001 }, 'batchWorker.workers: '],
    [{ workers: 1.5 }, 'batchWorker.workers: '],
    [{ vcpus: 257 }, 'batchWorker.vcpus: '],
    [{ memoryMiB: 3 }, 'batchWorker.memoryMiB: '],
    [{ attempts: 11 }, 'batchWorker.attempts: '],
    [{ timeoutSeconds: 59 }, 'batchWorker.timeoutSeconds: '],
    [{ provisioningTimeoutSeconds: 599 }, 'batchWorker.provisioningTimeoutSeconds: '],
    [{ provisioningTimeoutSeconds: 86_401 }, 'batchWorker.provisioningTimeoutSeconds: '],
    [{ ranges: 10_001 }, 'batchWorker.ranges: '],
    [{ maxFailurePercent: 101 }, 'batchWorker.maxFailurePercent: '],
    [{ budgetHours: 0 }, 'batchWorker.budgetHours: '],
    [{ email: 'ops' }, 'batchWorker.email: '],
    [{ noticesAt: [50] }, "batchWorker.noticesAt: notices need a recipient. Set 'email'"],
    [{ noticesAt: [100], email: 'a@example.com' }, 'batchWorker.noticesAt[0]: '],
    [{ schedule: 'daily' }, 'batchWorker.schedule: write cron(...) or rate(...)'],
    [{ schedule: 'rate(1 days)' }, 'batchWorker.schedule: '],
    // Only the construct knows these.
    [{ instanceTypes: [] }, 'batchWorker.instanceTypes: the list is empty'],
    [
      { instanceTypes: ['ml.g5.xlarge'] },
      "batchWorker.instanceTypes[0]: 'ml.g5.xlarge' is a name of SageMaker's",
    ],
    [
      { instanceTypes: ['g5.xlarge', 'm7g.xlarge'] },
      'batchWorker.instanceTypes[1]: m7g.xlarge is arm64',
    ],
    [{ workers: 40, ranges: 39 }, 'batchWorker.ranges: 39 ranges leave some of 40 workers'],
    [{ memoryMiB: 1_000_000 }, 'batchWorker.memoryMiB: a worker of 4 vCPUs'],
    [{ vcpus: 200 }, 'batchWorker.vcpus: a worker of 200 vCPUs'],
  ])('%j', (worker, message) => {
    expect(() => appOf(worker)).toThrow(
      expect.objectContaining({
        name: 'ConfigurationError',
        message: expect.stringContaining(`models.m.${message}`),
      }),
    );
  });

  test.each<[model: object, field: string]>([
    [{ multiModel: 's3://models/all/' }, 'multiModel'],
    [{ modelName: 'digits-1' }, 'modelName'],
    [{ modelPackage: IN_REGISTRY }, 'modelPackage'],
    [{ archive: 's3://models/m/' }, 'archive'],
    [{ model: MODEL_DIR, compression: 'none' }, 'compression'],
  ])('the model is no archive: %j', (model, field) => {
    expect(() => appOf({}, {}, model)).toThrow(
      `models.m.${field}: workers of 'batchWorker' read one archive. `,
    );
  });

  test('there is no VPC', () => {
    expect(() => appOf({}, { vpc: undefined })).toThrow(
      "models.m.batchWorker: instances of AWS Batch are in a VPC. Give a 'vpc' beside 'models'",
    );
    const at = { account: '111111111111', region: 'us-east-1' };
    const environments = [
      { name: 'prod', ...at, vpc: vpcOf(1) },
      { name: 'test', ...at },
    ];
    expect(() => appOf({}, { vpc: undefined, environments })).toThrow(
      "models.m.batchWorker: instances of AWS Batch are in a VPC, and 'test' has none. Give a 'vpc' beside 'models', or one to each environment",
    );
    expect(() =>
      appOf({}, { vpc: undefined, environments: environments.slice(0, 1) }),
    ).not.toThrow();
  });

  test('its stack has the name of another', () => {
    const other = { model: MODEL_DIR, endpoint: {} };
    const models = { m: { model: MODEL_DIR, batchWorker: {} }, 'm-batch-worker': other };
    expect(() => appOf({}, { models })).toThrow(
      `models.m-batch-worker: its stack would be ${ID}, as that of models.m is`,
    );
  });
});

test('its stack counts for the length of names, and others are as long as they were', () => {
  // With '-batch' 128, with '-batch-worker' 135.
  const name = 'n'.repeat(90);
  const model = 'm'.repeat(31);
  const make = (fields: object) => () =>
    appOf({}, { name, models: { [model]: { model: MODEL_DIR, ...fields } } });
  expect(make({ batch: {} })).not.toThrow();
  expect(make({ batchWorker: {} })).toThrow(
    /name: names of stacks would have up to 135 characters/,
  );
});
