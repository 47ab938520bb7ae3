/** A batch worker on AWS Batch: what is deployed, and that the image takes the job's arguments. */

import { readOptions } from '@sagemaker-tfs/container/parts';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { LaunchTemplate, type LaunchTemplateAttributes, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { User } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Duration, Size, type Stack, Tags } from 'aws-cdk-lib/core';
import { BatchWorker, type BatchWorkerProps, ModelData } from '../../lib/index.ts';
import { batchProblems } from '../service-models/batch-resources.ts';
import { unkeptStarts } from '../support/kept-starts.ts';
import { existingImage, testModel, testStack } from '../support/stacks.ts';

interface Deployed {
  readonly worker: BatchWorker;
  readonly template: Template;
}

function deploy(
  props: Partial<BatchWorkerProps> | ((stack: Stack) => Partial<BatchWorkerProps>) = {},
  modelProps: Parameters<typeof testModel>[1] = {},
): Deployed {
  const stack = testStack();
  const bucket = Bucket.fromBucketName(stack, 'Data', 'data');
  const worker = new BatchWorker(stack, 'Worker', {
    model: testModel(stack, modelProps),
    vpc: new Vpc(stack, 'Vpc'),
    input: { bucket, prefix: 'tiles/' },
    output: { bucket, prefix: 'answers/' },
    ...(typeof props === 'function' ? props(stack) : props),
  });
  return { worker, template: Template.fromStack(stack) };
}

/** The properties of the only resource of a type. */
function only(template: Template, type: string): Record<string, unknown> {
  const found = Object.values(template.findResources(type));
  expect(found).toHaveLength(1);
  return (found[0] as { Properties: Record<string, unknown> }).Properties;
}

const CONFIGURATIONS: readonly [string, Partial<BatchWorkerProps>, boolean][] = [
  ['spot, with a GPU', {}, true],
  ['on demand, without', { spot: false, instanceTypes: ['c7i.2xlarge'], vcpus: 8 }, false],
  [
    'every setting',
    {
      ...{ workers: 40, attempts: 3, ranges: 400, maxFailurePercent: 1, keySuffix: '.jpg' },
      ...{ contentType: 'application/json', accept: 'application/jsonlines' },
    },
    true,
  ],
];

describe('what instances start with', () => {
  const versionOf = (template: Template) =>
    (
      only(template, 'AWS::Batch::ComputeEnvironment') as {
        ComputeResources: { LaunchTemplate: Record<string, unknown> };
      }
    ).ComputeResources.LaunchTemplate;

  test('session tokens of the metadata service, and an encrypted disk, of the newest version', () => {
    const { template } = deploy({ diskSize: Size.gibibytes(200) });
    expect(only(template, 'AWS::EC2::LaunchTemplate').LaunchTemplateData).toMatchObject({
      MetadataOptions: { HttpTokens: 'required' },
      BlockDeviceMappings: [
        {
          DeviceName: '/dev/xvda',
          Ebs: { DeleteOnTermination: true, Encrypted: true, VolumeSize: 200, VolumeType: 'gp3' },
        },
      ],
    });
    const [id] = Object.keys(template.findResources('AWS::EC2::LaunchTemplate'));
    expect(versionOf(template)).toEqual({
      LaunchTemplateId: { Ref: id },
      Version: { 'Fn::GetAtt': [id, 'LatestVersionNumber'] },
    });
  });

  test('tags, as volumes and the template itself have to be asked for', () => {
    const { template } = deploy((stack) => {
      Tags.of(stack).add('team', 'tiles');
      return {};
    });
    const { LaunchTemplateData, TagSpecifications } = only(
      template,
      'AWS::EC2::LaunchTemplate',
    ) as { LaunchTemplateData: { TagSpecifications: object[] }; TagSpecifications: object[] };
    const tagged = [...LaunchTemplateData.TagSpecifications, ...TagSpecifications];
    const own = { Key: 'team', Value: 'tiles' };
    expect(tagged).toEqual(
      ['instance', 'volume', 'launch-template'].map((ResourceType) => ({
        ResourceType,
        Tags: expect.arrayContaining([own]),
      })),
    );
  });

  const imported = (attributes: LaunchTemplateAttributes) => (stack: Stack) => ({
    launchTemplate: LaunchTemplate.fromLaunchTemplateAttributes(stack, 'Own', attributes),
  });

  test('a launch template of your own is in its place', () => {
    const { template } = deploy(imported({ launchTemplateId: 'lt-1', versionNumber: '7' }));
    template.resourceCountIs('AWS::EC2::LaunchTemplate', 0);
    expect(versionOf(template)).toEqual({ LaunchTemplateId: 'lt-1', Version: '7' });
  });

  test('one without id, one beside a size, and a disk that is too small are refused', () => {
    expect(() => deploy(imported({ launchTemplateName: 'own' }))).toThrow(/launchTemplate.*id/s);
    const both = (stack: Stack) => ({
      ...imported({ launchTemplateId: 'lt-1' })(stack),
      diskSize: Size.gibibytes(200),
    });
    expect(() => deploy(both)).toThrow(/diskSize/);
    expect(() => deploy({ diskSize: Size.gibibytes(20) })).toThrow(/diskSize.*30/s);
  });
});

