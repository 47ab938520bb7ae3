/** One key of the user's own, for everything that a stack keeps. */
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { User } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Annotations as AppAnnotations, Stack } from 'aws-cdk-lib/core';
import {
  addServingStacks,
  BatchTransform,
  ModelData,
  parseConfig,
  RealtimeEndpoint,
  type RealtimeEndpointProps,
  type ServingConfigInput,
  ServingImage,
  SmokeTest,
} from '../../lib/index.ts';
import { MODEL_DIR, stubContainer, testApp, testModel, testStack } from '../support/stacks.ts';

const KEY = 'arn:aws:kms:us-east-1:123456789012:key/11111111-2222-3333-4444-555555555555';
/** In another account. */
const OTHER = KEY.replace('123456789012', '999999999999');
const directory = stubContainer();

function template(id: string, model: object, config: Partial<ServingConfigInput> = {}): Template {
  const app = testApp();
  const models = { m: { model: MODEL_DIR, ...model } };
  const given = { image: { directory }, models, encryptionKeyArn: KEY, ...config };
  addServingStacks(app, parseConfig(given, 'test'));
  return Template.fromStack(app.node.findChild(id) as Stack);
}

/** Resources that can have a key, and where they say which; access logs of S3 take only S3's own keys. */
const KEYED: Record<string, (properties: Record<string, unknown>) => unknown> = {
  'AWS::S3::Bucket': ({ BucketEncryption }) =>
    (
      BucketEncryption as {
        ServerSideEncryptionConfiguration: Record<string, Record<string, unknown>>[];
      }
    ).ServerSideEncryptionConfiguration[0]?.ServerSideEncryptionByDefault?.KMSMasterKeyID,
  'AWS::Logs::LogGroup': ({ KmsKeyId }) => KmsKeyId,
  'AWS::SNS::Topic': ({ KmsMasterKeyId }) => KmsMasterKeyId,
};

function keysOf(made: Template): Record<string, unknown> {
  const found = Object.entries(KEYED).flatMap(([type, keyOf]) =>
    Object.entries(made.findResources(type)).map(([id, resource]) => [
      id.replace(/[0-9A-F]{8}$/, ''),
      keyOf((resource.Properties ?? {}) as Record<string, unknown>),
    ]),
  );
  return Object.fromEntries(found) as Record<string, unknown>;
}

test('an asynchronous endpoint: buckets, logs, topic, answers, and no volumes that have none', () => {
  const made = template('tensorflow-m', {
    compression: 'none',
    endpoint: { async: true, alarmEmail: 'ops@example.com' },
  });
  const { DataAccessLogs, ...keys } = keysOf(made);
  expect(DataAccessLogs).toBeUndefined();
  expect(Object.keys(keys)).toEqual(expect.arrayContaining(['Data', 'ModelModelBucket', 'Alarms']));
  expect(new Set(Object.values(keys))).toEqual(new Set([KEY]));
  // ml.g4dn has local disks.
  made.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
    KmsKeyId: Match.absent(),
    AsyncInferenceConfig: { OutputConfig: { KmsKeyId: KEY } },
  });
  // The model reads and writes under the key.
  made.hasResourceProperties('AWS::IAM::Policy', {
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Action: Match.arrayWith(['kms:Decrypt', 'kms:GenerateDataKey*']),
          Resource: KEY,
        }),
      ]),
    },
  });
});

test.each<[id: string, model: object, config?: Partial<ServingConfigInput>]>([
  ['tensorflow-m', { archive: 's3://models/m.tar.gz', endpoint: {} }],
  ['tensorflow-m', { archive: 's3://models/m/', endpoint: {} }],
  [
    'tensorflow-m',
    { multiModel: 's3://models/all/', endpoint: { instanceType: 'ml.c6i.xlarge' } },
    { image: { uri: '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1', variant: 'cpu' } },
  ],
  ['tensorflow-m-batch', { archive: 's3://models/m.tar.gz', batch: {} }],
])('%s of %j reads what is in S3 under the key already', (id, model, config = {}) => {
  const made = template(id, { model: undefined, ...model }, config);
  const decrypt = { Action: 'kms:Decrypt', Effect: 'Allow', Resource: KEY };
  made.hasResourceProperties('AWS::IAM::Policy', {
    PolicyName: Match.stringLikeRegexp('ReadModelData'),
    PolicyDocument: { Statement: Match.arrayWith([decrypt]) },
  });
});

