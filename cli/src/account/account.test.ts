/** `doctor --account` against moto; quotas, which moto does not have, from a stand-in. */
import { mkdtempSync } from 'node:fs';
import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CloudFormationClient,
  CreateChangeSetCommand,
  CreateStackCommand,
} from '@aws-sdk/client-cloudformation';
import { CreateRepositoryCommand, ECRClient, PutImageCommand } from '@aws-sdk/client-ecr';
import {
  CreateModelCommand,
  ListEndpointsCommand,
  SageMakerClient,
  UpdateEndpointWeightsAndCapacitiesCommand,
} from '@aws-sdk/client-sagemaker';
import { type Moto, startMoto } from '../../../test/rehearse/moto.ts';
import { type SageMakerStandIn, startService } from '../batch/aws/sagemaker-stand-in.ts';
import { sagemakerTfs } from '../batch/test-support.ts';

const ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: 'test',
  AWS_SECRET_ACCESS_KEY: 'test',
  AWS_REGION: 'us-east-1',
};
const REGISTRY = '123456789012.dkr.ecr.us-east-1.amazonaws.com';
const TOOLKIT = {
  Resources: { Topic: { Type: 'AWS::SNS::Topic' } },
  Outputs: { BootstrapVersion: { Value: '30' } },
};

const work = mkdtempSync(join(tmpdir(), 'account-'));
let moto: Moto;
let quotas: SageMakerStandIn;
let limits: Readonly<Record<string, number>>;

beforeAll(async () => {
  Object.assign(process.env, ENVIRONMENT);
  moto = await startMoto();
  quotas = await startService((operation) => ({
    // A default of none; what the account has is the applied value.
    Quotas: Object.entries(limits).map(([QuotaName, value]) => ({
      QuotaName,
      QuotaCode: QuotaName,
      Value: operation === 'ListServiceQuotas' ? value : 0,
    })),
  }));
});

afterAll(async () => {
  await quotas?.close();
  await moto?.stop();
});

beforeEach(async () => {
  await moto.reset();
  limits = {};
});

/** A template of an endpoint with autoscaling, and of a state machine for jobs. */
function templateOf(instanceType: string, image: unknown = { 'Fn::Sub': 'built' }) {
  const settings = { instanceType: 'ml.p3.2xlarge', instanceCount: 2, objectsPerShard: 0 };
  const fallbacks = [{ instanceType: 'ml.g5.2xlarge' }];
  return {
    Resources: {
      Model: { Type: 'AWS::SageMaker::Model', Properties: { PrimaryContainer: { Image: image } } },
      Config: {
        Type: 'AWS::SageMaker::EndpointConfig',
        Properties: {
          ProductionVariants: [
            {
              VariantName: 'AllTraffic',
              ModelName: 'digits',
              InstanceType: instanceType,
              InitialInstanceCount: 2,
              InitialVariantWeight: 1,
            },
          ],
        },
      },
      Endpoint: { Type: 'AWS::SageMaker::Endpoint', Properties: {} },
      Target: {
        Type: 'AWS::ApplicationAutoScaling::ScalableTarget',
        Properties: { ResourceId: 'endpoint/digits/variant/AllTraffic', MaxCapacity: 4 },
      },
      Machine: {
        Type: 'AWS::StepFunctions::StateMachine',
        Properties: {
          DefinitionString: {
            'Fn::Join': ['', [JSON.stringify(JSON.stringify({ ...settings, fallbacks }))]],
          },
        },
      },
    },
  };
}

/** An app with a stack for each environment, in a folder as `cdk synth` writes it. */
async function synthesize(
  template: object,
  environments: Readonly<Record<string, string>> = {
    serving: 'aws://unknown-account/unknown-region',
  },
  more: object = {},
): Promise<string> {
  const folder = await mkdtemp(join(work, 'app-'));
  const artifacts = Object.fromEntries(
    Object.entries(environments).map(([name, environment]) => [
      name,
      {
        type: 'aws:cloudformation:stack',
        environment,
        properties: { templateFile: 'serving.json', requiresBootstrapStackVersion: 6, ...more },
      },
    ]),
  );
  await writeFile(join(folder, 'manifest.json'), JSON.stringify({ version: '1', artifacts }));
  await writeFile(join(folder, 'serving.json'), JSON.stringify(template));
  return folder;
}

async function stack(StackName: string, template: object): Promise<void> {
  const client = new CloudFormationClient({ endpoint: moto.url });
  await client.send(new CreateStackCommand({ StackName, TemplateBody: JSON.stringify(template) }));
  client.destroy();
}