describe('notices on the way', () => {
  const withNotices = (noticesAt: number[]) => (stack: Stack) => ({
    ...{ noticesAt, topic: new Topic(stack, 'Topic') },
  });

  test('the worker gets the percentages and the topic, and may publish', () => {
    const { template } = deploy(withNotices([10, 50, 90]));
    const { ContainerProperties } = only(template, 'AWS::Batch::JobDefinition') as {
      ContainerProperties: { Command: unknown[] };
    };
    const command = ContainerProperties.Command;
    expect(command).toContain('--notices-at=10,50,90');
    const [topic] = Object.keys(template.findResources('AWS::SNS::Topic'));
    expect(command).toContainEqual({ 'Fn::Join': ['', ['--notice-topic=', { Ref: topic }]] });
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action: 'sns:Publish', Resource: { Ref: topic } }),
        ]),
      },
      Roles: [{ Ref: Match.stringLikeRegexp('^WorkerRole') }],
    });
  });

  test('none unless asked for, and none without a topic', () => {
    const { template } = deploy((stack) => ({ topic: new Topic(stack, 'Topic') }));
    expect(JSON.stringify(template.findResources('AWS::Batch::JobDefinition'))).not.toContain(
      'notice',
    );
    expect(() => deploy({ noticesAt: [10] })).toThrow('there is no topic');
    expect(() => deploy(withNotices([100]))).toThrow('noticesAt[0]');
  });
});

test('a worker knows its region, whatever agent of ECS starts it; a variable of its own goes first', () => {
  const regionOf = (handlerEnvironment: Record<string, string> = {}) => {
    const { template } = deploy({}, { handlerEnvironment });
    const { ContainerProperties } = only(template, 'AWS::Batch::JobDefinition') as {
      ContainerProperties: { Environment: { Name: string; Value: unknown }[] };
    };
    return ContainerProperties.Environment.filter(({ Name }) => Name === 'AWS_REGION');
  };
  expect(regionOf()).toEqual([{ Name: 'AWS_REGION', Value: { Ref: 'AWS::Region' } }]);
  expect(regionOf({ AWS_REGION: 'eu-west-1' })).toEqual([
    { Name: 'AWS_REGION', Value: 'eu-west-1' },
  ]);
});

test.each(CONFIGURATIONS)('AWS takes it: %s', (_name, props, gpu) => {
  const { template } = deploy(
    props,
    gpu ? {} : { image: existingImage({ variant: 'in-process' }) },
  );
  const { ReplaceComputeEnvironment, UpdatePolicy } = only(
    template,
    'AWS::Batch::ComputeEnvironment',
  );
  expect([ReplaceComputeEnvironment, UpdatePolicy]).toEqual([
    false,
    { JobExecutionTimeoutMinutes: 7200 },
  ]);
  for (const type of ['JobDefinition', 'ComputeEnvironment', 'JobQueue']) {
    const name = `AWS::Batch::${type}`;
    expect(batchProblems(name, only(template, name))).toEqual([]);
  }
});