test.each<[model: object, config?: Partial<ServingConfigInput>]>([
  [{ archive: 's3://models/m.tar.gz', archiveKeyArn: OTHER }],
  [{ archive: 's3://models/m/', archiveKeyArn: OTHER }],
  [
    { multiModel: 's3://models/all/', archiveKeyArn: OTHER },
    { image: { uri: '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1', variant: 'cpu' } },
  ],
])('%j is read with its own key, whatever that of the stack is', (model, config = {}) => {
  for (const encryptionKeyArn of [KEY, undefined]) {
    const endpoint = { instanceType: 'ml.c6i.xlarge' };
    const made = template(
      'tensorflow-m',
      { model: undefined, ...model, endpoint },
      { ...config, encryptionKeyArn },
    );
    made.hasResourceProperties('AWS::IAM::Policy', {
      PolicyName: Match.stringLikeRegexp('ReadModelData'),
      PolicyDocument: {
        Statement: Match.arrayWith([{ Action: 'kms:Decrypt', Effect: 'Allow', Resource: OTHER }]),
      },
    });
  }
});

test('a variant and a component read archives of their own keys', () => {
  const own = { name: 'b', archive: 's3://models/b.tar.gz', archiveKeyArn: OTHER };
  const endpoints = [
    { variants: [{ name: 'a' }, own] },
    {
      instanceType: 'ml.c6i.4xlarge',
      managedInstances: { maxInstances: 2 },
      components: [{ name: 'a' }, own],
    },
  ];
  for (const endpoint of endpoints) {
    const statements = Object.values(
      template('tensorflow-m', { endpoint }).findResources('AWS::IAM::Policy'),
    ).flatMap(({ Properties }) => Properties.PolicyDocument.Statement as object[]);
    expect(statements).toContainEqual({ Action: 'kms:Decrypt', Effect: 'Allow', Resource: OTHER });
  }
});

test.each([{ model: MODEL_DIR }, { modelName: 'mine' }])(
  '%j has no archive with a key',
  (model) => {
    const models = { m: { ...model, archiveKeyArn: OTHER, endpoint: {} } };
    expect(() => parseConfig({ models }, 'test')).toThrow(/models\.m\.archiveKeyArn: .*'archive'/);
  },
);

test('captures and volumes', () => {
  const made = template('tensorflow-m', {
    endpoint: { instanceType: 'ml.c6i.xlarge', dataCapturePercent: 5 },
  });
  made.hasResourceProperties('AWS::SageMaker::EndpointConfig', {
    KmsKeyId: KEY,
    DataCaptureConfig: { KmsKeyId: KEY },
  });
});

test('a serverless endpoint has no volume', () => {
  const made = template('tensorflow-m', { endpoint: { serverless: { memoryGiB: 4 } } });
  made.hasResourceProperties('AWS::SageMaker::EndpointConfig', { KmsKeyId: Match.absent() });
});

test('workers on AWS Batch: bucket, logs, topic, and what their role may decrypt', () => {
  const former = OTHER;
  const vpc = {
    vpcId: 'vpc-1',
    availabilityZones: ['us-east-1a'],
    subnetIds: ['subnet-1'],
    securityGroupIds: ['sg-1'],
  };
  const made = template(
    'tensorflow-m-batch-worker',
    { batchWorker: { email: 'ops@example.com', noticesAt: [50] } },
    { vpc, formerEncryptionKeyArns: [former] },
  );
  const { DataAccessLogs, ...keys } = keysOf(made);
  expect(DataAccessLogs).toBeUndefined();
  expect(Object.keys(keys)).toEqual(expect.arrayContaining(['Data', 'WorkerLog', 'Notifications']));
  expect(new Set(Object.values(keys))).toEqual(new Set([KEY]));
  for (const key of [KEY, former]) {
    made.hasResourceProperties('AWS::IAM::Policy', {
      PolicyName: Match.stringLikeRegexp('WorkerAccess'),
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: Match.anyValue(),
            Resource: key,
          }),
        ]),
      },
    });
  }
});