async function doctor(app: string, environment: Readonly<Record<string, string>> = {}) {
  const { stdout, stderr, exitCode } = await sagemakerTfs(
    ['doctor', '--account', '--app', app, '--json'],
    {
      ...ENVIRONMENT,
      AWS_ENDPOINT_URL: moto.url,
      AWS_ENDPOINT_URL_SERVICE_QUOTAS: quotas.url,
      ...environment,
    },
  );
  // The findings, and behind them the error where there is one.
  const [first = '{}'] = stdout.split(/\n(?=\{"error")/);
  const { findings = [], plan } = JSON.parse(first) as {
    findings: { what: string; ok: boolean; detail: string }[];
    plan: unknown;
  };
  const of = (what: string) => findings.find((finding) => finding.what.includes(what));
  return { exitCode, stderr, findings, plan, of };
}

const READY = {
  'ml.g5.xlarge for endpoint usage': 8,
  'ml.p3.2xlarge for transform job usage': 0,
  'ml.g5.2xlarge for transform job usage': 2,
};

test('a bare account: each thing that lacks, with what to do', async () => {
  const { exitCode, stderr, of, plan } = await doctor(await synthesize(templateOf('ml.g5.xlarge')));
  expect(exitCode).toBe(1);
  expect(stderr).toContain('The account is not ready');
  expect(of('bootstrap')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('cdk bootstrap'),
  });
  expect(of('ml.g5.xlarge for endpoint')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(
      /^0, and 8 needed with the second fleet.*ask Service Quotas for 8/,
    ),
  });
  expect(of('ml.p3.2xlarge')).toMatchObject({
    ok: true,
    detail: expect.stringContaining('next type'),
  });
  expect(of('stack serving')).toMatchObject({ ok: true, detail: 'new' });
  expect(of('role of autoscaling')).toMatchObject({
    detail: expect.stringContaining('iam:CreateServiceLinkedRole'),
  });
  expect(plan).toEqual([
    expect.objectContaining({ makes: '2 x ml.g5.xlarge (endpoint)', usdAnHour: 2.816 }),
    expect.objectContaining({
      makes: '2 x ml.p3.2xlarge (transform job)',
      usdWhile: 'while jobs run',
    }),
    expect.objectContaining({ makes: '2 x ml.g5.2xlarge (transform job)' }),
  ]);
});

test('an account that is ready', async () => {
  limits = READY;
  await stack('CDKToolkit', TOOLKIT);
  const { exitCode, findings } = await doctor(await synthesize(templateOf('ml.g5.xlarge')));
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  expect(exitCode).toBe(0);
});

test('a bootstrap with a qualifier of its own is found under any name', async () => {
  limits = READY;
  await stack('CDKToolkit', TOOLKIT);
  const bootstrapStackVersionSsmParameter = '/cdk-bootstrap/mine/version';
  const app = await synthesize(templateOf('ml.g5.xlarge'), undefined, {
    bootstrapStackVersionSsmParameter,
  });
  expect((await doctor(app)).of('bootstrap')).toEqual({
    what: "bootstrap 'mine'",
    ok: false,
    detail: 'not done in this region: npx cdk bootstrap --qualifier mine',
  });
  const Parameters = { Qualifier: { Type: 'String', Default: 'mine' } };
  await stack('our-toolkit', { ...TOOLKIT, Parameters });
  expect((await doctor(app)).of('bootstrap')).toMatchObject({ ok: true, detail: 'version 30' });
});

test('a time of a schedule may need more instances than all others', async () => {
  limits = READY;
  const template = templateOf('ml.g5.xlarge');
  Object.assign(template.Resources.Target.Properties, {
    ScheduledActions: [
      { Schedule: 'at(2026-12-24T18:00:00)', ScalableTargetAction: { MinCapacity: 1 } },
      { Schedule: 'cron(0 8 ? * * *)', ScalableTargetAction: { MaxCapacity: 10 } },
    ],
  });
  const { of } = await doctor(await synthesize(template));
  expect(of('ml.g5.xlarge for endpoint')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(/^8, and 20 needed/),
  });
});

test('a stack whose change set was not executed is a new one', async () => {
  limits = READY;
  const client = new CloudFormationClient({ endpoint: moto.url });
  await client.send(
    new CreateChangeSetCommand({
      ...{ StackName: 'reviewed', ChangeSetName: 'first', ChangeSetType: 'CREATE' },
      TemplateBody: JSON.stringify(TOOLKIT),
    }),
  );
  client.destroy();
  const app = await synthesize(templateOf('ml.g5.xlarge'), {
    reviewed: 'aws://unknown-account/unknown-region',
  });
  expect((await doctor(app)).of('stack reviewed')).toMatchObject({
    ok: true,
    detail: expect.stringContaining('REVIEW_IN_PROGRESS: new'),
  });
});

