/** The Model Registry: versions as models, groups, their policy, and what starts deployments. */
import { Annotations, Match, Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { Stack } from 'aws-cdk-lib/core';
import {
  addServingStacks,
  ModelData,
  ModelRegistry,
  parseConfig,
  Redeployment,
  ServingImage,
} from '../../lib/index.ts';
import { problemsOf } from '../service-models/validate.ts';
import { MODEL_DIR, stubContainer, testApp, testModel, testStack } from '../support/stacks.ts';

const ARN = 'arn:aws:sagemaker:us-east-1:111111111111:model-package/digits/3';
const IMAGE = '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:7';
const modelPackage = { arn: ARN, archives: 's3://models/registry/', image: IMAGE };
const KEY = 'arn:aws:kms:us-east-1:111111111111:key/01234567-89ab-cdef-0123-456789abcdef';
const fingerprint = 'f'.repeat(64);

function templates(config: object): Record<string, Template> {
  const app = testApp();
  addServingStacks(app, parseConfig(config, 'test'));
  const stacks = app.node.findAll().filter((one): one is Stack => one instanceof Stack);
  return Object.fromEntries(stacks.map((stack) => [stack.node.id, Template.fromStack(stack)]));
}

describe('a version as a model', () => {
  test('has its own image, and the role may read its archive and pull its image', () => {
    const made = templates({
      models: { m: { modelPackage, fingerprint, environment: { THRESHOLD: 1 }, endpoint: {} } },
    });
    // No image is built for it.
    expect(Object.keys(made)).toEqual(['tensorflow-m']);
    const template = made['tensorflow-m'] as Template;
    const [model] = Object.values(template.findResources('AWS::SageMaker::Model'));
    expect(model?.Properties.PrimaryContainer).toEqual({
      ModelPackageName: ARN,
      Environment: { THRESHOLD: '1' },
    });
    expect(problemsOf('sagemaker', 'CreateModel', model?.Properties, ['ModelName'])).toEqual([]);
    const text = JSON.stringify(template.findResources('AWS::IAM::Policy'));
    expect(text).toContain(':s3:::models/registry/*');
    expect(text).toContain(':ecr:us-east-1:111111111111:repository/serving');
    expect(JSON.stringify(template)).toContain(fingerprint.slice(0, 16));
  });

  test('runs in batch, and as one variant beside a model that is packaged here', () => {
    const variants = [{ name: 'now' }, { name: 'next', modelPackage }];
    const made = templates({
      image: { directory: stubContainer() },
      models: {
        m: { modelPackage, batch: {} },
        two: { model: MODEL_DIR, endpoint: { variants } },
      },
    });
    made['tensorflow-m-batch']?.hasResourceProperties('AWS::SageMaker::Model', {
      PrimaryContainer: { ModelPackageName: ARN, Image: Match.absent() },
    });
    made['tensorflow-two']?.resourceCountIs('AWS::SageMaker::Model', 2);
    made['tensorflow-two']?.hasResourceProperties('AWS::SageMaker::Model', {
      PrimaryContainer: { ModelPackageName: ARN },
    });
  });

  const keyed = { modelPackage: { ...modelPackage, keyArn: KEY } };
  test.each([
    ['an endpoint', 'tensorflow-m', { ...keyed, endpoint: {} }],
    ['a batch', 'tensorflow-m-batch', { ...keyed, batch: {} }],
    [
      'a variant',
      'tensorflow-m',
      { modelPackage, endpoint: { variants: [{ name: 'now' }, { name: 'next', ...keyed }] } },
    ],
    [
      'a component',
      'tensorflow-m',
      {
        modelPackage,
        endpoint: {
          instanceType: 'ml.c6i.4xlarge',
          managedInstances: { maxInstances: 2 },
          components: [{ name: 'a' }, { name: 'b', ...keyed }],
        },
      },
    ],
  ])('of an account with a key of its own: %s decrypts with it, and nothing else', (_, id, m) => {
    const { [id]: template } = templates({ models: { m } });
    const statements = Object.values(template?.findResources('AWS::IAM::Policy') ?? {}).flatMap(
      ({ Properties }) => Properties.PolicyDocument.Statement as { Action: unknown }[],
    );
    const uses = statements.filter((statement) => JSON.stringify(statement).includes(KEY));
    expect(uses.length).toBeGreaterThan(0);
    for (const use of uses) {
      expect(use).toEqual({ Action: 'kms:Decrypt', Effect: 'Allow', Resource: KEY });
    }
  });

  test('takes the key from its bucket too, and another one has a policy of its own', () => {
    const policies = (key: string, at: 'bucket' | 'option') => {
      const stack = testStack();
      const encryptionKey = Key.fromKeyArn(stack, 'Key', key);
      const bucketName = 'models';
      const bucket = Bucket.fromBucketAttributes(stack, 'Bucket', {
        bucketName,
        ...(at === 'bucket' && { encryptionKey }),
      });
      const options = { bucket, ...(at === 'option' && { encryptionKey }) };
      const modelData = ModelData.fromModelPackage(ARN, options);
      testModel(stack, { modelData, image: ServingImage.fromUri(IMAGE) });
      const found = Template.fromStack(stack).findResources('AWS::IAM::Policy');
      expect(JSON.stringify(found)).toContain(`"kms:Decrypt","Effect":"Allow","Resource":"${key}"`);
      return Object.keys(found).filter((id) => id.includes('ReadModelData'));
    };
    policies(KEY, 'bucket');
    expect(policies(KEY, 'option')).not.toEqual(policies(`${KEY}0`, 'option'));
  });

  test.each([
    ['arn:aws:sagemaker:us-east-1:111111111111:model-package/digits', /is no version of a model/],
    ['arn:aws:sagemaker:eu-west-1:111111111111:model-package/digits/3', /in eu-west-1 and the/],
  ])('is refused if it is %s', (arn, message) => {
    const stack = new Stack(testApp(), 'Own', { env: { region: 'us-east-1' } });
    const bucket: IBucket = Bucket.fromBucketName(stack, 'Bucket', 'models');
    const modelData = ModelData.fromModelPackage(arn, { bucket });
    expect(() => testModel(stack, { modelData, image: ServingImage.fromUri(IMAGE) })).toThrow(
      message,
    );
  });

  test.each([
    [{ modelPackage: { ...modelPackage, arn: 'digits/3' } }, /modelPackage\.arn: write arn/],
    // Nobody asked which version is approved, and none is.
    [{ modelPackage: { ...modelPackage, arn: '' } }, /modelPackage\.arn: write arn/],
    [{ modelPackage: { ...modelPackage, arn: 'None' } }, /modelPackage\.arn: write arn/],
    [{ modelPackage: { ...modelPackage, archives: 's3://models/x' } }, /archives: write s3/],
    [
      { modelPackage: { ...modelPackage, keyArn: 'alias/models' } },
      /modelPackage\.keyArn: write the ARN of a key/,
    ],
    [{ modelPackage, handler: 'a.ts' }, /models\.m\.handler: it is packaged with a 'model'/],
    [{ modelPackage, archive: 's3://models/a.tar.gz' }, /archive and modelPackage of/],
    [
      { modelPackage: { ...modelPackage, image: 'docker.io/x:1' } },
      /models\.m\.modelPackage\.image: 'docker\.io\/x:1' is not an image/,
    ],
  ])('of a configuration %# is refused with its path', (model, message) => {
    const config = { models: { m: { ...model, endpoint: {} } } };
    expect(() => parseConfig(config, 'test')).toThrow(message);
  });

  test('of another region than an environment is refused with its path', () => {
    const environments = [{ name: 'prod', account: '111111111111', region: 'eu-west-1' }];
    const config = { environments, models: { m: { modelPackage, endpoint: {} } } };
    expect(() => parseConfig(config, 'test')).toThrow(
      /models\.m\.modelPackage\.arn: the version is in us-east-1 and the model in eu-west-1/,
    );
  });
});

describe('a registry', () => {
  const GROUP = 'AWS::SageMaker::ModelPackageGroup';
  const OTHER = '222222222222';

  test('has groups that AWS takes, with a policy for other accounts', () => {
    const stack = testStack();
    const made = new ModelRegistry(stack, 'Registry', {
      groups: ['digits', 'cats'],
      readers: ['222222222222'],
    });
    expect(made.groupArn('cats')).toBeTruthy();
    expect(() => made.groupArn('dogs')).toThrow(/there is no 'dogs'/);
    const template = Template.fromStack(stack);
    template.resourceCountIs(GROUP, 2);
    for (const { Properties, DeletionPolicy } of Object.values(template.findResources(GROUP))) {
      const { ModelPackageGroupPolicy: policy, Tags: _, ...group } = Properties;
      // A first deployment that fails leaves nothing under the group's name.
      expect(DeletionPolicy).toBe('RetainExceptOnCreate');
      expect(problemsOf('sagemaker', 'CreateModelPackageGroup', group)).toEqual([]);
      const { ModelPackageGroupName } = group;
      const put = { ModelPackageGroupName, ResourcePolicy: JSON.stringify(policy) };
      expect(problemsOf('sagemaker', 'PutModelPackageGroupPolicy', put)).toEqual([]);
      const text = JSON.stringify(policy);
      expect(text).toContain(`:model-package/${ModelPackageGroupName}/*`);
      expect(text).toContain(`:model-package-group/${ModelPackageGroupName}"`);
      expect(text).toContain('222222222222:root');
    }
    template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({ Effect: 'Allow', Action: 's3:GetObject' }),
          Match.objectLike({ Effect: 'Allow', Action: 's3:ListBucket' }),
        ]),
      },
    });
  });

  test.each([
    ['readers', ['CreateModel']],
    ['approvers', ['UpdateModelPackage']],
    ['readers and approvers', ['CreateModel', 'UpdateModelPackage']],
  ])('lets %s do %j of versions beside reading them', (lists, also) => {
    const accounts = (list: string) => ({ ...(lists.includes(list) && { [list]: [OTHER] }) });
    const registry = { groups: ['digits'], ...accounts('readers'), ...accounts('approvers') };
    const made = templates({ models: { m: { modelPackage, endpoint: {} } }, registry });
    const template = made['tensorflow-registry'] as Template;
    const [group] = Object.values(template.findResources(GROUP));
    const statements = group?.Properties.ModelPackageGroupPolicy.Statement as {
      Action: string | string[];
      Principal: unknown;
    }[];
    for (const { Principal } of statements) expect(JSON.stringify(Principal)).toContain(OTHER);
    const reads = ['DescribeModelPackageGroup', 'DescribeModelPackage', 'ListModelPackages'];
    expect(statements.flatMap(({ Action }) => Action)).toEqual(
      [...reads, ...also].map((action) => `sagemaker:${action}`),
    );
    // The archives are for those who deploy.
    const policies = JSON.stringify(template.findResources('AWS::S3::BucketPolicy'));
    expect(policies.includes(OTHER)).toBe(lists.includes('readers'));
  });

  const readers = [OTHER, '333333333333'];

  test('under a key of the app lets readers decrypt through S3, and nothing else', () => {
    const stack = testStack();
    const encryptionKey = new Key(stack, 'Key');
    new ModelRegistry(stack, 'Registry', { groups: ['digits'], readers, encryptionKey });
    const [key] = Object.values(Template.fromStack(stack).findResources('AWS::KMS::Key'));
    const statements = key?.Properties.KeyPolicy.Statement as Record<string, unknown>[];
    const [theirs, ...others] = statements.slice(1);
    expect(others).toEqual([]);
    for (const account of readers) {
      expect(JSON.stringify(theirs?.Principal)).toContain(`${account}:root`);
    }
    const region = { Ref: 'AWS::Region' };
    const s3 = { 'Fn::Join': ['', ['s3.', region, '.amazonaws.com*']] };
    expect(theirs).toMatchObject({
      Action: 'kms:Decrypt',
      Condition: { StringLike: { 'kms:ViaService': s3 } },
    });
  });

  test('under a key from elsewhere says which accounts its policy must let in', () => {
    const app = testApp();
    const models = { m: { modelPackage, endpoint: {} } };
    const registry = { groups: ['digits'], readers };
    addServingStacks(app, parseConfig({ models, registry, encryptionKeyArn: KEY }, 'test'));
    const stack = app.node.findChild('tensorflow-registry') as Stack;
    const said = Annotations.fromStack(stack).findInfo('*', Match.stringLikeRegexp('Decrypt'));
    expect(said.map(({ entry }) => /Let (\d+) do kms:Decrypt/.exec(`${entry.data}`)?.[1])).toEqual(
      readers,
    );
  });

  test.each([
    [{ groups: [] }, /groups: it is empty/],
    [{ groups: ['a_b'] }, /groups\[0\]: 'a_b' is not a name/],
    [{ groups: ['a', 'a'] }, /groups\[1\]: 'a' is there twice/],
    [{ groups: ['a'], readers: ['me'] }, /readers\[0\]: 'me' is no account/],
    [{ groups: ['a'], approvers: ['me'] }, /approvers\[0\]: 'me' is no account/],
  ])('of %j is refused', (props, message) => {
    expect(() => new ModelRegistry(testStack(), 'Registry', props)).toThrow(message);
  });

  test('of a configuration is in the first environment alone', () => {
    const app = testApp();
    const environment = (name: string) => ({ name, account: '111111111111', region: 'us-east-1' });
    const config = {
      environments: [environment('tools'), environment('prod')],
      models: { m: { modelPackage, endpoint: {} } },
      registry: { groups: ['digits'], readers: ['222222222222'] },
      redeploy: [{ approvedIn: 'digits', project: 'deploy-digits' }],
    };
    addServingStacks(app, parseConfig(config, 'test'));
    const stacks = (stage: string) =>
      app.node.findChild(stage).node.children.map(({ node }) => node.id);
    expect(stacks('tools')).toContain('tensorflow-registry');
    expect(stacks('prod')).not.toContain('tensorflow-registry');
  });
});