test('batch: bucket, logs, topic, outputs and volumes', () => {
  const made = template('tensorflow-m-batch', {
    batch: { email: 'ops@example.com', sharding: { objectsPerShard: 1000 } },
  });
  const { DataAccessLogs, ...keys } = keysOf(made);
  expect(new Set(Object.values(keys))).toEqual(new Set([KEY]));
  const [machine] = Object.values(made.findResources('AWS::StepFunctions::StateMachine'));
  const text = JSON.stringify(machine?.Properties.DefinitionString);
  expect(text).toMatch(new RegExp(`VolumeKmsKeyId[^}]*${KEY}`));
  expect(text).toMatch(new RegExp(`\\bKmsKeyId[^}]*${KEY}`));
  // The state machine publishes to the topic, and starts jobs whose volumes are under the key.
  for (const action of ['kms:CreateGrant', Match.arrayWith(['kms:GenerateDataKey*'])]) {
    made.hasResourceProperties('AWS::IAM::Policy', {
      PolicyName: Match.stringLikeRegexp('StateMachine'),
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ Action: action, Resource: KEY })]),
      },
    });
  }
});

test("access logs are written by a policy, without an ACL, whatever the app's flags are", () => {
  const app = testApp();
  app.node.setContext('@aws-cdk/aws-s3:serverAccessLogsUseBucketPolicy', false);
  const image = { uri: '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:1' };
  const models = { m: { archive: 's3://models/m.tar.gz', batch: {} } };
  addServingStacks(app, parseConfig({ image, models }, 'test'));
  const made = Template.fromStack(app.node.findChild('tensorflow-m-batch') as Stack);
  const buckets = made.findResources('AWS::S3::Bucket');
  const [data, logs] = ['Data', 'DataAccessLogs'].map((id) =>
    Object.keys(buckets).find((key) => key.slice(0, -8) === id),
  );
  for (const { Properties } of Object.values(buckets)) {
    expect(Properties).not.toHaveProperty('AccessControl');
    expect(Properties).not.toHaveProperty('OwnershipControls');
  }
  expect(buckets[`${data}`]?.Properties.LoggingConfiguration).toEqual({
    DestinationBucketName: { Ref: logs },
  });
  made.hasResourceProperties('AWS::S3::BucketPolicy', {
    Bucket: { Ref: logs },
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({
          Effect: 'Allow',
          Action: 's3:PutObject',
          Principal: { Service: 'logging.s3.amazonaws.com' },
          Condition: {
            ArnLike: { 'aws:SourceArn': { 'Fn::GetAtt': [data, 'Arn'] } },
            StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
          },
        }),
      ]),
    },
  });
});

