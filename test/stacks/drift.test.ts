/** The scheduled look at captures: its resources, and the function against moto. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import { baselineOf, gatherer, parseCapture } from '@sagemaker-tfs/container/captures';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket, type IBucket } from 'aws-cdk-lib/aws-s3';
import type { Stack } from 'aws-cdk-lib/core';
import { handler } from '../../lib/drift/handler/index.ts';
import {
  addServingStacks,
  DriftMonitor,
  EndpointApi,
  parseConfig,
  RealtimeEndpoint,
  SmokeTest,
} from '../../lib/index.ts';
import { type Moto, startMoto, TEST_CREDENTIALS } from '../rehearse/moto.ts';
import { testApp, testModel, testStack } from '../support/stacks.ts';

jest.setTimeout(120_000);

const work = mkdtempSync(join(tmpdir(), 'drift-test-'));
const baseline = join(work, 'baseline.json');

const line = (age: number) =>
  JSON.stringify({
    captureData: {
      endpointInput: {
        observedContentType: 'application/json',
        data: JSON.stringify({ instances: [age] }),
        encoding: 'JSON',
      },
    },
    eventMetadata: {},
  });
const lines = (from: number) => Array.from({ length: 200 }, (_, i) => line(from + (i % 20)));

beforeAll(() => {
  const all = gatherer();
  for (const text of lines(20)) all.add(parseCapture(text));
  writeFileSync(baseline, JSON.stringify(baselineOf(all.gathered())));
});
afterAll(() => rmSync(work, { recursive: true, force: true }));

const config = (endpoint: object) => ({
  image: { uri: '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:1' },
  models: { m: { archive: 's3://models/m.tar.gz', endpoint } },
});

test('a look at captures every day, with an alarm that mails', () => {
  const app = testApp();
  const endpoint = {
    dataCapturePercent: 10,
    alarmEmail: 'a@example.com',
    drift: { baseline, hours: 48, schedule: 'cron(0 6 * * ? *)' },
  };
  addServingStacks(app, parseConfig(config(endpoint), 'test'));
  const template = Template.fromStack(app.node.findChild('tensorflow-m') as Stack);
  template.hasResourceProperties('AWS::Events::Rule', { ScheduleExpression: 'cron(0 6 * * ? *)' });
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    Namespace: 'SageMakerTensorFlow/Drift',
    MetricName: 'DriftedFeatures',
    TreatMissingData: 'ignore',
    AlarmActions: [Match.anyValue()],
  });
  // Silence is no health: nothing captured, a look that failed, and a disk on which capture stops.
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'Captures',
    ComparisonOperator: 'LessThanThreshold',
    Threshold: 1,
    AlarmActions: [Match.anyValue()],
  });
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    Namespace: 'AWS/Lambda',
    MetricName: 'Errors',
    AlarmActions: [Match.anyValue()],
  });
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    MetricName: 'DiskUtilization',
    Threshold: 75,
  });
  template.hasResourceProperties('AWS::Lambda::Function', {
    Environment: {
      Variables: Match.objectLike({
        HOURS: '48',
        THRESHOLD: '0.2',
        CAPTURES_PREFIX: Match.stringLikeRegexp('^data-capture/.+/$'),
      }),
    },
  });
  const policies = JSON.stringify(template.findResources('AWS::IAM::Policy'));
  expect(policies).toMatch(/\/data-capture\/[^"]+\/\*/);
  expect(policies).toMatch(/\/drift\/[^"]+\/\*/);
  // Of the assets' bucket it reads its baseline alone.
  const [role] = Object.values(template.findResources('AWS::IAM::Policy')).filter(
    ({ Properties }) => JSON.stringify(Properties.Roles).includes('Drift'),
  );
  const statements = role?.Properties.PolicyDocument.Statement as { Action: unknown }[];
  const ofAssets = statements.filter((one) => JSON.stringify(one).includes('cdk-hnb659fds-assets'));
  expect(ofAssets.map(({ Action }) => Action)).toEqual(['s3:GetObject']);
});

test.each([
  [true, 'ENABLED'],
  [false, 'DISABLED'],
])('an endpoint with enabled: %s has its rule %s', (enabled, State) => {
  const app = testApp();
  const drifting = { enabled, dataCapturePercent: 10, drift: { baseline } };
  addServingStacks(app, parseConfig(config(drifting), 'test'));
  const template = Template.fromStack(app.node.findChild('tensorflow-m') as Stack);
  template.hasResourceProperties('AWS::Events::Rule', { State });
});