test('another type of a variant that is scaled now is reported before SageMaker refuses it', async () => {
  limits = { 'ml.m5.xlarge for endpoint usage': 8, 'ml.c5.xlarge for endpoint usage': 8 };
  await stack('CDKToolkit', TOOLKIT);
  const sagemaker = new SageMakerClient({ endpoint: moto.url });
  const ExecutionRoleArn = 'arn:aws:iam::123456789012:role/serving';
  await sagemaker.send(new CreateModelCommand({ ModelName: 'digits', ExecutionRoleArn }));
  sagemaker.destroy();
  const { Target, Config } = templateOf('ml.c5.xlarge').Resources;
  await stack('serving', { Resources: { Topic: { Type: 'AWS::SNS::Topic' }, Target, Config } });
  const { of } = await doctor(await synthesize(templateOf('ml.m5.xlarge')));
  expect(of('stack serving')).toMatchObject({
    ok: false,
    detail: expect.stringMatching(
      /AllTraffic: ml\.c5\.xlarge to ml\.m5\.xlarge.*registered: false/,
    ),
  });
  expect((await doctor(await synthesize(templateOf('ml.c5.xlarge')))).of('stack')?.ok).toBe(true);
  const renamed = JSON.stringify(templateOf('ml.c5.xlarge')).replaceAll('AllTraffic', 'Renamed');
  expect((await doctor(await synthesize(JSON.parse(renamed)))).of('stack serving')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('AllTraffic: removed or renamed'),
  });
  // Another list of types is another type too.
  const pools = templateOf('ml.c5.xlarge');
  const [variant] = pools.Resources.Config.Properties.ProductionVariants as object[];
  Object.assign(variant ?? {}, {
    InstanceType: undefined,
    InstancePools: [{ InstanceType: 'ml.c5.xlarge' }, { InstanceType: 'ml.m5.xlarge' }],
  });
  expect((await doctor(await synthesize(pools))).of('stack serving')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('ml.c5.xlarge to ml.c5.xlarge or ml.m5.xlarge'),
  });
});

describe('instances that run now', () => {
  const traffic = (Type: string) => ({
    RetainAllVariantProperties: true,
    DeploymentConfig: { BlueGreenUpdatePolicy: { TrafficRoutingConfiguration: { Type } } },
  });
  const rolling = {
    RetainAllVariantProperties: true,
    DeploymentConfig: { RollingUpdatePolicy: {} },
  };
  const resources = (endpoint: object, scaled = true) => {
    const { Target, Config } = templateOf('ml.c5.xlarge').Resources;
    const EndpointConfigName = { 'Fn::GetAtt': ['Config', 'EndpointConfigName'] };
    const Properties = { EndpointName: 'digits', EndpointConfigName, ...endpoint };
    const Endpoint = { Type: 'AWS::SageMaker::Endpoint', Properties };
    return { Resources: { Config, Endpoint, ...(scaled && { Target }) } };
  };

  /** Deploys the endpoint with a number of instances. */
  async function running(DesiredInstanceCount: number): Promise<void> {
    const sagemaker = new SageMakerClient({ endpoint: moto.url });
    const ExecutionRoleArn = 'arn:aws:iam::123456789012:role/serving';
    await sagemaker.send(new CreateModelCommand({ ModelName: 'digits', ExecutionRoleArn }));
    await stack('serving', resources({}));
    const DesiredWeightsAndCapacities = [{ VariantName: 'AllTraffic', DesiredInstanceCount }];
    // moto names endpoints by itself.
    const { Endpoints: [{ EndpointName } = {}] = [] } = await sagemaker.send(
      new ListEndpointsCommand({}),
    );
    await sagemaker.send(
      new UpdateEndpointWeightsAndCapacitiesCommand({ EndpointName, DesiredWeightsAndCapacities }),
    );
    sagemaker.destroy();
  }
  const found = async (template: object) =>
    (await doctor(await synthesize(template))).of('instances of');

  test('one is too few for traffic that moves part by part', async () => {
    await running(1);
    for (const parts of [traffic('CANARY'), traffic('LINEAR'), rolling])
      expect(await found(resources(parts))).toMatchObject({
        ok: false,
        detail: expect.stringMatching(/AllTraffic runs 1, .*without deployment\.traffic first/),
      });
    // All at once, with a number from the configuration, under another name, and without an update.
    const free = { ...traffic('CANARY'), RetainAllVariantProperties: false };
    const other = { ...traffic('CANARY'), EndpointName: 'other' };
    for (const whole of [traffic('ALL_AT_ONCE'), free, other, {}])
      expect(await found(resources(whole))).toBeUndefined();
  });

  test('two are enough', async () => {
    await running(2);
    expect(await found(resources(traffic('CANARY')))).toBeUndefined();
    expect(await found(resources({}, false))).toBeUndefined();
  });

  test('none sleep on where autoscaling ends', async () => {
    await running(0);
    expect(await found(resources({}, false))).toMatchObject({
      ok: false,
      detail: expect.stringMatching(/sleeps.*VariantName=AllTraffic,DesiredInstanceCount=1$/),
    });
    expect(await found(resources({}))).toBeUndefined();
  });
});