test.each(CONFIGURATIONS)('the image takes the arguments: %s', (_name, props, gpu) => {
  const { template } = deploy(
    props,
    gpu ? {} : { image: existingImage({ variant: 'in-process' }) },
  );
  const { ContainerProperties, Parameters } = only(template, 'AWS::Batch::JobDefinition') as {
    ContainerProperties: { Command: unknown[] };
    Parameters: Record<string, string>;
  };
  // As AWS Batch does: https://docs.aws.amazon.com/batch/latest/userguide/job_definition_parameters.html#parameters
  const args = ContainerProperties.Command.map((part) => {
    const text = typeof part === 'string' ? part : '--model-path=s3://assets/model.tar.gz';
    return text.startsWith('Ref::') ? (Parameters[text.slice('Ref::'.length)] as string) : text;
  });
  expect(args[0]).toBe('batch-worker');
  const variables = { AWS_BATCH_JOB_ARRAY_INDEX: '2', AWS_BATCH_JOB_ARRAY_SIZE: '8' };
  expect(readOptions(args.slice(1), 4, variables)).toMatchObject({
    inputUri: 's3://data/tiles/',
    outputUri: 's3://data/answers/',
    modelPath: 's3://assets/model.tar.gz',
    contentType: props.contentType ?? 'application/x-image',
    ranges: props.ranges ?? 64,
    keySuffix: props.keySuffix ?? '',
    maxFailurePercent: props.maxFailurePercent ?? 50,
    share: { index: 2, of: 8 },
  });
});

test('synthesis warns of nothing that the construct does itself', () => {
  const { worker } = deploy();
  const warnings = Annotations.fromStack(worker.stack).findWarning('*', Match.anyValue());
  expect(warnings.map(({ entry }) => entry.data)).toEqual([]);
});

test('a worker whose instance is taken back starts again; one that cannot succeed does not', () => {
  const { template } = deploy();
  expect(only(template, 'AWS::Batch::JobDefinition').RetryStrategy).toEqual({
    Attempts: 10,
    EvaluateOnExit: [
      { Action: 'RETRY', OnStatusReason: 'Host EC2*' },
      { Action: 'RETRY', OnReason: 'CannotPullContainerError:*' },
      { Action: 'EXIT', OnReason: 'OutOfMemoryError*' },
      { Action: 'RETRY', OnExitCode: '137' },
      { Action: 'EXIT', OnReason: '*' },
    ],
  });
});

test('a worker reads its inputs, its model and its answers, writes answers, and may do nothing else', () => {
  const { template, worker } = deploy();
  const role = worker.role.node.id;
  const policies = Object.values(template.findResources('AWS::IAM::Policy')).map(
    ({ Properties }) => Properties as { Roles: unknown; PolicyDocument: { Statement: unknown[] } },
  );
  const own = policies.filter(({ Roles }) => JSON.stringify(Roles).includes(`Worker${role}`));
  const actions = own.flatMap(({ PolicyDocument }) =>
    PolicyDocument.Statement.flatMap((statement) => (statement as { Action: string[] }).Action),
  );
  expect([...new Set(actions)].sort()).toEqual([
    's3:AbortMultipartUpload',
    's3:GetObject',
    's3:ListBucket',
    's3:PutObject',
  ]);
});

test('a schedule starts as many workers as the run has, and an alarm tells of runs that did not start', () => {
  const { template, worker } = deploy((stack) => ({
    schedule: Schedule.expression('rate(1 day)'),
    workers: 12,
    topic: new Topic(stack, 'Topic'),
  }));
  expect(unkeptStarts(template, true)).toEqual([]);
  template.hasResourceProperties('AWS::Events::Rule', {
    ScheduleExpression: 'rate(1 day)',
    Targets: [
      Match.objectLike({
        BatchParameters: Match.objectLike({
          ArrayProperties: { Size: 12 },
          // Without a revision: an update of the job deregisters the one that the rule would name.
          JobDefinition: worker.definitionName,
        }),
      }),
    ],
  });
  expect(only(template, 'AWS::Batch::JobDefinition').JobDefinitionName).toBe(worker.definitionName);
});

