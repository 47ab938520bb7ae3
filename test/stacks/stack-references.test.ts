/** Names, versions and revisions that updates renew, in other stacks than theirs. */
import { LaunchTemplate, Vpc } from 'aws-cdk-lib/aws-ec2';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { AccountRootPrincipal, Role } from 'aws-cdk-lib/aws-iam';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import {
  App,
  CfnOutput,
  CrossStackReferences,
  Duration,
  type Environment,
  NestedStack,
  ReferenceStrength,
  Stack,
} from 'aws-cdk-lib/core';
import type { Construct } from 'constructs';
import {
  BatchTransform,
  BatchWorker,
  ComponentEndpoint,
  EndpointApi,
  EndpointMonitoring,
  type IModel,
  ModelData,
  RealtimeEndpoint,
  TensorFlowModel,
} from '../../lib/index.ts';
import { existingImage, testContext } from '../support/stacks.ts';

const FLAG = '@aws-cdk/core:defaultCrossStackReferences';
const { [FLAG]: _, ...STRONG } = testContext;
const WEAK = { ...STRONG, [FLAG]: 'weak' };
const ID = '@sagemaker-tfs/cdk:exportedModel';

const USERS: Record<string, (scope: Construct, model: IModel) => void> = {
  'an endpoint': (scope, model) => {
    new RealtimeEndpoint(scope, 'User', { variants: [{ model, instanceType: 'ml.c6i.large' }] });
  },
  components: (scope, model) => {
    new ComponentEndpoint(scope, 'User', {
      components: [
        { name: 'a', model },
        { name: 'b', model },
      ],
      instances: { instanceType: 'ml.c6i.2xlarge', maxInstances: 1 },
    });
  },
  'a batch transform': (scope, model) => {
    const place = (id: string) => ({
      bucket: Bucket.fromBucketName(scope, id, 'data'),
      prefix: `${id}/`,
    });
    new BatchTransform(scope, 'User', {
      model,
      input: place('in'),
      output: place('out'),
      contentType: 'application/json',
      instanceType: 'ml.c6i.xlarge',
    });
  },
};

/** Warnings of a stack that uses a model of another one, and its template. */
function use(
  addUser: (scope: Construct, model: IModel) => void,
  context: Record<string, unknown>,
  where: (stack: Stack, owner: Stack) => Construct = (stack) => stack,
  prepare: (model: IModel, user: Stack) => void = () => {},
): { warnings: string[]; imports: boolean } {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': [] } });
  const owner = new Stack(app, 'Owner');
  const user = new Stack(app, 'User');
  const model = new TensorFlowModel(owner, 'Model', {
    image: existingImage({ variant: 'cpu' }),
    modelData: ModelData.fromArchive(Bucket.fromBucketName(owner, 'Data', 'data'), 'm/1.tar.gz'),
  });
  prepare(model, user);
  addUser(where(user, owner), model);
  const assembly = app.synth();
  const warnings = assembly.stacks.flatMap(({ messages }) =>
    messages.map(({ entry }) => String(entry.data)).filter((text) => text.includes(ID)),
  );
  return {
    warnings,
    imports: JSON.stringify(assembly.getStackByName('User').template).includes('Fn::ImportValue'),
  };
}

describe.each(Object.entries(USERS))('%s', (_name, addUser) => {
  test('that imports the name of its model warns of the update that fails, once', () => {
    const { warnings, imports } = use(addUser, STRONG);
    expect(imports).toBe(true);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(/Owner\/Model is in the stack Owner, and User imports its name/);
    expect(warnings[0]).toContain(`Set "${FLAG}" to "weak"`);
  });

  test('does not warn with weak references, nor on the way to them, nor in one stack', () => {
    expect(use(addUser, WEAK).warnings).toEqual([]);
    expect(use(addUser, { ...STRONG, [FLAG]: 'both' }).warnings).toEqual([]);
    expect(use(addUser, STRONG, (_user, owner) => owner).warnings).toEqual([]);
    const nested = (_user: Stack, owner: Stack) => new NestedStack(owner, 'Nested');
    expect(use(addUser, STRONG, nested).warnings).toEqual([]);
  });
});

