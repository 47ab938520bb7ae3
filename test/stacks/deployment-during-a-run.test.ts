/** What a run that continues across a deployment may still read: the archive that it began with. */
import { Template } from 'aws-cdk-lib/assertions';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import { type App, Stack } from 'aws-cdk-lib/core';
import {
  addServingStacks,
  BatchTransform,
  BatchWorker,
  ModelData,
  parseConfig,
  RealtimeEndpoint,
} from '../../lib/index.ts';
import { stubContainer, testApp, testModel } from '../support/stacks.ts';

type Release = (bucket: IBucket) => ModelData;

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
}

/** Whether an object of the bucket `models` matches what roles may read. */
function mayRead(template: Template, key: string): boolean {
  const statements = Object.values(template.findResources('AWS::IAM::Policy')).flatMap(
    ({ Properties }) => Properties.PolicyDocument.Statement as Statement[],
  );
  const patterns = statements
    .filter(({ Action }) => [Action].flat().includes('s3:GetObject'))
    .flatMap(({ Resource }) => [Resource].flat())
    .map((resource) => /:s3:::models\/([^"]*)"/.exec(JSON.stringify(resource))?.[1]);
  return patterns.some((pattern) => {
    const parts = pattern?.split('*').map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
    return parts && new RegExp(`^${parts.join('.*')}$`, 's').test(key);
  });
}

/** Stacks with what continues on its own across a deployment. */
const RUNS: Readonly<Record<string, (stack: Stack, app: App, data: ModelData) => void>> = {
  'a batch transform': (stack, _app, modelData) => {
    const bucket = Bucket.fromBucketName(stack, 'Data', 'data');
    const model = testModel(stack, { modelData });
    const places = { input: { bucket, prefix: 'in/' }, output: { bucket, prefix: 'out/' } };
    new BatchTransform(stack, 'Batch', { model, ...places });
  },
  'an endpoint of another stack': (stack, app, modelData) => {
    const model = testModel(stack, { modelData });
    const variants = [{ model, instanceType: 'ml.g4dn.xlarge' }];
    new RealtimeEndpoint(new Stack(app, 'Endpoints'), 'Endpoint', { variants });
  },
};

const GZIP_RUNS: typeof RUNS = {
  ...RUNS,
  'a batch worker': (stack, _app, modelData) => {
    const bucket = Bucket.fromBucketName(stack, 'Data', 'data');
    const model = testModel(stack, { modelData });
    const places = { input: { bucket, prefix: 'in/' }, output: { bucket, prefix: 'out/' } };
    new BatchWorker(stack, 'Worker', { model, vpc: new Vpc(stack, 'Vpc'), ...places });
  },
};

function deployed(runs: (typeof RUNS)[string], release: Release): Template {
  const app = testApp();
  const stack = new Stack(app, 'Test');
  runs(stack, app, release(Bucket.fromBucketName(stack, 'Models', 'models')));
  return Template.fromStack(stack);
}

const archive =
  (key: string, releasesPrefix?: string): Release =>
  (bucket) =>
    ModelData.fromArchive(bucket, key, releasesPrefix === undefined ? {} : { releasesPrefix });

const files =
  (prefix: string): Release =>
  (bucket) =>
    ModelData.fromPrefix(bucket, prefix);

describe.each(Object.entries(GZIP_RUNS))('%s', (_name, runs) => {
  test.each<[old: string, next: string, prefix: string | undefined]>([
    ['digits/1.tar.gz', 'digits/2.tar.gz', undefined],
    ['all/digits/1/model.tar.gz', 'all/digits/2/model.tar.gz', 'all/digits/'],
  ])('continues to read %s when %s is deployed', (old, next, prefix) => {
    const template = deployed(runs, archive(next, prefix));
    expect([next, old].map((key) => mayRead(template, key))).toEqual([true, true]);
    expect(mayRead(template, 'other/1.tar.gz')).toBe(false);
    expect(mayRead(template, 'digits/secret.txt')).toBe(false);
  });

  test('reads no other archive than its own at the top of a bucket', () => {
    const template = deployed(runs, archive('2.tar.gz'));
    expect(['2.tar.gz', '1.tar.gz'].map((key) => mayRead(template, key))).toEqual([true, false]);
  });
});

test.each(['an endpoint of another stack'])('%s continues to read unpacked files', (name) => {
  const runs = RUNS[name] as (typeof RUNS)[string];
  const template = deployed(runs, files('digits/2/'));
  expect(mayRead(template, 'digits/1/1/saved_model.pb')).toBe(true);
  expect(mayRead(template, 'other/1/1/saved_model.pb')).toBe(false);
});

test.each([
  ['digits', /'digits' does not end in '\/'/],
  ['other/', /'other\/' does not hold 'digits\/2.tar.gz'/],
])('a wrong prefix is refused: %s', (prefix, message) => {
  const runs = GZIP_RUNS['a batch transform'] as (typeof RUNS)[string];
  expect(() => deployed(runs, archive('digits/2.tar.gz', prefix))).toThrow(message);
});

const KEY = 'arn:aws:kms:us-east-1:111111111111:key/1234';

test('keys from before stay open to workers', () => {
  const app = testApp();
  const stack = new Stack(app, 'Test');
  const bucket = Bucket.fromBucketName(stack, 'Data', 'data');
  new BatchWorker(stack, 'Worker', {
    model: testModel(stack),
    vpc: new Vpc(stack, 'Vpc'),
    input: { bucket, prefix: 'in/' },
    output: { bucket, prefix: 'out/' },
    formerEncryptionKeys: [Key.fromKeyArn(stack, 'Former', KEY)],
  });
  const policy = JSON.stringify(Template.fromStack(stack).findResources('AWS::IAM::Policy'));
  expect(policy).toContain(`"Action":"kms:Decrypt","Effect":"Allow","Resource":"${KEY}"`);
});

describe('in a configuration', () => {
  const models = (fields: object) => ({
    image: { directory: stubContainer() },
    models: { m: { archive: 's3://models/digits/2/model.tar.gz', batch: {}, ...fields } },
  });

  test("'archives' names the place of all releases", () => {
    const app = testApp();
    addServingStacks(app, parseConfig(models({ archives: 's3://models/digits/' }), 'test'));
    const template = Template.fromStack(app.node.findChild('tensorflow-m-batch') as Stack);
    expect(mayRead(template, 'digits/1/model.tar.gz')).toBe(true);
    expect(mayRead(template, 'letters/1/model.tar.gz')).toBe(false);
  });

  test.each([
    [{ archives: 's3://models/letters/' }, /archives: .*does not lie below it/],
    [{ archive: undefined, model: 'm', archives: 's3://models/m/' }, /archives: .*'archive'/],
  ])('%j is refused', (fields, message) => {
    expect(() => parseConfig(models(fields), 'test')).toThrow(message);
  });
});
