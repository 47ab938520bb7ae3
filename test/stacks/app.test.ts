/** The app that `cdk deploy` deploys out of the box. */
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Template } from 'aws-cdk-lib/assertions';
import { type App, Stack, Validations } from 'aws-cdk-lib/core';
import { AwsSolutionsChecks } from 'cdk-nag';
import { addServingStacks, parseConfig, type ServingConfigInput } from '../../lib/index.ts';
import outOfTheBox from '../../serving.config.ts';
import { masked, stubContainer, testApp, testContext } from '../support/stacks.ts';

const directory = stubContainer();

function appOf(config: Partial<ServingConfigInput> = {}, before = (_: App) => {}): App {
  const app = testApp();
  before(app);
  addServingStacks(app, parseConfig({ ...outOfTheBox, image: { directory }, ...config }, 'test'));
  return app;
}

/** The app as it is, for the tests that only look. */
const theApp = appOf();

const stackOf = (app: App, name: string) => app.node.findChild(name) as Stack;

test.each(['tensorflow-image', 'tensorflow-digits', 'tensorflow-digits-batch'])(
  'stack %s',
  (name) => {
    const template = Template.fromStack(stackOf(theApp, name));
    expect(masked(template.toJSON())).toMatchSnapshot();
  },
);

test('the endpoint is one ml.g4dn.xlarge with a driver for CUDA 12, the batch two ml.p3.2xlarge', () => {
  Template.fromStack(stackOf(theApp, 'tensorflow-digits')).hasResourceProperties(
    'AWS::SageMaker::EndpointConfig',
    {
      ProductionVariants: [
        {
          InstanceType: 'ml.g4dn.xlarge',
          InitialInstanceCount: 1,
          InferenceAmiVersion: 'al2-ami-sagemaker-inference-gpu-3-1',
        },
      ],
    },
  );
  const machine = Template.fromStack(stackOf(theApp, 'tensorflow-digits-batch')).findResources(
    'AWS::StepFunctions::StateMachine',
  );
  const definition = JSON.stringify(machine);
  for (const setting of ['ml.p3.2xlarge', 'al2-ami-sagemaker-batch-gpu-535']) {
    expect(definition).toContain(setting);
  }
});

test('cdk-nag has no finding without a written reason', () => {
  const batchWorker = { email: 'ops@example.com', noticesAt: [50], schedule: 'rate(1 day)' };
  const workers = { w: { model: 'examples/digits/model', batchWorker } };
  const vpc = {
    vpcId: 'vpc-1',
    availabilityZones: ['us-east-1a'],
    subnetIds: ['subnet-1'],
    securityGroupIds: ['sg-1'],
  };
  for (const config of [{}, { models: workers, vpc }]) {
    const app = appOf(config, (scope) => {
      Validations.of(scope).addPlugins(new AwsSolutionsChecks(scope));
    });
    expect(() => app.synth()).not.toThrow();
  }
});

test('no statement allows every action, and a * resource only where the action has no other', () => {
  const unrestricted = new Set([
    'cloudwatch:PutMetricData',
    'ecr:GetAuthorizationToken',
    'logs:CreateLogDelivery',
    'logs:DeleteLogDelivery',
    'logs:DescribeLogGroups',
    'logs:DescribeResourcePolicies',
    'logs:GetLogDelivery',
    'logs:ListLogDeliveries',
    'logs:PutResourcePolicy',
    'logs:UpdateLogDelivery',
    'sagemaker:ListTransformJobs',
    'xray:GetSamplingRules',
    'xray:GetSamplingTargets',
    'xray:PutTelemetryRecords',
    'xray:PutTraceSegments',
  ]);
  for (const statement of policyStatements(theApp)) {
    const actions = [statement.Action].flat();
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
    if (![statement.Resource].flat().includes('*')) continue;
    expect(actions.filter((action) => !unrestricted.has(action))).toEqual([]);
  }
});

test('no role has a managed policy', () => {
  for (const stack of stacksOf(theApp)) {
    for (const role of Object.values(Template.fromStack(stack).findResources('AWS::IAM::Role'))) {
      expect(role.Properties).not.toHaveProperty('ManagedPolicyArns');
    }
  }
});

test('cfn-lint finds nothing in any template', () => {
  const found = spawnSync('cfn-lint', ['--version']);
  if (found.error) throw new Error('cfn-lint is not installed: pip install cfn-lint');
  const { directory: assembly } = theApp.synth();
  const templates = readdirSync(assembly).filter((name) => name.endsWith('.template.json'));
  // W3005: the CDK itself lists dependencies that a reference implies already.
  const { stdout } = spawnSync('cfn-lint', ['--ignore-checks', 'W3005', '--', ...templates], {
    cwd: assembly,
    encoding: 'utf8',
  });
  expect(stdout).toBe('');
  expect(templates).toHaveLength(3);
});