test.each([
  [{}, 25],
  [{ drift: { baseline, schedule: 'rate(5 minutes)' } }, 2],
  [{ drift: { baseline, schedule: 'rate(6 days)' } }, 145],
  [{ drift: { baseline, schedule: 'cron(0 6 * * ? *)' } }, 25],
  [{ drift: { baseline, schedule: 'cron(0 6 ? * MON *)' } }, undefined],
  [{ drift: { baseline, schedule: 'rate(7 days)' } }, undefined],
  [{ enabled: false }, undefined],
])('%j: looks that have stopped are seen after %s hours', (own, hours) => {
  const app = testApp();
  const alarmEmail = 'a@example.com';
  const drifting = { alarmEmail, dataCapturePercent: 10, drift: { baseline }, ...own };
  addServingStacks(app, parseConfig(config(drifting), 'test'));
  const template = Template.fromStack(app.node.findChild('tensorflow-m') as Stack);
  const alarms = Object.values(template.findResources('AWS::CloudWatch::Alarm'));
  const silent = alarms.filter(
    ({ Properties: { Namespace, MetricName } }) =>
      Namespace === 'AWS/Lambda' && MetricName === 'Invocations',
  );
  // CloudWatch looks back at most 7 days, in periods of an hour or more.
  for (const { Properties } of silent) {
    expect(Properties.Period * Properties.EvaluationPeriods).toBeLessThanOrEqual(604_800);
    expect(Properties.InsufficientDataActions).toHaveLength(1);
  }
  const found = silent.map(({ Properties }) => Properties.EvaluationPeriods);
  expect(found).toEqual(hours === undefined ? [] : [hours]);
});

test('logs of constructs beside an endpoint are under its key, or under their own', () => {
  const stack = testStack();
  const encryptionKey = new Key(stack, 'Key');
  const own = new Key(stack, 'Own');
  const variants = [{ model: testModel(stack) }];
  const endpoint = new RealtimeEndpoint(stack, 'Endpoint', { variants, encryptionKey });
  const bucket: IBucket = Bucket.fromBucketName(stack, 'Data', 'data');
  const jwt = { issuer: 'https://login.example.com/', audience: ['digits'] };
  new SmokeTest(stack, 'SmokeTest', { endpoint, samples: [] });
  new EndpointApi(stack, 'Api', { endpoint, auth: 'jwt', jwt });
  new DriftMonitor(stack, 'Drift', { endpoint, bucket, baseline });
  new DriftMonitor(stack, 'OwnDrift', { endpoint, bucket, baseline, encryptionKey: own });
  const groups = Object.entries(Template.fromStack(stack).findResources('AWS::Logs::LogGroup'));
  const keys = groups.map(([id, { Properties }]) => [id.slice(0, -8), Properties.KmsKeyId]);
  const [theEndpoints, its] = [encryptionKey, own].map(({ keyArn }) => stack.resolve(keyArn));
  expect(Object.fromEntries(keys)).toMatchObject({
    SmokeTestLog: theEndpoints,
    ApiAuthorizerLog: theEndpoints,
    DriftLog: theEndpoints,
    OwnDriftLog: its,
  });
});

test.each([
  [{ drift: { baseline: 'x' } }, /endpoint\.drift: nothing is captured/],
  [{ dataCapturePercent: 5, drift: { baseline: 'x', threshold: 0 } }, /drift\.threshold/],
])('%j is refused', (endpoint, message) => {
  expect(() => parseConfig(config(endpoint), 'test')).toThrow(message);
});

test.each([
  [{ baseline: 'nowhere.json' }, /nowhere\.json does not exist/],
  [{ baseline: 'package.json' }, /package\.json is no baseline/],
  [{ schedule: 'rate(1 days)' }, /has the wrong unit/],
])('%j is refused when the stacks are made', (own, message) => {
  const drift = { baseline, ...own };
  const parsed = parseConfig(config({ dataCapturePercent: 5, drift }), 'test');
  expect(() => addServingStacks(testApp(), parsed)).toThrow(message);
});