describe('a state machine, whose name CloudFormation chooses', () => {
  const made = template('tensorflow-m-batch', { batch: {} });
  /** Statements about the key of the policy of that name. */
  const statements = (name: RegExp) =>
    Object.values(made.findResources('AWS::IAM::Policy'))
      .filter(({ Properties }) => name.test(Properties.PolicyName))
      .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as Record<string, unknown>[])
      .filter(({ Resource }) => Resource === KEY);
  const MACHINES = { 'Fn::Join': ['', expect.arrayContaining([':stateMachine:*'])] };
  const CONTEXT = 'kms:EncryptionContext:aws:states:stateMachineArn';

  test('its definition and its runs are under the key', () => {
    made.hasResourceProperties('AWS::StepFunctions::StateMachine', {
      EncryptionConfiguration: { Type: 'CUSTOMER_MANAGED_KMS_KEY', KmsKeyId: KEY },
    });
  });

  test('without a key the template says so, and a key that was there goes', () => {
    template(
      'tensorflow-m-batch',
      { batch: {} },
      { encryptionKeyArn: undefined },
    ).hasResourceProperties('AWS::StepFunctions::StateMachine', {
      EncryptionConfiguration: { Type: 'AWS_OWNED_KEY', KmsKeyId: Match.absent() },
    });
  });

  test('its role may use the key for the machine and for its log', () => {
    expect(statements(/^BatchStateMachineRole/)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          Action: ['kms:Decrypt', 'kms:GenerateDataKey'],
          Condition: { ArnLike: { [CONTEXT]: MACHINES } },
        }),
        expect.objectContaining({
          Action: 'kms:GenerateDataKey',
          Condition: {
            StringEquals: {
              'kms:EncryptionContext:SourceArn': {
                'Fn::Join': ['', expect.arrayContaining([':*'])],
              },
            },
          },
        }),
      ]),
    );
  });

  test('the function that stops jobs may read the run, whose event has no input', () => {
    expect(statements(/^BatchStopJobsLookPolicy/)).toEqual([
      expect.objectContaining({
        Action: 'kms:Decrypt',
        Condition: { ArnLike: { [CONTEXT]: MACHINES } },
      }),
    ]);
    made.hasResourceProperties('AWS::IAM::Policy', {
      PolicyName: Match.stringLikeRegexp('^BatchStopJobsLookPolicy'),
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ Action: 'states:DescribeExecution' })]),
      },
    });
  });

  test('S3 may write inventories of the bucket, under its prefix and a key of the app', () => {
    made.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Principal: { Service: 's3.amazonaws.com' },
            Action: 's3:PutObject',
            Resource: { 'Fn::Join': ['', [Match.anyValue(), '/inventory/*']] },
            Condition: Match.objectLike({ ArnLike: { 'aws:SourceArn': Match.anyValue() } }),
          }),
        ]),
      },
    });
    const stack = testStack();
    const encryptionKey = new Key(stack, 'Key');
    const bucket = new Bucket(stack, 'Data', { encryptionKey, bucketKeyEnabled: true });
    new BatchTransform(stack, 'Batch', {
      model: testModel(stack),
      input: { bucket, prefix: 'input/' },
      output: { bucket, prefix: 'output/' },
      inventory: { bucket, prefix: 'inventory/' },
    });
    Template.fromStack(stack).hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Principal: { Service: 's3.amazonaws.com' },
            Action: 'kms:GenerateDataKey',
            Condition: { StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } } },
          }),
        ]),
      },
    });
  });

  test('a key of the app lets its log be delivered, and whoever starts runs see them', () => {
    const stack = testStack();
    const batch = new BatchTransform(stack, 'Batch', {
      model: testModel(stack),
      input: { bucket: Bucket.fromBucketName(stack, 'In', 'data'), prefix: 'input/' },
      output: { bucket: Bucket.fromBucketName(stack, 'Out', 'data'), prefix: 'output/' },
      encryptionKey: new Key(stack, 'Key'),
    });
    batch.grantStart(new User(stack, 'Starter'));
    const own = Template.fromStack(stack);
    own.hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Principal: { Service: 'delivery.logs.amazonaws.com' },
            Action: 'kms:Decrypt',
          }),
        ]),
      },
    });
    own.hasResourceProperties('AWS::IAM::Policy', {
      PolicyName: Match.stringLikeRegexp('^Starter'),
      PolicyDocument: {
        Statement: Match.arrayWith([Match.objectLike({ Action: 'kms:Decrypt' })]),
      },
    });
  });
});

test.each([
  ['cn-north-1', 'logs.cn-north-1.amazonaws.com.cn'],
  ['us-gov-west-1', 'logs.us-gov-west-1.amazonaws.com'],
  ['eu-central-1', 'logs.eu-central-1.amazonaws.com'],
  [
    undefined,
    { 'Fn::Join': ['', ['logs.', { Ref: 'AWS::Region' }, '.', { Ref: 'AWS::URLSuffix' }]] },
  ],
])('CloudWatch Logs as a service in %s', (region, service) => {
  const stack = new Stack(testApp(), 'Logs', region === undefined ? {} : { env: { region } });
  const china = region?.startsWith('cn-') ? '.cn' : '';
  const uri = `123456789012.dkr.ecr.${region ?? 'us-east-1'}.amazonaws.com${china}/serving:1`;
  const bucket = Bucket.fromBucketName(stack, 'Bucket', 'data');
  new BatchTransform(stack, 'Batch', {
    model: testModel(stack, { image: ServingImage.fromUri(uri, { variant: 'gpu' }) }),
    input: { bucket, prefix: 'input/' },
    output: { bucket, prefix: 'output/' },
    encryptionKey: new Key(stack, 'Key'),
  });
  Template.fromStack(stack).hasResourceProperties('AWS::KMS::Key', {
    KeyPolicy: {
      Statement: Match.arrayWith([Match.objectLike({ Principal: { Service: service } })]),
    },
  });
});

test('without a key, AWS keeps the keys', () => {
  const made = template(
    'tensorflow-m',
    { endpoint: { async: true } },
    { encryptionKeyArn: undefined },
  );
  expect(new Set(Object.values(keysOf(made)))).toEqual(new Set([undefined]));
  expect(JSON.stringify(made.toJSON())).not.toContain('kms:');
});