test('names are left to CloudFormation, but for the endpoint and what other tools look up', () => {
  const named = stacksOf(theApp).flatMap((stack) =>
    Object.values(Template.fromStack(stack).toJSON().Resources as Resources).flatMap(
      ({ Type, Properties = {} }) =>
        Object.keys(Properties)
          .filter((key) =>
            /^(Name|RoleName|ModelName|EndpointName|EndpointConfigName|BucketName|FunctionName|AlarmName|DashboardName|StateMachineName|TopicName|LogGroupName)$/.test(
              key,
            ),
          )
          .filter((key) => typeof Properties[key] === 'string')
          .map((key) => `${Type} ${key}`),
    ),
  );
  const owner = 'AWS::SSM::Parameter Name';
  expect(named).toEqual([
    'AWS::SSM::Parameter Name',
    owner,
    'AWS::SageMaker::Endpoint EndpointName',
    owner,
    // Of the state machine, which AWS wants below /aws/vendedlogs/.
    'AWS::Logs::LogGroup LogGroupName',
    owner,
  ]);
});

test('buckets with data outlive their stack, everything else goes with it', () => {
  const kept = stacksOf(theApp).flatMap((stack) =>
    Object.values(Template.fromStack(stack).toJSON().Resources as Resources)
      .filter(({ DeletionPolicy }) => DeletionPolicy?.startsWith('Retain'))
      .map(({ Type }) => Type),
  );
  expect(kept).toEqual(['AWS::S3::Bucket', 'AWS::S3::Bucket']);
});

test('several accounts and regions are stages with stacks of their own, and tags reach resources', () => {
  const app = appOf({
    environments: [
      { name: 'test', account: '111111111111', region: 'eu-west-1' },
      { name: 'prod', account: '222222222222', region: 'us-east-1' },
    ],
    tags: { team: 'vision' },
  });
  const assembly = app.synth();
  expect(
    assembly.nestedAssemblies.flatMap(({ nestedAssembly }) =>
      nestedAssembly.stacks.map(({ stackName, environment }) => [stackName, environment.account]),
    ),
  ).toEqual(
    expect.arrayContaining([
      ['test-tensorflow-digits', '111111111111'],
      ['prod-tensorflow-digits', '222222222222'],
    ]),
  );
  const templates = assembly.nestedAssemblies.flatMap(({ nestedAssembly }) =>
    nestedAssembly.stacks.map(({ template }) => template as { Resources: Resources }),
  );
  const models = templates
    .flatMap(({ Resources }) => Object.values(Resources))
    .filter(({ Type }) => Type === 'AWS::SageMaker::Model');
  expect(models).toHaveLength(4);
  for (const { Properties } of models) {
    expect(Properties?.Tags).toContainEqual({ Key: 'team', Value: 'vision' });
  }
});

test('the templates are the same from another checkout', () => {
  const elsewhere = mkdtempSync(join(tmpdir(), 'checkout-'));
  for (const part of [
    'lib',
    'bin',
    'examples',
    'manifest',
    'tensors',
    'model-packaging',
    'prices',
  ]) {
    cpSync(part, join(elsewhere, part), { recursive: true, filter: notInstalled });
  }
  for (const part of [
    'container/src',
    'container/image',
    'container/package.json',
    'cli/bin',
    'lib/dist',
  ]) {
    cpSync(part, join(elsewhere, part), { recursive: true });
  }
  for (const part of ['package.json', 'package-lock.json', 'cdk.json', 'serving.config.ts']) {
    cpSync(part, join(elsewhere, part));
  }
  cpSync(directory, join(elsewhere, 'container'), { recursive: true });
  symlinkSync(resolve('node_modules'), join(elsewhere, 'node_modules'));
  const here = theApp.synth().stacks.map(({ template }) => template);
  expect(synthTemplates(elsewhere)).toEqual(here);
});

function notInstalled(path: string): boolean {
  return !/(^|\/)(node_modules|dist)$/.test(path);
}

/** Templates without bundling, made by the app in its own process. */
function synthTemplates(cwd: string): unknown {
  const outdir = mkdtempSync(join(tmpdir(), 'synth-'));
  const script = `
    const { App } = require('aws-cdk-lib/core');
    const { parseConfig } = require('./lib/parse-config.ts');
    const { addServingStacks } = require('./lib/stacks/serving-app.ts');
    const { default: config } = require('./serving.config.ts');
    const app = new App({ outdir: ${JSON.stringify(outdir)}, context: ${JSON.stringify({ ...testContext, 'aws:cdk:bundling-stacks': [] })} });
    addServingStacks(app, parseConfig({ ...config, image: { directory: ${JSON.stringify(directory)} } }, 'x'));
    const { stacks } = app.synth();
    process.stdout.write(JSON.stringify(stacks.map(({ template }) => template)));
  `;
  return JSON.parse(
    execFileSync(process.execPath, ['--import', 'tsx', '-e', script], { cwd, encoding: 'utf8' }),
  );
}

type Resources = Record<
  string,
  { Type: string; DeletionPolicy?: string; Properties?: Record<string, unknown> }
>;

interface Statement {
  readonly Action: string | string[];
  readonly Resource: unknown;
}

function stacksOf(app: App): Stack[] {
  return app.node.children.filter((child) => Stack.isStack(child));
}

function policyStatements(app: App): Statement[] {
  return stacksOf(app).flatMap((stack) =>
    Object.values(Template.fromStack(stack).findResources('AWS::IAM::Policy')).flatMap(
      (policy) => policy.Properties.PolicyDocument.Statement as Statement[],
    ),
  );
}

test('an app without any model is refused', () => {
  expect(() => appOf({ models: {} })).toThrow(/models: name at least one model/);
});
