/** Models: data, role, network, and packaging as part of synthesis. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { type IVpc, SecurityGroup, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Role } from 'aws-cdk-lib/aws-iam';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { type App, Stack } from 'aws-cdk-lib/core';
import {
  ModelData,
  RealtimeEndpoint,
  type RuntimeEnvironment,
  ServingImage,
  TENSORFLOW_SERVING_CUDA,
  type TensorFlowModel,
} from '../../lib/index.ts';
import { hashSources, warnOfSize } from '../../lib/testing/parts.ts';
import {
  existingImage,
  MODEL_DIR,
  stubContainer,
  testApp,
  testModel,
  testStack,
} from '../support/stacks.ts';

const MODEL = 'AWS::SageMaker::Model';
const bucketOf = (stack: Stack): IBucket => Bucket.fromBucketName(stack, 'Bucket', 'data');

test('a model in a VPC joins its private subnets, and may do only that', () => {
  const stack = testStack();
  const vpc: unknown = new Vpc(stack, 'Vpc', { maxAzs: 2 });
  const model = testModel(stack, { vpc: vpc as IVpc });
  const template = Template.fromStack(stack);
  template.hasResourceProperties(MODEL, {
    EnableNetworkIsolation: true,
    VpcConfig: {
      Subnets: [Match.anyValue(), Match.anyValue()],
      SecurityGroupIds: Match.anyValue(),
    },
  });
  template.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Action: Match.arrayWith(['ec2:CreateNetworkInterface']) }),
      ]),
    },
  });
  expect(model.connections.securityGroups).toHaveLength(1);
});

test('subnets and security groups may be of the account that shares its VPC', () => {
  const stack = testStack();
  const vpc = Vpc.fromVpcAttributes(stack, 'Vpc', {
    vpcId: 'vpc-1',
    availabilityZones: ['us-east-1a'],
    privateSubnetIds: ['subnet-0123456789abcdef0'],
  });
  const group = SecurityGroup.fromSecurityGroupId(stack, 'Group', 'sg-0123456789abcdef0', {
    mutable: false,
  });
  testModel(stack, { vpc, securityGroups: [group] });
  const policies = JSON.stringify(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
  const own = '{"Ref":"AWS::AccountId"}';
  expect(policies).toContain(':*:subnet/subnet-0123456789abcdef0"');
  expect(policies).toContain(':*:security-group/sg-0123456789abcdef0"');
  expect(policies).toContain(`${own},":network-interface/*"`);
});

test('a role of another account is refused, and warned of where the account is not known', () => {
  const roleArn = 'arn:aws:iam::222222222222:role/theirs';
  const inAccount = (account?: string) => {
    const env = account === undefined ? {} : { env: { account, region: 'us-east-1' } };
    const stack = new Stack(testApp(), 'Test', env);
    testModel(stack, { role: Role.fromRoleArn(stack, 'Theirs', roleArn) });
    return Annotations.fromStack(stack).findWarning(
      '*',
      Match.stringLikeRegexp('is of account 222222222222'),
    );
  };
  expect(() => inAccount('111111111111')).toThrow(/role: .*222222222222.*111111111111/);
  expect(inAccount('222222222222')).toEqual([]);
  expect(inAccount()).toHaveLength(1);
});

test('models from S3: an archive, files under a prefix, many models', () => {
  const stack = testStack();
  const bucket = bucketOf(stack);
  testModel(stack, { modelData: ModelData.fromArchive(bucket, 'a/model.tar.gz') }, 'Archive');
  testModel(stack, { modelData: ModelData.fromPrefix(bucket, 'a/') }, 'Prefix');
  const image = existingImage({ variant: 'cpu' });
  testModel(stack, { image, modelData: ModelData.multiModel(bucket, 'many/') }, 'Many');
  const template = Template.fromStack(stack);
  template.hasResourceProperties(MODEL, {
    PrimaryContainer: { ModelDataUrl: 's3://data/a/model.tar.gz' },
  });
  template.hasResourceProperties(MODEL, {
    PrimaryContainer: {
      ModelDataSource: {
        S3DataSource: { S3Uri: 's3://data/a/', S3DataType: 'S3Prefix', CompressionType: 'None' },
      },
    },
  });
  template.hasResourceProperties(MODEL, {
    PrimaryContainer: { Mode: 'MultiModel', ModelDataUrl: 's3://data/many/' },
  });
});

test('only sources decide the hash: contents of model, handler and its imports', () => {
  const directory = mkdtempSync(join(tmpdir(), 'sources-'));
  const model = join(directory, 'model');
  const handler = join(directory, 'inference.ts');
  cpSync(MODEL_DIR, model, { recursive: true });
  writeFileSync(handler, `export { helper as handler } from './helper.ts';`);
  writeFileSync(join(directory, 'helper.ts'), 'export const helper = () => 1;');
  const hash = () => hashSources('test', { model, handler });
  const first = hash();
  writeFileSync(join(directory, 'unrelated.ts'), '');
  expect(hash()).toBe(first);
  const moved = mkdtempSync(join(tmpdir(), 'moved-'));
  cpSync(directory, moved, { recursive: true });
  expect(
    hashSources('test', { model: join(moved, 'model'), handler: join(moved, 'inference.ts') }),
  ).toBe(first);
  writeFileSync(join(directory, 'helper.ts'), 'export const helper = () => 2;');
  const second = hash();
  expect(second).not.toBe(first);
  writeFileSync(join(model, 'more'), '');
  expect(hash()).not.toBe(second);
});

test('the permission to read model data is another resource for every revision', () => {
  const ids = ['a/1.tar.gz', 'a/2.tar.gz'].map((key) => {
    const stack = testStack();
    testModel(stack, { modelData: ModelData.fromArchive(bucketOf(stack), key) });
    const policies = Object.keys(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
    return policies.find((id) => id.startsWith('ModelReadModelData'));
  });
  expect(new Set(ids).size).toBe(2);
});

test('an image is built from its context alone, for the platform that SageMaker runs', () => {
  const stack = testStack();
  const image = new ServingImage(stack, 'Image', { variant: 'gpu', directory: stubContainer() });
  testModel(stack, { image });
  const { directory } = (stack.node.root as App).synth();
  const assets = JSON.parse(readFileSync(join(directory, 'Test.assets.json'), 'utf8')) as {
    dockerImages: Record<string, { source: object }>;
  };
  expect(Object.values(assets.dockerImages).map(({ source }) => source)).toEqual([
    {
      directory: expect.stringMatching(/^asset\./),
      dockerBuildTarget: 'model-server',
      dockerBuildArgs: { TFS_BASE: expect.stringMatching(/-gpu$/) },
      // Docker's own manifest: CreateModel may refuse OCI's.
      dockerOutputs: ['type=docker'],
      platform: 'linux/amd64',
    },
  ]);
});

test('of a base that is named, the release decides about CUDA, and about whether the runtime starts', () => {
  const stack = testStack();
  const directory = stubContainer();
  const gpu = (id: string, base: string, cuda?: string) =>
    new ServingImage(stack, id, {
      directory,
      variant: 'gpu',
      buildArgs: { TFS_BASE: base },
      ...(cuda && { cuda }),
    }).platform;
  const own = 'registry.example.com/mirror';
  expect(gpu('Old', `${own}/serving:2.19.1-gpu`)).toMatchObject({ cuda: '12.2' });
  expect(gpu('New', `${own}/tensorflow-serving:2.20.0-gpu`)).toMatchObject({ cuda: '12.5' });
  expect(gpu('Given', `${own}/serving:2.19.1-gpu`, '12.9')).toMatchObject({ cuda: '12.9' });
  expect(gpu('Unknown', `${own}/serving@sha256:0`)).toMatchObject({
    cuda: TENSORFLOW_SERVING_CUDA,
  });
  const buildArgs = { TFS_BASE: `${own}/serving:2.8.0` };
  expect(() => new ServingImage(stack, 'TooOld', { directory, buildArgs })).toThrow(
    /TooOld.*buildArgs\.TFS_BASE.*'registry.*:2\.8\.0' stands on Ubuntu 18\.04.*Take a newer one/,
  );
  // It has no TensorFlow Serving.
  const image = { directory, buildArgs, variant: 'in-process' } as const;
  expect(() => new ServingImage(stack, 'Without', image)).not.toThrow();
});

test('an image for Graviton is built for arm64, without TensorFlow Serving', () => {
  const stack = testStack();
  const props = { directory: stubContainer(), architecture: 'arm64' } as const;
  const image = new ServingImage(stack, 'Image', { ...props, variant: 'in-process' });
  testModel(stack, { image });
  expect(() => new ServingImage(stack, 'Other', { ...props, variant: 'cpu' })).toThrow(
    /TensorFlow Serving, which a 'cpu' image holds, is published for x86-64 alone/,
  );
  const { directory } = (stack.node.root as App).synth();
  const assets = JSON.parse(readFileSync(join(directory, 'Test.assets.json'), 'utf8')) as {
    dockerImages: Record<string, { source: object }>;
  };
  expect(Object.values(assets.dockerImages).map(({ source }) => source)).toMatchObject([
    { dockerBuildTarget: 'in-process', platform: 'linux/arm64' },
  ]);
});

test('an in-process image for GPUs is the same target with the other library, and has its CUDA', () => {
  const stack = testStack();
  const props = { directory: stubContainer(), variant: 'in-process-gpu' } as const;
  const image = new ServingImage(stack, 'Image', props);
  expect(image.platform).toEqual({ accelerator: 'gpu', cuda: '12.5', architecture: 'x86_64' });
  const model = testModel(stack, { image });
  new RealtimeEndpoint(stack, 'Endpoint', {
    variants: [{ model, instanceType: 'ml.g5.xlarge' }],
  });
  expect(() => new ServingImage(stack, 'Arm', { ...props, architecture: 'arm64' })).toThrow(
    /TensorFlow's library for GPUs, which a 'in-process-gpu' image holds/,
  );
  const template = Template.fromStack(stack);
  template.hasResourceProperties(MODEL, {
    PrimaryContainer: { Environment: { SAGEMAKER_TFS_BACKEND: 'in-process' } },
  });
  template.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
    ProductionVariants: [{ InferenceAmiVersion: 'al2-ami-sagemaker-inference-gpu-3-1' }],
  });
  const { directory } = (stack.node.root as App).synth();
  const assets = JSON.parse(readFileSync(join(directory, 'Test.assets.json'), 'utf8')) as {
    dockerImages: Record<string, { source: object }>;
  };
  expect(Object.values(assets.dockerImages).map(({ source }) => source)).toMatchObject([
    { dockerBuildTarget: 'in-process', dockerBuildArgs: { ACCELERATOR: 'gpu' } },
  ]);
});

test('synthesis packages the model, names the archive model.tar.gz and knows its fingerprint', () => {
  const stack = testStack({ bundle: true });
  const model = testModel(stack, { modelData: ModelData.fromDirectory(MODEL_DIR) });
  const { directory } = (stack.node.root as App).synth();
  const { manifest, fingerprint, revision } = model.data;
  expect(fingerprint).toBe(manifest?.fingerprint);
  expect(manifest?.models[0]?.versions.length).toBeGreaterThan(0);
  expect(existsSync(join(directory, `asset.${revision}`, 'model.tar.gz'))).toBe(true);
  const url = JSON.stringify(Template.fromStack(stack).findResources(MODEL));
  expect(url).toMatch(new RegExp(`/Test-Model-Package-[0-9a-f]{8}-${revision}\\.tar\\.gz`));
});

test('an unpacked model is laid out under a prefix of its own', () => {
  const stack = testStack({ bundle: true });
  testModel(stack, { modelData: ModelData.fromDirectory(MODEL_DIR, { compression: 'none' }) });
  const template = Template.fromStack(stack);
  template.hasResourceProperties(MODEL, {
    PrimaryContainer: {
      ModelDataSource: { S3DataSource: { S3DataType: 'S3Prefix', CompressionType: 'None' } },
    },
  });
  template.resourceCountIs('Custom::CDKBucketDeployment', 1);
  // It downloads the whole model: the 512 MB of temporary space by default are too few for what this is for.
  template.hasResourceProperties('AWS::Lambda::Function', {
    EphemeralStorage: { Size: 10_240 },
    MemorySize: 3_008,
  });
});

test('an unpacked model that its upload has no room for is warned of', () => {
  const stack = testStack();
  const directory = mkdtempSync(join(tmpdir(), 'large-model-'));
  mkdirSync(join(directory, '1', 'variables'), { recursive: true });
  const weights = join(directory, '1', 'variables', 'variables.data-00000-of-00001');
  writeFileSync(weights, '');
  // Holes: nothing lies on the disk.
  truncateSync(weights, 5 * 2 ** 30);
  warnOfSize(stack, directory);
  expect(Annotations.fromStack(stack).findWarning('*', Match.anyValue())).toEqual([]);
  truncateSync(weights, 5.5 * 2 ** 30);
  warnOfSize(stack, directory);
  Annotations.fromStack(stack).hasWarning('*', Match.stringLikeRegexp('5\\.5 GiB.*aws s3 sync'));
});

test('podman is warned of unless it writes manifests that CreateModel takes', () => {
  const warningsOf = (environment: Readonly<Record<string, string>>) => {
    const before = { ...process.env };
    Object.assign(process.env, environment);
    try {
      const stack = testStack();
      new ServingImage(stack, 'Image', { directory: stubContainer() });
      return Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('OCI'));
    } finally {
      process.env = before;
    }
  };
  expect(warningsOf({ CDK_DOCKER: '/usr/bin/podman' })).toHaveLength(1);
  expect(warningsOf({ CDK_DOCKER: 'podman', BUILDAH_FORMAT: 'docker' })).toEqual([]);
  expect(warningsOf({ CDK_DOCKER: 'finch' })).toEqual([]);
});

test('a new revision of an unpacked model leaves the old files until the update is complete, and not after', () => {
  const uploads = ['half_plus_two', 'keras_functional'].map((model) => {
    const stack = testStack();
    const modelData = ModelData.fromDirectory(resolve('test/fixtures/models', model), {
      compression: 'none',
    });
    testModel(stack, { modelData });
    const template = Template.fromStack(stack);
    // The CDK's function reads these files, and nothing else of the CDK's bucket.
    const reads = Object.values(template.findResources('AWS::IAM::Policy'))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement)
      .filter(({ Resource }) => JSON.stringify(Resource ?? '').includes('cdk-hnb659fds-assets'));
    expect(reads.map(({ Action }) => Action)).toEqual(['s3:GetObject']);
    expect(JSON.stringify(reads)).toMatch(/[0-9a-f]{64}\.zip/);
    return Object.entries(template.findResources('Custom::CDKBucketDeployment'));
  });
  const [[before, after]] = [uploads.map(([first]) => first)];
  // Another resource: CloudFormation makes it first and deletes the old one last, with its files.
  expect(before?.[0]).not.toBe(after?.[0]);
  for (const upload of [before, after]) {
    expect(upload?.[1].Properties).toMatchObject({ RetainOnDelete: false, Prune: false });
  }
  expect(before?.[1].Properties.DestinationBucketKeyPrefix).not.toBe(
    after?.[1].Properties.DestinationBucketKeyPrefix,
  );
});

test.each(['gzip', 'none'] as const)(
  'a model (%s) of another stack stays until the endpoint has left it',
  (compression) => {
    const app = testApp();
    const [models, endpoints] = [new Stack(app, 'Models'), new Stack(app, 'Endpoints')];
    const modelData = ModelData.fromDirectory(MODEL_DIR, { compression });
    const [model, near] = ['Model', 'Near'].map((id) => testModel(models, { modelData }, id));
    const of = (stack: Stack, one: TensorFlowModel) =>
      new RealtimeEndpoint(stack, 'Endpoint', {
        variants: [{ model: one, instanceType: 'ml.g4dn.xlarge' }],
      });
    of(endpoints, model as TensorFlowModel);
    of(models, near as TensorFlowModel);
    const template = Template.fromStack(models);
    const fate = (type: string, id: string) => {
      const found = Object.entries(template.findResources(type)).find(([key]) => key.includes(id));
      return found?.[1];
    };
    expect(fate(MODEL, 'Model')?.UpdateReplacePolicy).toBe('Retain');
    expect(fate(MODEL, 'Near')?.UpdateReplacePolicy).toBeUndefined();
    expect(fate('AWS::IAM::Policy', 'ModelReadEarlierModels')).toBeDefined();
    expect(fate('AWS::IAM::Policy', 'NearReadEarlierModels')).toBeUndefined();
    if (compression === 'gzip') return;
    const upload = 'Custom::CDKBucketDeployment';
    expect(fate(upload, 'ModelsModelUpload')?.Properties.RetainOnDelete).toBe(true);
    expect(fate(upload, 'ModelsNearUpload')?.Properties.RetainOnDelete).toBe(false);
  },
);

test('an image of another account is named where the account is known', () => {
  const infos = (account?: string) => {
    const env = account === undefined ? {} : { env: { account, region: 'us-east-1' } };
    const stack = new Stack(testApp(), 'Test', env);
    testModel(stack);
    const text = Match.stringLikeRegexp('it is of account 123456789012');
    return Annotations.fromStack(stack).findInfo('*', text).length;
  };
  expect([infos('111111111111'), infos('123456789012'), infos()]).toEqual([1, 0, 0]);
});

test('models do not share the start of their archives, unless asked to', () => {
  const starts = [{}, {}, { archiveName: 'a' }, { archiveName: 'a' }].map((options, i) => {
    const stack = new Stack(testApp(), `Stack${i}`);
    testModel(stack, { modelData: ModelData.fromDirectory(MODEL_DIR, options) });
    const url = JSON.stringify(Template.fromStack(stack).findResources(MODEL));
    return /\/([A-Za-z0-9-]+)-[0-9a-f]{64}\.tar\.gz/.exec(url)?.[1];
  });
  expect(starts[0]).toMatch(/^Stack0-Model-Package-[0-9a-f]{8}$/);
  expect(starts[1]).not.toBe(starts[0]);
  expect(starts[2]).toMatch(/^a-[0-9a-f]{8}$/);
  expect(starts[3]).toBe(starts[2]);
});

/** Warnings about batching, where the environment is this one. */
function batchingWarnings(directory: string, environment: RuntimeEnvironment): unknown[] {
  const stack = testStack({ bundle: true });
  const image = existingImage({
    variant: environment.SAGEMAKER_TFS_BACKEND === 'in-process' ? 'in-process' : 'cpu',
  });
  testModel(stack, { image, modelData: ModelData.fromDirectory(directory), environment });
  const found = Annotations.fromStack(stack).findWarning('*', Match.stringLikeRegexp('batched'));
  return found.map(({ entry }) => entry.data);
}

test('signatures that cannot be batched are named where batching is on, with what to do', () => {
  const detection = resolve('test/fixtures/models/detection');
  const [warning, ...others] = batchingWarnings(detection, {
    SAGEMAKER_TFS_ENABLE_BATCHING: true,
  });
  expect(others).toEqual([]);
  expect(warning).toContain('signature "serving_default" cannot be batched: input ');
  expect(warning).toContain('run one by one');
  expect(batchingWarnings(detection, {})).toEqual([]);
  expect(batchingWarnings(MODEL_DIR, { SAGEMAKER_TFS_ENABLE_BATCHING: true })).toEqual([]);
});
