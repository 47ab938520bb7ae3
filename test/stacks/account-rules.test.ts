/** Rules over all templates of an app that uses everything: roles, grants of keys, names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { type App, CfnResource, Stack } from 'aws-cdk-lib/core';
import { addServingStacks, BatchWorker, parseConfig } from '../../lib/index.ts';
import { MODEL_DIR, stubContainer, testApp, testModel } from '../support/stacks.ts';

const KEY = 'arn:aws:kms:us-east-1:111111111111:key/12345678-1234-1234-1234-123456789012';
const place = { account: '111111111111', region: 'us-east-1' };
const api = {
  auth: 'jwt',
  jwt: { issuer: 'https://login.example.com/', audience: ['m'] },
} as const;
const batch = {
  email: 'ops@example.com',
  schedule: 'rate(1 day)',
  runOnDeploy: true,
  sharding: { objectsPerShard: 1000 },
} as const;

function fullApp(): App {
  const app = testApp();
  const endpoint = { api };
  const config = {
    image: { directory: stubContainer() },
    encryptionKeyArn: KEY,
    models: {
      a: { model: MODEL_DIR, endpoint, batch },
      b: { model: MODEL_DIR, endpoint: { ...endpoint, dataCapturePercent: 5 }, batch },
      c: { model: MODEL_DIR, endpoint: { async: true, alarmEmail: 'ops@example.com' } },
    },
    environments: [
      { name: 'test', ...place },
      { name: 'prod', ...place },
    ],
  };
  addServingStacks(app, parseConfig(config, 'test'));
  const stack = new Stack(app, 'Own', { env: place });
  const bucket = new Bucket(stack, 'Data');
  new BatchWorker(stack, 'Worker', {
    model: testModel(stack),
    vpc: new Vpc(stack, 'Vpc'),
    input: { bucket, prefix: 'in/' },
    output: { bucket, prefix: 'out/' },
    schedule: Schedule.expression('rate(1 day)'),
    topic: new Topic(stack, 'Topic'),
  });
  return app;
}

interface Statement {
  readonly Action: string | readonly string[];
  readonly Principal?: { readonly Service?: unknown };
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

interface Resource {
  readonly Type: string;
  readonly Properties?: Readonly<Record<string, unknown>> & {
    readonly AssumeRolePolicyDocument?: { readonly Statement: readonly Statement[] };
    readonly PolicyDocument?: { readonly Statement: readonly Statement[] };
    readonly KeyPolicy?: { readonly Statement: readonly Statement[] };
  };
}

const resources = fullApp()
  .node.findAll()
  .filter((node) => node instanceof Stack)
  .flatMap((stack) =>
    Object.entries(Template.fromStack(stack).toJSON().Resources as Record<string, Resource>).map(
      ([id, resource]) => ({ id: `${stack.node.path}/${id}`, ...resource }),
    ),
  );

/**
 * Services that take a role only from who may pass it, which nobody of another account may, and that do not say for
 * whom they act: AWS documents no condition for them.
 */
const WITHOUT_SOURCE = ['apigateway.amazonaws.com', 'lambda.amazonaws.com', 'ec2.amazonaws.com'];

test('a service assumes a role only for this account', () => {
  const trusts = resources.flatMap(({ id, Properties }) =>
    (Properties?.AssumeRolePolicyDocument?.Statement ?? []).map((statement) => ({
      id,
      service: JSON.stringify(statement.Principal?.Service),
      source: statement.Condition?.StringEquals?.['aws:SourceAccount'],
    })),
  );
  const services = new Set(trusts.map(({ service }) => service));
  for (const service of ['events', 'states', 'sagemaker', 'ecs-tasks', 'apigateway']) {
    expect([...services].join()).toContain(`${service}.amazonaws.com`);
  }
  const open = trusts.filter(
    ({ service, source }) =>
      source === undefined && !WITHOUT_SOURCE.some((one) => service === `"${one}"`),
  );
  expect(open).toEqual([]);
});

test('a role makes grants of a key only through a service', () => {
  const granting = resources.flatMap(({ id, Properties }) =>
    [...(Properties?.PolicyDocument?.Statement ?? []), ...(Properties?.KeyPolicy?.Statement ?? [])]
      .filter(({ Action }) => [Action].flat().includes('kms:CreateGrant'))
      .map(({ Condition }) => ({ id, condition: Condition?.Bool?.['kms:GrantIsForAWSResource'] })),
  );
  expect(granting.length).toBeGreaterThan(0);
  expect(granting.filter(({ condition }) => condition !== 'true')).toEqual([]);
});

test('no two resources of an account and region have the same name', () => {
  const names = resources.flatMap(({ id, Type, Properties = {} }) => {
    // Of one role, and of one API.
    if (['AWS::IAM::Policy', 'AWS::ApiGateway::Stage'].includes(Type)) return [];
    const own = [`${Type.split('::').at(-1)}Name`, 'Name'].find(
      (key) => typeof Properties[key] === 'string',
    );
    return own === undefined ? [] : [{ id, name: `${Type} ${own} ${Properties[own]}` }];
  });
  const seen = new Map<string, string[]>();
  for (const { id, name } of names) seen.set(name, [...(seen.get(name) ?? []), id]);
  expect([...seen.keys()].join()).toContain('AWS::ApiGateway::RestApi Name');
  expect([...seen].filter(([, ids]) => ids.length > 1)).toEqual([]);
});

describe("aws-cdk-lib's own validation of templates", () => {
  const before = process.env.CDK_VALIDATION;
  beforeEach(() => {
    delete process.env.CDK_VALIDATION;
  });
  afterEach(() => {
    process.env.CDK_VALIDATION = before;
  });

  test('finds nothing', () => {
    const app = fullApp();
    app.synth();
    const report = readFileSync(join(app.outdir, 'validation-report.json'), 'utf8');
    expect(JSON.parse(report)).toMatchObject({ pluginReports: [] });
  });

  test('would find a property that no resource has', () => {
    const app = testApp();
    const properties = { ModelNames: 'm' };
    new CfnResource(new Stack(app, 'Own'), 'Model', { type: 'AWS::SageMaker::Model', properties });
    expect(() => app.synth()).toThrow(/ModelNames: Additional properties are not allowed/);
  });
});