test('references that are weak for one stack or one model are no reason to warn', () => {
  const addUser = USERS['an endpoint'] ?? (() => {});
  const forStack = use(addUser, STRONG, undefined, (_model, user) =>
    CrossStackReferences.of(user).consume(ReferenceStrength.WEAK),
  );
  const forModel = use(addUser, STRONG, undefined, (model) =>
    CrossStackReferences.of(model).produce(ReferenceStrength.WEAK),
  );
  expect([forStack.warnings, forModel.warnings]).toEqual([[], []]);
});

const RENEWED: Record<string, string> = {
  'AWS::Batch::JobDefinition Ref': 'exportedRevision',
  'AWS::EC2::LaunchTemplate LatestVersionNumber': 'exportedLaunchTemplate',
  'AWS::SageMaker::EndpointConfig EndpointConfigName': 'exportedRevision',
  'AWS::SageMaker::Model ModelName': 'exportedModel',
};

/** What an update does not renew. */
const LASTING = [
  'AWS::Batch::JobQueue JobQueueArn',
  'AWS::EC2::LaunchTemplate Ref',
  'AWS::EC2::Subnet Ref',
  'AWS::EC2::VPC Ref',
  'AWS::IAM::Role Arn',
  'AWS::IAM::Role Ref',
  'AWS::SageMaker::Endpoint EndpointName',
  'AWS::StepFunctions::StateMachine Ref',
];

interface Part {
  readonly Resources: Record<string, { readonly Type: string }>;
  readonly Outputs?: Record<string, { readonly Value: unknown; readonly Export?: unknown }>;
}

/**
 * An app with everything that refers to each other in a stack of its own: exported attributes, and ids of warnings.
 * @param env of these stacks
 * @param others environments of stacks that refer to none of them
 */
function apart(
  context: Record<string, unknown>,
  env: Environment = {},
  others: readonly Environment[] = [],
): { exported: string[]; warned: string[] } {
  const app = new App({ context: { ...context, 'aws:cdk:bundling-stacks': [] } });
  const stack = (id: string) => new Stack(app, id, { env });
  for (const [at, other] of others.entries()) new Stack(app, `Other${at}`, { env: other });
  const [infra, models, work, caller] = ['Infra', 'Models', 'Work', 'Caller'].map(stack);
  if (!infra || !models || !work || !caller) throw new Error('four stacks');
  const model = new TensorFlowModel(models, 'Model', {
    image: existingImage({ variant: 'cpu' }),
    modelData: ModelData.fromArchive(Bucket.fromBucketName(models, 'Data', 'data'), 'm/1.tar.gz'),
  });
  const place = (prefix: string) => ({
    bucket: Bucket.fromBucketName(work, prefix, 'data'),
    prefix: `${prefix}/`,
  });
  const worker = new BatchWorker(work, 'Worker', {
    model,
    vpc: new Vpc(infra, 'Vpc'),
    input: place('in'),
    output: place('out'),
    contentType: 'application/json',
    launchTemplate: new LaunchTemplate(infra, 'LaunchTemplate', {}),
  });
  const transform = new BatchTransform(work, 'Transform', {
    model,
    input: place('from'),
    output: place('to'),
    contentType: 'application/json',
    instanceType: 'ml.c6i.xlarge',
  });
  const endpoint = new RealtimeEndpoint(work, 'Endpoint', {
    variants: [{ model, instanceType: 'ml.c6i.large' }],
  });
  const role = new Role(caller, 'Role', { assumedBy: new AccountRootPrincipal() });
  worker.grantStart(role);
  transform.grantStart(role);
  endpoint.grantInvoke(role);
  new EndpointMonitoring(caller, 'Monitoring', { endpoint });
  new EndpointApi(caller, 'Api', { endpoint, auth: 'iam' });
  new CfnOutput(caller, 'Job', { value: worker.definition.jobDefinitionArn });
  new CfnOutput(caller, 'Config', { value: endpoint.endpointConfigName });
  const { stacks } = app.synth();
  const exported = stacks.flatMap(({ template }) => {
    const { Resources, Outputs = {} } = template as Part;
    return Object.values(Outputs).map(({ Value }) => {
      const { Ref, 'Fn::GetAtt': got } = Value as { Ref?: string; 'Fn::GetAtt'?: string[] };
      const [id = '', attribute = 'Ref'] = got ?? [Ref];
      return `${Resources[id]?.Type} ${attribute}`;
    });
  });
  const warned = stacks.flatMap(({ messages }) =>
    messages.flatMap(({ entry }) => /cdk:(exported\w+)/.exec(String(entry.data))?.[1] ?? []),
  );
  return { exported: exported.filter((text) => !text.startsWith('undefined')), warned };
}