test('one worker is a plain job: AWS Batch takes no array of one', () => {
  const { template } = deploy({ schedule: Schedule.expression('rate(1 day)'), workers: 1 });
  const { Targets } = only(template, 'AWS::Events::Rule') as { Targets: object[] };
  expect(JSON.stringify(Targets)).not.toContain('ArrayProperties');
});

test('a topic receives runs, not each worker', () => {
  const { template } = deploy((stack) => ({ topic: new Topic(stack, 'Topic') }));
  template.hasResourceProperties('AWS::Events::Rule', {
    EventPattern: {
      source: ['aws.batch'],
      detail: Match.objectLike({
        status: ['SUCCEEDED', 'FAILED'],
        arrayProperties: { index: [{ exists: false }] },
      }),
    },
  });
});

test('a worker without an instance does not wait for ever, and the topic knows', () => {
  const actions = (props: Partial<BatchWorkerProps>) =>
    only(deploy(props).template, 'AWS::Batch::JobQueue').JobStateTimeLimitActions;
  const cancel = { Action: 'CANCEL', State: 'RUNNABLE' };
  const expected = (MaxTimeSeconds: number) => [
    ...['JOB_RESOURCE_REQUIREMENT', 'COMPUTE_ENVIRONMENT_MAX_RESOURCE'].map((reason) => ({
      ...{ ...cancel, MaxTimeSeconds: 600, Reason: `MISCONFIGURATION:${reason}` },
    })),
    { ...cancel, MaxTimeSeconds, Reason: 'CAPACITY:INSUFFICIENT_INSTANCE_CAPACITY' },
  ];
  expect(actions({})).toEqual(expected(86_400));
  expect(actions({ provisioningTimeout: Duration.hours(2) })).toEqual(expected(7200));
  deploy((stack) => ({ topic: new Topic(stack, 'Topic') })).template.hasResourceProperties(
    'AWS::Events::Rule',
    {
      EventPattern: {
        source: ['aws.batch'],
        'detail-type': ['Batch Job Queue Blocked'],
        detail: { jobQueue: [{ 'Fn::GetAtt': [Match.stringLikeRegexp('Queue'), 'JobQueueArn'] }] },
      },
      Targets: [Match.objectLike({ InputPath: '$.detail' })],
    },
  );
});

test.each<[number, Partial<BatchWorkerProps>]>([
  [8 * 4, {}],
  [20 * 4, { workers: 20, vcpus: 3 }],
  [20 * 8, { workers: 20, vcpus: 8, instanceTypes: ['m6i.2xlarge'] }],
  [8 * 2, { vcpus: 2, memory: Size.gibibytes(3), instanceTypes: ['c7i.large'] }],
  [8 * 64, { instanceTypes: ['m6i.xlarge', 'm6i.16xlarge'] }],
  [8 * 192, { vcpus: 96, instanceTypes: ['m7i.metal-48xl'] }],
  [8 * 96, { vcpus: 96, instanceTypes: ['c5.metal'] }],
])('all workers find place at once, one on each instance: %d vCPUs', (most, props) => {
  const image = existingImage({ variant: 'in-process' });
  expect(only(deploy(props, { image }).template, 'AWS::Batch::ComputeEnvironment')).toMatchObject({
    ComputeResources: { MaxvCpus: most },
  });
});