test('an environment has its own key, of its own region', () => {
  const elsewhere = KEY.replace('us-east-1', 'eu-central-1');
  const environments = (encryptionKeyArn?: string) => [
    {
      name: 'prod',
      account: '123456789012',
      region: 'eu-central-1',
      ...(encryptionKeyArn && { encryptionKeyArn }),
    },
  ];
  const models = { m: { model: MODEL_DIR, batch: {} } };
  const config = (own?: string) =>
    parseConfig({ models, encryptionKeyArn: KEY, environments: environments(own) }, 'test');
  expect(() => config()).toThrow(
    "environments[0].encryptionKeyArn: the key is in us-east-1, and 'prod' is in eu-central-1",
  );
  expect(() => config(elsewhere)).not.toThrow();
});

test.each(['alias/mine', 'arn:aws:kms:us-east-1:123456789012:alias/mine'])(
  '%s is no key',
  (arn) => {
    const models = { m: { model: MODEL_DIR, batch: {} } };
    expect(() => parseConfig({ models, encryptionKeyArn: arn }, 'test')).toThrow(
      /encryptionKeyArn/,
    );
  },
);

/** Functions that write to no log group of the template: Lambda's own for them never expires, and has no key. */
function withoutLogGroup(made: Template): string[] {
  const functions = Object.entries(made.findResources('AWS::Lambda::Function'));
  expect(functions.length).toBeGreaterThan(0);
  return functions
    .filter(([, { Properties }]) => !Properties.LoggingConfig?.LogGroup?.Ref)
    .map(([id]) => id);
}

test.each<[string, string, object]>([
  ['an endpoint', 'tensorflow-m', { endpoint: { async: true }, compression: 'none' }],
  ['a batch', 'tensorflow-m-batch', { batch: { sharding: { objectsPerShard: 9 } } }],
])('every function of %s writes to a log group of its stack', (_, id, model) => {
  expect(withoutLogGroup(template(id, model))).toEqual([]);
});

test('a group is freed from a key that is taken away', () => {
  const given = { endpoint: { instanceType: 'ml.c6i.xlarge' } };
  const made = template('tensorflow-m', given);
  const [key] = Object.values(made.findResources('Custom::SageMakerLogKey'));
  const undo = JSON.stringify(key?.Properties.Delete);
  expect(undo).toContain('disassociateKmsKey');
  expect(undo).toContain('/aws/sagemaker/Endpoints/');
  // The resource goes after the policies are those of the stack without a key.
  const without = template('tensorflow-m', given, { encryptionKeyArn: undefined });
  without.resourceCountIs('Custom::SageMakerLogKey', 0);
  without.hasResourceProperties('AWS::IAM::Policy', {
    PolicyName: Match.stringLikeRegexp('LogGroupUpkeep'),
    PolicyDocument: {
      Statement: Match.arrayWith([
        Match.objectLike({ Action: Match.arrayWith(['logs:DisassociateKmsKey']) }),
      ]),
    },
  });
});