describe('several accounts', () => {
  const IN_TEST = 'aws://111111111111/us-east-1';
  const MINE = 'aws://123456789012/us-east-1';

  test('only the account of the credentials is looked into, the others are named', async () => {
    // Enough for one endpoint, and not for two.
    limits = READY;
    await stack('CDKToolkit', TOOLKIT);
    const app = await synthesize(templateOf('ml.g5.xlarge'), { theirs: IN_TEST, mine: MINE });
    const { exitCode, of } = await doctor(app);
    expect(of('account 111111111111')?.detail).toMatch(
      /not looked at \(theirs\).*credentials are for 123456789012/,
    );
    expect(of('stack theirs')).toBeUndefined();
    expect(of('stack mine')).toMatchObject({ ok: true });
    expect(exitCode).toBe(0);
  });

  test('with credentials of none of them nothing is ready', async () => {
    limits = READY;
    await stack('CDKToolkit', TOOLKIT);
    const app = await synthesize(templateOf('ml.g5.xlarge'), { theirs: IN_TEST });
    const { exitCode, findings } = await doctor(app);
    expect(findings.map(({ what }) => what)).toEqual(['account 111111111111']);
    expect(exitCode).toBe(1);
  });
});

test('images: there, not there, and with a manifest that CreateModel refuses', async () => {
  const client = new ECRClient({ endpoint: moto.url });
  await client.send(new CreateRepositoryCommand({ repositoryName: 'serving' }));
  const oci = 'application/vnd.oci.image.manifest.v1+json';
  const docker = 'application/vnd.docker.distribution.manifest.v2+json';
  for (const [imageTag, mediaType] of Object.entries({ oci, docker })) {
    const imageManifest = JSON.stringify({
      schemaVersion: 2,
      mediaType,
      config: { mediaType, size: 1, digest: `sha256:${imageTag}` },
      layers: [],
    });
    await client.send(
      new PutImageCommand({
        repositoryName: 'serving',
        imageTag,
        imageManifest,
        imageManifestMediaType: mediaType,
      }),
    );
  }
  client.destroy();
  const found = async (tag: string) => {
    const uri = `${REGISTRY}/serving:${tag}`;
    return (await doctor(await synthesize(templateOf('ml.g5.xlarge', uri)))).of(uri);
  };
  expect(await found('docker')).toMatchObject({ ok: true, detail: docker });
  expect(await found('oci')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('type=docker'),
  });
  expect(await found('none')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('ImageNotFound'),
  });
});

test('an image that is too large for a serverless endpoint', async () => {
  const imageDetails = [{ imageSizeInBytes: 11e9, imageManifestMediaType: 'docker' }];
  const ecr = await startService(() => ({ imageDetails }));
  const uri = `${REGISTRY}/serving:1`;
  const app = templateOf('ml.g5.xlarge', uri);
  const found = async () =>
    (await doctor(await synthesize(app), { AWS_ENDPOINT_URL_ECR: ecr.url })).of(uri);
  expect(await found()).toMatchObject({ ok: true });
  const [variant] = app.Resources.Config.Properties.ProductionVariants as object[];
  const ServerlessConfig = { MemorySizeInMB: 6_144, MaxConcurrency: 1 };
  Object.assign(variant ?? {}, { InstanceType: undefined, ServerlessConfig });
  expect(await found()).toMatchObject({
    ok: false,
    detail: expect.stringContaining('11.0 GB compressed, and a serverless endpoint takes 10 GB'),
  });
  await ecr.close();
});