/** The only target of the only rule. */
function targetOf(template: Template) {
  const [rule] = Object.values(template.findResources('AWS::Events::Rule'));
  const [target] = rule?.Properties.Targets ?? [];
  return { pattern: rule?.Properties.EventPattern as object, target };
}

describe('a deployment starts', () => {
  const models = { m: { modelPackage, endpoint: {} } };

  test('a build when a version is approved, and tells it nothing', () => {
    const made = templates({ models, redeploy: [{ approvedIn: 'digits', project: 'deploy' }] });
    const template = made['tensorflow-registry'] as Template;
    const { pattern, target } = targetOf(template);
    expect(pattern).toEqual({
      source: ['aws.sagemaker'],
      'detail-type': ['SageMaker Model Package State Change'],
      detail: {
        ModelPackageGroupName: ['digits'],
        ModelApprovalStatus: ['Approved'],
        // Not for an edit of other fields of an approved version.
        $or: [
          { UpdatedModelPackageFields: ['ModelApprovalStatus'] },
          { UpdatedModelPackageFields: [{ exists: false }] },
        ],
      },
    });
    // Whoever deploys reads what is newest: a version in the event would be one that others do not deploy.
    expect(Object.keys(target)).toEqual(['Arn', 'DeadLetterConfig', 'Id', 'RoleArn']);
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: { Statement: [Match.objectLike({ Action: 'codebuild:StartBuild' })] },
    });
    expect(JSON.stringify(target.Arn)).toContain(':project/deploy');
  });

  test('a pipeline when an object of S3 changes', () => {
    const made = templates({
      models,
      redeploy: [{ pointer: 's3://models/live.txt', pipeline: 'deploy' }],
    });
    const template = made['tensorflow-registry'] as Template;
    const { pattern, target } = targetOf(template);
    expect(pattern).toMatchObject({
      source: ['aws.s3'],
      detail: { bucket: { name: ['models'] }, object: { key: ['live.txt'] } },
    });
    expect(Object.keys(target)).not.toContain('Input');
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: [Match.objectLike({ Action: 'codepipeline:StartPipelineExecution' })],
      },
    });
  });

  test('or its event is kept in a queue that the rule alone may send to, and an alarm mails', () => {
    const cause = { approvedIn: 'digits', project: 'deploy' };
    const redeploy = [{ ...cause, alarmEmail: 'a@example.com' }];
    const template = templates({ models, redeploy })['tensorflow-registry'] as Template;
    const [queue] = Object.keys(template.findResources('AWS::SQS::Queue'));
    const [rule] = Object.keys(template.findResources('AWS::Events::Rule'));
    const arn = (id: string | undefined) => ({ 'Fn::GetAtt': [id, 'Arn'] });
    const { target } = targetOf(template);
    expect(target.DeadLetterConfig).toEqual({ Arn: arn(queue) });
    template.hasResourceProperties('AWS::SQS::QueuePolicy', {
      Queues: [{ Ref: queue }],
      PolicyDocument: {
        Statement: Match.arrayWith([
          {
            Action: 'sqs:SendMessage',
            Condition: { ArnEquals: { 'aws:SourceArn': arn(rule) } },
            Effect: 'Allow',
            Principal: { Service: 'events.amazonaws.com' },
            Resource: arn(queue),
          },
        ]),
      },
    });
    template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      Namespace: 'AWS/SQS',
      MetricName: 'ApproximateNumberOfMessagesVisible',
      Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue, 'QueueName'] } }],
      Threshold: 1,
      AlarmActions: [Match.anyValue()],
    });
  });

  test.each([
    [{ project: 'p' }, /redeploy\[0\]\.approvedIn: one cause is needed/],
    [{ approvedIn: 'a', pointer: 's3://b-b/k', project: 'p' }, /one cause is needed/],
    [{ approvedIn: 'a' }, /redeploy\[0\]\.project: one target is needed/],
    [{ pointer: 's3://b-b/k/', project: 'p' }, /write s3:\/\/BUCKET\/KEY/],
  ])('not from %j', (redeploy, message) => {
    expect(() => parseConfig({ models, redeploy: [redeploy] }, 'test')).toThrow(message);
  });

  test('not without a target in constructs', () => {
    expect(() => new Redeployment(testStack(), 'R', { approvedIn: 'a' })).toThrow(/no target/);
    expect(() => new Redeployment(testStack(), 'S', {})).toThrow(/no cause/);
  });
});

test('a model called registry is refused beside a registry', () => {
  const config = {
    models: { registry: { modelPackage, endpoint: {} } },
    registry: { groups: ['digits'] },
  };
  expect(() => parseConfig(config, 'test')).toThrow(/as that of the Model Registry is/);
});