describe('a key from before', () => {
  const formerEncryptionKeyArns = [KEY.replace('5555', '4444')];
  /** Names of the policies that let their roles decrypt under the former key. */
  const policies = (id: string, model: object, now?: string) => {
    const made = template(id, model, { encryptionKeyArn: now, formerEncryptionKeyArns });
    return Object.values(made.findResources('AWS::IAM::Policy'))
      .filter(({ Properties }) =>
        Properties.PolicyDocument.Statement.some(
          ({ Action, Resource }: { Action: string | string[]; Resource: unknown }) =>
            [Resource].flat().includes(formerEncryptionKeyArns[0]) &&
            [Action].flat().includes('kms:Decrypt'),
        ),
      )
      .map(({ Properties }) => String(Properties.PolicyName).replace(/[0-9A-F]{8}$/, ''))
      .sort();
  };

  test.each([KEY, undefined])(
    'inputs that wait under it, and what old instances write: %s',
    (now) => {
      expect(policies('tensorflow-m', { endpoint: { async: true } }, now)).toEqual([
        'ModelRoleDefaultPolicy',
      ]);
    },
  );

  interface Role {
    readonly AssumeRolePolicyDocument: unknown;
  }
  interface Attached {
    readonly Roles?: readonly { readonly Ref?: string }[];
    readonly PolicyDocument: { readonly Statement: readonly Record<string, unknown>[] };
  }

  /** Roles that run models and may not decrypt under the former key. */
  function withoutFormerKey(made: Template): string[] {
    const roles = Object.entries(made.findResources('AWS::IAM::Role')).filter(
      ([, { Properties }]) =>
        JSON.stringify((Properties as Role).AssumeRolePolicyDocument).includes('sagemaker'),
    );
    expect(roles).not.toEqual([]);
    const allowed = Object.values(made.findResources('AWS::IAM::Policy')).flatMap(
      ({ Properties }) => {
        const { Roles = [], PolicyDocument } = Properties as Attached;
        const decrypts = PolicyDocument.Statement.some(
          ({ Action, Resource }) =>
            [Action].flat().includes('kms:Decrypt') &&
            [Resource].flat().includes(formerEncryptionKeyArns[0]),
        );
        return decrypts ? Roles.map(({ Ref }) => Ref) : [];
      },
    );
    return roles.map(([id]) => id).filter((id) => !allowed.includes(id));
  }

  const components = [
    { name: 'a', memoryMiB: 512 },
    { name: 'b', archive: 's3://models/b.tar.gz' },
  ];
  const shared = {
    components,
    managedInstances: { maxInstances: 2 },
    instanceType: 'ml.g5.2xlarge',
  };
  const archived = { model: undefined, archive: 's3://models/m.tar.gz' };
  test.each<[string, object, string]>([
    ['an endpoint', { endpoint: {} }, 'm'],
    ['an asynchronous endpoint', { endpoint: { async: true } }, 'm'],
    ['an archive', { ...archived, endpoint: {} }, 'm'],
    ['components', { endpoint: shared }, 'm'],
    ['components of archives', { ...archived, endpoint: shared }, 'm'],
    ['a batch', { batch: {} }, 'm-batch'],
  ])('every role that runs models may read what is under it: %s', (_, model, stack) => {
    for (const encryptionKeyArn of [KEY, undefined]) {
      const made = template(`tensorflow-${stack}`, model, {
        encryptionKeyArn,
        formerEncryptionKeyArns,
      });
      expect(withoutFormerKey(made)).toEqual([]);
    }
  });

  test('it is remarked on by its own field, and warned of nowhere', () => {
    const app = testApp();
    const models = { m: { model: MODEL_DIR, batch: {} } };
    addServingStacks(
      app,
      parseConfig({ image: { directory }, models, formerEncryptionKeyArns }, 'test'),
    );
    const annotations = Annotations.fromStack(app.node.findChild('tensorflow-m-batch') as Stack);
    expect(annotations.findWarning('*', Match.anyValue())).toEqual([]);
    expect(annotations.findInfo('*', FOREIGN).map(({ entry }) => entry.data)).toEqual([
      expect.stringMatching(/^formerEncryptionKeyArns\[0\]: .* Let delivery\.logs/),
    ]);
  });

  test.each([KEY, undefined])('a batch reads old inputs, and old runs continue: %s', (now) => {
    expect(policies('tensorflow-m-batch', { batch: {} }, now)).toEqual([
      'BatchModelAccess',
      'BatchShardRoleDefaultPolicy',
      'BatchStateMachineRoleDefaultPolicy',
      'BatchStopJobsLookPolicy',
      'ModelReadEarlierModels',
    ]);
  });

  test('of an environment, in place of those for all', () => {
    const own = { name: 'prod', account: '123456789012', region: 'us-east-1' };
    const config = parseConfig(
      {
        models: { m: { model: MODEL_DIR, endpoint: { async: true } } },
        image: { directory },
        formerEncryptionKeyArns,
        environments: [{ ...own, formerEncryptionKeyArns: [] }],
      },
      'test',
    );
    const app = testApp();
    addServingStacks(app, config);
    const stack = app.node.findChild('prod').node.findChild('tensorflow-m') as Stack;
    expect(JSON.stringify(Template.fromStack(stack))).not.toContain('kms:Decrypt');
  });
});

test('an endpoint with another name frees the group of the old one', () => {
  const policies = (endpointName: string) => {
    const stack = testStack();
    const variants = [{ model: testModel(stack), instanceType: 'ml.g4dn.xlarge' }];
    const encryptionKey = new Key(stack, 'Key');
    new RealtimeEndpoint(stack, 'Endpoint', { variants, encryptionKey, endpointName });
    const made = Template.fromStack(stack);
    const [[, release] = []] = Object.entries(made.findResources('Custom::SageMakerLogKey'));
    const found = Object.entries(made.findResources('AWS::IAM::Policy')).filter(([, policy]) =>
      JSON.stringify(policy).includes('logs:DisassociateKmsKey'),
    );
    return { needed: release?.DependsOn as string[], ids: found.map(([id]) => id) };
  };
  const [before, after] = [policies('digits-one'), policies('digits-two')];
  // One that goes with the name, after the resource that needs it.
  const gone = before.ids.filter((id) => !after.ids.includes(id));
  expect(gone).toEqual([expect.stringMatching(/^EndpointLogsRelease/)]);
  expect(before.needed).toEqual(expect.arrayContaining(gone));
});