test('a folder that is no app is refused, and a service that fails is one finding', async () => {
  expect((await doctor(work)).stderr).toContain('no part of a synthesized app');
  const app = await synthesize(templateOf('ml.g5.xlarge'));
  const { stdout } = await sagemakerTfs(['doctor', '--account', '--app', app, '--json'], {
    ...ENVIRONMENT,
    AWS_ENDPOINT_URL: moto.url,
    AWS_ENDPOINT_URL_SERVICE_QUOTAS: 'http://127.0.0.1:1',
    AWS_MAX_ATTEMPTS: '1',
  });
  expect(stdout).toContain('cannot be asked');
  expect(stdout).toContain('"what": "bootstrap"');
});

test('without a region it says so once', async () => {
  const app = await synthesize(templateOf('ml.g5.xlarge'));
  const { exitCode, stdout, stderr } = await sagemakerTfs(['doctor', '--account', '--app', app], {
    ...ENVIRONMENT,
    AWS_REGION: undefined,
    AWS_CONFIG_FILE: '/dev/null',
  });
  expect(stdout).toBe('');
  expect(stderr.split('no AWS region is set')).toHaveLength(2);
  expect(exitCode).toBe(2);
});

describe('workers on instances of EC2', () => {
  const SPOT_G = 'L-3819A6DF';
  const workers = (Type: 'SPOT' | 'EC2', InstanceTypes: readonly string[]) => ({
    Resources: {
      Job: {
        Type: 'AWS::Batch::JobDefinition',
        Properties: {
          ContainerProperties: {
            ResourceRequirements: [
              { Type: 'VCPU', Value: '4' },
              { Type: 'MEMORY', Value: '12288' },
            ],
          },
        },
      },
      Instances: {
        Type: 'AWS::Batch::ComputeEnvironment',
        Properties: { ComputeResources: { Type, InstanceTypes, MaxvCpus: 32 } },
      },
    },
  });
  const G = ['g5.xlarge', 'g6.xlarge'];

  test.each([
    ['SPOT', G, SPOT_G, 32, true, '32, and 32 for all workers at once'],
    [
      ...(['SPOT', G, SPOT_G, 16, true] as const),
      '16, and 32 for all workers at once: fewer run at a time; ask Service Quotas for 32',
    ],
    [
      ...(['SPOT', G, SPOT_G, 0, false] as const),
      '0, and 32 for all workers at once: none starts; ask Service Quotas for 32',
    ],
    ['EC2', G, 'L-DB2E81BA', 40, true, '40, and 32 for all workers at once'],
    ['SPOT', ['m6i.xlarge'], 'L-34B43A08', 40, true, '40, and 32 for all workers at once'],
    ['EC2', ['im4gn.xlarge'], 'L-1216C47A', 40, true, '40, and 32 for all workers at once'],
    ['EC2', ['p4d.24xlarge'], 'L-417A185B', 40, true, '40, and 32 for all workers at once'],
    [
      ...(['SPOT', ['p3.2xlarge', 'g5.2xlarge'], 'L-7212CCBC', 2, true] as const),
      '2, and 32 for all workers at once: types of other families are started',
    ],
  ] as const)('%s of %j with %s of %i', async (type, types, code, value, ok, detail) => {
    limits = { [code]: value };
    const { of } = await doctor(await synthesize(workers(type, types)));
    expect(of(code)).toMatchObject({ ok, detail });
  });

  test.each([
    ['SPOT', G, '8 x g5.xlarge or g6.xlarge (spot workers)', 8 * 1.408 * 0.4, /assumed: 40% of/],
    ['EC2', G, '8 x g5.xlarge or g6.xlarge (workers)', 8 * 1.408, /assumed: SageMaker's price/],
    ['SPOT', ['g5.2xlarge'], '4 x g5.2xlarge (spot workers)', 4 * 1.515 * 0.4, /while jobs run/],
    [
      ...(['SPOT', ['m6i.xlarge', 'm6a.xlarge', 'm7i.xlarge']] as const),
      ...(['8 x m6i.xlarge or m6a.xlarge or m7i.xlarge (spot workers)', 8 * 0.242 * 0.4] as const),
      /while jobs run; assumed: 40% of SageMaker's price of m7i.xlarge, without m6a.xlarge$/,
    ],
    ['SPOT', ['r6a.xlarge'], '8 x r6a.xlarge (spot workers)', undefined, /while jobs run$/],
  ] as const)('%s of %j have a line in the plan', async (type, types, makes, usd, usdWhile) => {
    const { plan } = await doctor(await synthesize(workers(type, types)));
    const price = usd === undefined ? {} : { usdAnHour: expect.closeTo(usd) };
    const line = { stack: 'serving', makes, usdWhile: expect.stringMatching(usdWhile) };
    // JSON has no price that is not known.
    expect(plan).toEqual([{ ...line, ...price }]);
  });
});