describe('the function', () => {
  const before = { ...process.env };
  let moto: Moto;
  let s3: S3Client;
  beforeAll(async () => {
    Object.assign(process.env, TEST_CREDENTIALS);
    moto = await startMoto();
    Object.assign(process.env, {
      AWS_ENDPOINT_URL: moto.url,
      ...{ BASELINE_BUCKET: 'data', BASELINE_KEY: 'baseline.json', CAPTURES_BUCKET: 'data' },
      ...{ CAPTURES_PREFIX: 'data-capture/e/', REPORT_PREFIX: 'drift/e/', ENDPOINT_NAME: 'e' },
      ...{ HOURS: '24', MAX_CAPTURES: '1000', NAMESPACE: 'Drift', THRESHOLD: '0.2' },
    });
    s3 = new S3Client({ endpoint: moto.url, forcePathStyle: true });
    await s3.send(new CreateBucketCommand({ Bucket: 'data' }));
    const file = await import('node:fs/promises').then((fs) => fs.readFile(baseline, 'utf8'));
    await put('baseline.json', file);
  });
  afterAll(async () => {
    s3?.destroy();
    await moto?.stop();
    process.env = before;
  });
  const put = (Key: string, Body: string) =>
    s3.send(new PutObjectCommand({ Bucket: 'data', Key, Body }));

  /** A file of a variant, as SageMaker names them. */
  const putCaptures = (variant: string, hoursAgo: number, captures: readonly string[]) => {
    const hour = new Date(Date.now() - hoursAgo * 3_600_000).toISOString().slice(0, 13);
    const folder = `data-capture/${variant}/${hour.replace(/[-T]/g, '/')}`;
    return put(`${folder}/${hoursAgo}.jsonl`, `${captures.join('\n')}\n`);
  };

  /** Runs it and returns its line of metrics. */
  async function looked() {
    const written: string[] = [];
    const spy = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
      written.push(String(text));
      return true;
    });
    try {
      await handler();
    } finally {
      spy.mockRestore();
    }
    return JSON.parse(written.join(''));
  }

  test('tells CloudWatch what drifted, and keeps a report', async () => {
    expect(await looked()).toMatchObject({ Captures: 0, gone: ['input.value'] });
    await putCaptures('e/v', 1, [...lines(20), 'broken']);
    expect(await looked()).toMatchObject({ DriftedFeatures: 0, Captures: 200 });
    // Requests whose inputs have other names: the known one no longer comes.
    process.env.CAPTURES_PREFIX = 'data-capture/renamed/';
    await putCaptures('renamed/v', 1, [line(20).replaceAll('instances', 'unread')]);
    expect(await looked()).toMatchObject({ DriftedFeatures: 1, Captures: 1, drifted: [] });
    process.env.CAPTURES_PREFIX = 'data-capture/e/';
    await putCaptures('e/v', 0, lines(90));
    await putCaptures('other/v', 0, lines(500));
    const told = await looked();
    expect(told).toMatchObject({
      EndpointName: 'e',
      DriftedFeatures: 1,
      Captures: 400,
      drifted: ['input.value'],
      coverage: { captures: 401, of: 401, exact: true, hours: 2, ofHours: 2 },
    });
    const [{ Metrics }] = told._aws.CloudWatchMetrics;
    expect(Metrics.map(({ Name }: { Name: string }) => Name)).toEqual([
      'DriftedFeatures',
      'Captures',
      'LargestStabilityIndex',
    ]);
    const { Contents = [] } = await s3.send(
      new ListObjectsV2Command({ Bucket: 'data', Prefix: 'drift/e/' }),
    );
    expect(Contents).toHaveLength(4);
    const Key = Contents.at(-1)?.Key ?? '';
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'data', Key }));
    expect(JSON.parse((await Body?.transformToString()) ?? '')).toMatchObject({
      skipped: 1,
      features: [{ feature: 'input.value', drifted: true }],
      coverage: { captures: 401, of: 401 },
    });
  });

  test('sees the newest hour of the last variant among more captures than it reads', async () => {
    const own = { ...process.env };
    Object.assign(process.env, { CAPTURES_PREFIX: 'data-capture/busy/', MAX_CAPTURES: '400' });
    try {
      for (const hoursAgo of [4, 3, 2, 1]) await putCaptures('busy/first', hoursAgo, lines(20));
      await putCaptures('busy/second', 0, lines(90));
      expect(await looked()).toMatchObject({
        DriftedFeatures: 1,
        Captures: 400,
        coverage: { captures: 400, of: 1000, exact: true, hours: 5, ofHours: 5 },
      });
    } finally {
      process.env = own;
    }
  });
});