const HERE = { account: '111111111111', region: 'us-east-1' };

test.each<[where: string, env: Environment, others: readonly Environment[]]>([
  ['', {}, []],
  [
    ' beside stacks of another region, another account and none',
    HERE,
    [{ ...HERE, region: 'eu-west-1' }, { ...HERE, account: '222222222222' }, {}],
  ],
  [' of no environment beside one', {}, [HERE]],
])('every export that an update changes is a warning%s', (_, env, others) => {
  const { exported, warned } = apart(STRONG, env, others);
  const renewed = exported.filter((text) => !LASTING.includes(text));
  expect([...new Set(renewed)].sort()).toEqual(Object.keys(RENEWED));
  expect([...new Set(warned)].sort()).toEqual([...new Set(Object.values(RENEWED))].sort());
  expect(warned).toHaveLength(5);
});

test('weak references to what updates change are no warning', () => {
  expect(apart(WEAK).warned).toEqual([]);
  expect(apart({ ...STRONG, [FLAG]: 'both' }).warned).toEqual([]);
});

test('a grant of a worker to a role of another stack exports no revision, and the schedule names none', () => {
  const app = new App({ context: { ...STRONG, 'aws:cdk:bundling-stacks': [] } });
  const [work, caller] = [new Stack(app, 'Work'), new Stack(app, 'Caller')];
  const place = { bucket: Bucket.fromBucketName(work, 'Data', 'data'), prefix: 'in/' };
  const worker = new BatchWorker(work, 'Worker', {
    model: new TensorFlowModel(work, 'Model', {
      image: existingImage({ variant: 'cpu' }),
      modelData: ModelData.fromArchive(place.bucket, 'm/1.tar.gz'),
    }),
    vpc: new Vpc(work, 'Vpc'),
    input: place,
    output: { ...place, prefix: 'out/' },
    contentType: 'application/json',
    schedule: Schedule.rate(Duration.days(1)),
  });
  worker.grantStart(new Role(caller, 'Role', { assumedBy: new AccountRootPrincipal() }));
  const { stacks } = app.synth();
  const [{ template } = { template: {} }, ...rest] = stacks.filter(({ id }) => id === 'Work');
  expect(rest).toEqual([]);
  const { Resources, Outputs = {} } = template as Part;
  expect(Object.values(Outputs).map(({ Value }) => Value)).toEqual([
    { 'Fn::GetAtt': [expect.stringMatching(/^WorkerQueue/), 'JobQueueArn'] },
  ]);
  const [[job] = []] = Object.entries(Resources).filter(
    ([, { Type }]) => Type === 'AWS::Batch::JobDefinition',
  );
  // Its revision is in nothing else, so no update of it leaves anything behind that names a former one.
  expect(JSON.stringify(template)).not.toContain(`{"Ref":"${job}"}`);
});