test.each([
  [{}, ['input', 'output']],
  [{ bucketKeyEnabled: true }, []],
])('a batch over a bucket of the app under a key, %j', (props, warned) => {
  const stack = testStack();
  const bucket = new Bucket(stack, 'Data', { encryptionKey: new Key(stack, 'Key'), ...props });
  new BatchTransform(stack, 'Batch', {
    model: testModel(stack),
    input: { bucket, prefix: 'input/' },
    output: { bucket, prefix: 'output/' },
  });
  const found = Annotations.fromStack(stack).findWarning(
    '*',
    Match.stringLikeRegexp('S3 calls KMS for each object'),
  );
  expect(found.map(({ entry }) => String(entry.data).split(':')[0]).sort()).toEqual(warned);
});

test('synthesis names what the policy of a key from outside must have, once a service', () => {
  const remarks = (model: object, id: string) => {
    const app = testApp();
    const models = { m: { model: MODEL_DIR, ...model } };
    addServingStacks(
      app,
      parseConfig({ image: { directory }, models, encryptionKeyArn: KEY }, 'test'),
    );
    const annotations = Annotations.fromStack(app.node.findChild(id) as Stack);
    // `cdk --strict` fails of any warning, and a configuration can have no other key.
    expect(annotations.findWarning('*', Match.anyValue())).toEqual([]);
    return named(annotations.findInfo('*', FOREIGN));
  };
  expect(remarks({ endpoint: { alarmEmail: 'a@example.com' } }, 'tensorflow-m')).toEqual([
    'cloudwatch.amazonaws.com',
    'logs.REGION.amazonaws.com',
  ]);
  expect(remarks({ batch: { email: 'a@example.com' } }, 'tensorflow-m-batch')).toEqual([
    'cloudwatch.amazonaws.com',
    'delivery.logs.amazonaws.com',
    'events.amazonaws.com',
    'logs.REGION.amazonaws.com',
    's3.amazonaws.com',
  ]);
});

const FOREIGN = Match.stringLikeRegexp('this app does not make the key');
const named = (found: ReturnType<Annotations['findInfo']>) =>
  found.map(({ entry }) => /Let (\S+) do/.exec(String(entry.data))?.[1]).sort();

test('constructs warn of it, with an id that can be acknowledged', () => {
  const stack = testStack();
  const variants = [{ model: testModel(stack), instanceType: 'ml.g4dn.xlarge' }];
  const encryptionKey = Key.fromKeyArn(stack, 'Key', KEY);
  new RealtimeEndpoint(stack, 'Endpoint', { variants, encryptionKey });
  const found = Annotations.fromStack(stack).findWarning('*', FOREIGN);
  expect(named(found)).toEqual(['logs.REGION.amazonaws.com']);
  AppAnnotations.of(stack).acknowledgeWarning(
    '@sagemaker-tfs/cdk:foreignKey.logs.REGION.amazonaws.com',
  );
  expect(Annotations.fromStack(stack).findWarning('*', FOREIGN)).toEqual([]);
});