describe('instance types and the image', () => {
  const IMAGES = {
    gpu: { variant: 'gpu' },
    cpu: { variant: 'in-process' },
    arm: { variant: 'in-process', architecture: 'arm64' },
  } as const;
  const withTypes = (
    image: keyof typeof IMAGES,
    instanceTypes: string[],
    props: Partial<BatchWorkerProps> = {},
  ) => deploy({ instanceTypes, ...props }, { image: existingImage(IMAGES[image]) });

  test.each<[keyof typeof IMAGES, string[], RegExp]>([
    ['cpu', ['m7g.xlarge'], /instanceTypes\[0\]: m7g.xlarge is arm64 and the image is x86_64/],
    ['cpu', ['m6i.xlarge', 'im4gn.xlarge'], /instanceTypes\[1\]: im4gn.xlarge is arm64/],
    ['cpu', ['a1.xlarge'], /a1.xlarge is arm64/],
    ['arm', ['m7i.xlarge'], /m7i.xlarge is x86_64 and the image is arm64/],
    ['gpu', ['m6i.xlarge'], /m6i.xlarge has no GPU.*such as g4dn.xlarge/],
    ['gpu', ['g5g.xlarge'], /g5g.xlarge is arm64/],
    ['gpu', ['g4ad.xlarge'], /cannot use the AMD Radeon of g4ad.xlarge/],
    ['gpu', ['p2.xlarge'], /no longer supports the K80 of p2.xlarge/],
    ['cpu', ['inf2.xlarge'], /cannot use the AWS Inferentia of inf2.xlarge/],
  ])('refused: %s on %j', (image, types, message) => {
    expect(() => withTypes(image, types)).toThrow(message);
  });

  test.each<[keyof typeof IMAGES, string[]]>([
    ['cpu', ['m6i.xlarge', 'm7a.xlarge', 'i4i.xlarge', 'c7i-flex.2xlarge']],
    ['arm', ['m7g.xlarge', 'c8gn.2xlarge', 'r6gd.xlarge']],
    ['gpu', ['g6.xlarge', 'gr6.4xlarge', 'g6e.xlarge']],
  ])('taken, without a warning: %s on %j', (image, types) => {
    const { stack } = withTypes(image, types).worker;
    const warnings = Annotations.fromStack(stack).findWarning('*', Match.anyValue());
    expect(warnings.map(({ entry }) => entry.data)).toEqual([]);
  });

  test('a GPU that the image does not use is a warning', () => {
    const { stack } = withTypes('cpu', ['g5.xlarge']).worker;
    Annotations.fromStack(stack).hasWarning(
      '*',
      Match.stringLikeRegexp("g5.xlarge has a GPU that the 'in-process' image does not use"),
    );
  });

  test('an image for arm64 has default types', () => {
    const { template } = deploy({}, { image: existingImage(IMAGES.arm) });
    expect(only(template, 'AWS::Batch::ComputeEnvironment')).toMatchObject({
      ComputeResources: { InstanceTypes: ['m6g.xlarge', 'm7g.xlarge'] },
    });
  });

  test.each<[Partial<BatchWorkerProps>, RegExp]>([
    [{ vcpus: 8 }, /vcpus: a worker of 8 vCPUs and 12 GiB .*: m6i.xlarge has 4 vCPUs and 16 GiB/],
    [{ memory: Size.gibibytes(16) }, /memory: a worker of 4 vCPUs and 16 GiB/],
    [{ instanceTypes: ['c7i.2xlarge', 'c7i.xlarge'], memory: Size.gibibytes(20) }, /memory: /],
  ])('refused, as no instance holds it: %j', (props, message) => {
    expect(() => withTypes('cpu', ['m6i.xlarge', 'm6a.xlarge'], props)).toThrow(message);
  });

  test('one type that can hold the worker is enough, and so is one that nothing is known of', () => {
    const memory = Size.gibibytes(60);
    expect(() => withTypes('cpu', ['m6i.xlarge', 'm6i.4xlarge'], { memory })).not.toThrow();
    expect(() => withTypes('cpu', ['m6i.xlarge', 'x2idn.metal'], { memory })).not.toThrow();
  });
});

test('a worker that hangs is ended: after five days, or as asked', () => {
  const timeoutOf = (props: Partial<BatchWorkerProps>) =>
    only(deploy(props).template, 'AWS::Batch::JobDefinition').Timeout;
  expect(timeoutOf({})).toEqual({ AttemptDurationSeconds: 5 * 24 * 3600 });
  expect(timeoutOf({ timeout: Duration.hours(2) })).toEqual({ AttemptDurationSeconds: 7200 });
  expect(() => deploy({ timeout: Duration.seconds(59) })).toThrow(/timeout: 59 seconds .*60/);
});