describe('a key of the app itself', () => {
  const bucketOf = (stack: Stack): IBucket => Bucket.fromBucketName(stack, 'Bucket', 'data');

  test('everything of an endpoint, with its model, smoke test and log upkeep', () => {
    const stack = testStack();
    const encryptionKey = new Key(stack, 'Key');
    const model = testModel(stack, {
      encryptionKey,
      modelData: ModelData.fromDirectory(MODEL_DIR, { compression: 'none' }),
    });
    const plain = testModel(stack, {}, 'Plain');
    // The first has no key, and makes the function that both use.
    new RealtimeEndpoint(stack, 'Other', {
      variants: [{ model: plain, instanceType: 'ml.g4dn.xlarge' }],
    });
    const variants = [{ model, instanceType: 'ml.p3.2xlarge' }];
    const endpoint = new RealtimeEndpoint(stack, 'Endpoint', { variants, encryptionKey });
    new SmokeTest(stack, 'SmokeTest', { endpoint, samples: [] });
    const made = Template.fromStack(stack);
    const { OtherDeployedLog, ...keys } = keysOf(made);
    expect(OtherDeployedLog).toBeUndefined();
    const arn = stack.resolve(encryptionKey.keyArn);
    expect(keys).toEqual(Object.fromEntries(Object.keys(keys).map((id) => [id, arn])));
    expect(Object.keys(keys)).toEqual(
      expect.arrayContaining([
        'LogGroupUpkeepLog',
        'ModelModelBucket',
        'ModelUploadLog',
        'SmokeTestLog',
      ]),
    );
    expect(withoutLogGroup(made)).toEqual([]);
  });

  test('of a topic: its policy lets EventBridge tell of the ends of runs, and CloudWatch of jobs that continue', () => {
    const stack = testStack();
    const masterKey = new Key(stack, 'TopicKey');
    new BatchTransform(stack, 'Batch', {
      model: testModel(stack),
      input: { bucket: bucketOf(stack), prefix: 'input/' },
      output: { bucket: bucketOf2(stack), prefix: 'output/' },
      topic: new Topic(stack, 'Topic', { masterKey }),
    });
    Template.fromStack(stack).hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: ['kms:Decrypt', 'kms:GenerateDataKey*'],
            Principal: { Service: ['cloudwatch.amazonaws.com', 'events.amazonaws.com'] },
          }),
        ]),
      },
    });
  });

  function endpoint(props: Partial<RealtimeEndpointProps>) {
    const stack = testStack();
    const encryptionKey = new Key(stack, 'Key');
    const variants = [{ model: testModel(stack), instanceType: 'ml.p3.2xlarge' }];
    new RealtimeEndpoint(stack, 'Endpoint', { variants, encryptionKey, ...props });
    return Template.fromStack(stack);
  }

  test('lets CloudWatch Logs use it', () => {
    endpoint({}).hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Principal: { Service: Match.anyValue() },
            Condition: { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': Match.anyValue() } },
          }),
        ]),
      },
    });
  });

  test('a key named for one purpose goes before', () => {
    const stack = testStack();
    const [encryptionKey, volumeKey] = [new Key(stack, 'Key'), new Key(stack, 'Volumes')];
    const variants = [{ model: testModel(stack), instanceType: 'ml.p3.2xlarge' }];
    new RealtimeEndpoint(stack, 'Endpoint', { variants, encryptionKey, volumeKey });
    Template.fromStack(stack).hasResourceProperties('AWS::SageMaker::EndpointConfig', {
      KmsKeyId: stack.resolve(volumeKey.keyArn),
    });
  });

  test('not for volumes where a shadow has local disks', () => {
    const stack = testStack();
    const variants = [
      { model: testModel(stack), variantName: 'live', instanceType: 'ml.p3.2xlarge' },
    ];
    const shadowVariant = {
      model: testModel(stack, {}, 'Shadow'),
      variantName: 'shadow',
      instanceType: 'ml.g5.xlarge',
    };
    const encryptionKey = new Key(stack, 'Key');
    new RealtimeEndpoint(stack, 'Endpoint', { variants, shadowVariant, encryptionKey });
    Template.fromStack(stack).hasResourceProperties('AWS::SageMaker::EndpointConfig', {
      KmsKeyId: Match.absent(),
    });
    Annotations.fromStack(stack).hasWarning(
      '/Test/Endpoint',
      Match.stringLikeRegexp(
        'encryptionKey: the volumes of ml\\.[\\w.]+ are not under it, as ml\\.g5\\.xlarge beside them has local disks',
      ),
    );
    expect(
      () =>
        new RealtimeEndpoint(stack, 'Other', { variants, shadowVariant, volumeKey: encryptionKey }),
    ).toThrow(/volumeKey: ml\.g5\.xlarge has local disks/);
  });

  test('batch alone', () => {
    const stack = testStack();
    new BatchTransform(stack, 'Batch', {
      model: testModel(stack),
      input: { bucket: bucketOf(stack), prefix: 'input/' },
      output: { bucket: bucketOf2(stack), prefix: 'output/' },
      encryptionKey: new Key(stack, 'Key'),
    });
    const keys = Object.values(keysOf(Template.fromStack(stack)));
    expect(keys.length).toBeGreaterThan(0);
    expect(keys).not.toContain(undefined);
  });

  const bucketOf2 = (stack: Stack): IBucket => Bucket.fromBucketName(stack, 'Out', 'data');
});