describe('deployments while workers run', () => {
  const environmentOf = (template: Template) => only(template, 'AWS::Batch::ComputeEnvironment');

  test.each<[number, Partial<BatchWorkerProps>]>([
    [7200, {}],
    [120, { timeout: Duration.hours(2) }],
    [2, { timeout: Duration.seconds(61) }],
    [7200, { timeout: Duration.days(14) }],
  ])('running workers have %d minutes', (minutes, props) => {
    expect(environmentOf(deploy(props).template)).toMatchObject({
      ReplaceComputeEnvironment: false,
      UpdatePolicy: { JobExecutionTimeoutMinutes: minutes },
    });
  });

  test('a tag is on the instances, and leaves the environment as it is', () => {
    const { template } = deploy((stack) => {
      Tags.of(stack).add('team', 'vision');
      return {};
    });
    const { Tags: own, ComputeResources } = environmentOf(template);
    expect(own).toBeUndefined();
    expect(ComputeResources).toMatchObject({ Tags: { team: 'vision' } });
  });
});

test('a model package has no archive that a worker could read', () => {
  expect(() =>
    deploy((stack) => ({
      model: testModel(
        stack,
        {
          modelData: ModelData.fromModelPackage(
            'arn:aws:sagemaker:us-east-1:123456789012:model-package/digits/1',
            { bucket: Bucket.fromBucketName(stack, 'Archives', 'archives') },
          ),
        },
        'Packaged',
      ),
    })),
  ).toThrow(/model: a worker reads one archive/i);
});

test('one key for the logs', () => {
  const { template } = deploy((stack) => ({ encryptionKey: new Key(stack, 'Key') }));
  template.hasResourceProperties('AWS::Logs::LogGroup', { KmsKeyId: Match.anyValue() });
});

test('whoever is let start runs may submit this job, in any revision, to this queue, and look at runs', () => {
  const stack = testStack();
  const bucket = Bucket.fromBucketName(stack, 'Data', 'data');
  const model = testModel(stack);
  const place = { bucket, prefix: 'tiles/' };
  const worker = new BatchWorker(stack, 'Worker', {
    ...{ model, vpc: new Vpc(stack, 'Vpc'), input: place },
    output: { bucket, prefix: 'answers/' },
  });
  expect(worker.grantStart(new User(stack, 'Operator')).success).toBe(true);
  Template.fromStack(stack).hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Action: 'batch:SubmitJob',
          // Without the revision of today, which a request for the newest does not name tomorrow.
          Resource: Match.arrayWith([
            { 'Fn::GetAtt': [Match.stringLikeRegexp('^WorkerQueue'), 'JobQueueArn'] },
            { 'Fn::Join': ['', Match.arrayWith([`:job-definition/${worker.definitionName}:*`])] },
          ]),
        }),
        Match.objectLike({ Action: 'batch:TagResource' }),
        Match.objectLike({
          Action: ['batch:DescribeJobDefinitions', 'batch:DescribeJobs', 'batch:ListJobs'],
          Resource: '*',
        }),
      ]),
    },
  });
  Annotations.fromStack(stack).hasNoError('*', Match.anyValue());
});

test.each<[string, Partial<BatchWorkerProps>, RegExp]>([
  ['workers', { workers: 10_001 }, /workers.*from 1 to 10000/s],
  ['attempts', { attempts: 11 }, /attempts.*from 1 to 10/s],
  ['ranges', { workers: 100, ranges: 50 }, /ranges.*leave some of 100 workers.*Give 100/s],
  ['instanceTypes', { instanceTypes: ['ml.g5.xlarge'] }, /instanceTypes\[0\].*Write 'g5\.xlarge'/s],
  ['an empty list', { instanceTypes: [] }, /instanceTypes.*empty/s],
  ['no type', { instanceTypes: ['large'] }, /'large' is not an instance type/s],
  [
    'provisioningTimeout',
    { provisioningTimeout: Duration.minutes(5) },
    /provisioningTimeout.*from 600 to 86400 seconds/s,
  ],
  ['schedule', { schedule: Schedule.expression('rate(1 days)') }, /schedule/],
])('refused: %s', (_name, props, message) => {
  expect(() => deploy(props)).toThrow(message);
});
