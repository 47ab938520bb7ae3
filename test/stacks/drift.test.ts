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
  type RealtimeEndpointProps,
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

describe('captures are under a key', () => {
  interface Given extends Pick<RealtimeEndpointProps, 'encryptionKey' | 'formerEncryptionKeys'> {
    readonly captureKey?: Key;
  }

  /** Keys that the monitor may decrypt with. */
  const keysOf = (stack: Stack) => {
    const [policy] = Object.values(
      Template.fromStack(stack).findResources('AWS::IAM::Policy', {
        Properties: { PolicyName: Match.stringLikeRegexp('^Drift') },
      }),
    );
    const statements: { Action: string | string[]; Resource: unknown }[] =
      policy?.Properties.PolicyDocument.Statement ?? [];
    return statements
      .filter(({ Action }) => [Action].flat().includes('kms:Decrypt'))
      .flatMap(({ Resource }) => Resource);
  };

  test.each<[string, (key: Key, former: Key) => Given]>([
    ['of the endpoint', (encryptionKey) => ({ encryptionKey })],
    [
      'of data capture alone, and one before that',
      (captureKey, former) => ({ captureKey, formerEncryptionKeys: [former] }),
    ],
  ])('%s, that the bucket knows nothing of', (_, keys) => {
    const stack = testStack();
    const [key, former] = [new Key(stack, 'Key'), new Key(stack, 'Other')];
    const bucket: IBucket = Bucket.fromBucketName(stack, 'Data', 'data');
    const { captureKey, ...props } = keys(key, former);
    const endpoint = new RealtimeEndpoint(stack, 'Endpoint', {
      variants: [{ model: testModel(stack) }],
      dataCapture: { bucket, ...(captureKey && { encryptionKey: captureKey }) },
      ...props,
    });
    new DriftMonitor(stack, 'Drift', { endpoint, bucket, baseline });
    const all = props.formerEncryptionKeys ? [key, former] : [key];
    expect(keysOf(stack)).toEqual(
      expect.arrayContaining(all.map(({ keyArn }) => stack.resolve(keyArn))),
    );
  });

  test('of an endpoint that exists already', () => {
    const stack = testStack();
    const captureKey = new Key(stack, 'Key');
    const bucket: IBucket = Bucket.fromBucketName(stack, 'Data', 'data');
    const endpoint = RealtimeEndpoint.fromEndpointName(stack, 'Endpoint', 'digits');
    new DriftMonitor(stack, 'Drift', { endpoint, bucket, baseline, captureKey });
    expect(keysOf(stack)).toContainEqual(stack.resolve(captureKey.keyArn));
  });

  test('another one than before', () => {
    const [now, before] = ['1', '2'].map(
      (digit) =>
        `arn:aws:kms:us-east-1:111111111111:key/${digit.repeat(8)}-89ab-cdef-0123-456789abcdef`,
    ) as [string, string];
    const keys = { encryptionKeyArn: now, formerEncryptionKeyArns: [before] };
    const app = testApp();
    const endpoint = { dataCapturePercent: 10, drift: { baseline } };
    addServingStacks(app, parseConfig({ ...config(endpoint), ...keys }, 'test'));
    expect(keysOf(app.node.findChild('tensorflow-m') as Stack)).toEqual(
      expect.arrayContaining([now, before]),
    );
  });
});

test.each<[object, string]>([
  [{}, 'AllTraffic'],
  [{ variants: ['next'] }, 'next'],
  [{ variants: ['AllTraffic', 'next'] }, 'AllTraffic,next'],
])('of an endpoint with a shadow, %j looks at %s', (own, VARIANTS) => {
  const app = testApp();
  const endpoint = {
    shadow: { name: 'next', archive: 's3://models/n.tar.gz' },
    ...{ dataCapturePercent: 10, drift: { baseline, ...own } },
  };
  addServingStacks(app, parseConfig(config(endpoint), 'test'));
  Template.fromStack(app.node.findChild('tensorflow-m') as Stack).hasResourceProperties(
    'AWS::Lambda::Function',
    { Environment: { Variables: Match.objectLike({ VARIANTS }) } },
  );
});

test.each([
  [{ drift: { baseline: 'x' } }, /endpoint\.drift: nothing is captured/],
  [{ dataCapturePercent: 5, drift: { baseline: 'x', threshold: 0 } }, /drift\.threshold/],
])('%j is refused', (endpoint, message) => {
  expect(() => parseConfig(config(endpoint), 'test')).toThrow(message);
});

test.each([
  [
    { baseline: 'nowhere.json' },
    /models\.m\.endpoint\.drift\.baseline: .*nowhere\.json does not exist/,
  ],
  [
    { baseline: 'package.json' },
    /models\.m\.endpoint\.drift\.baseline: .*package\.json is no baseline/,
  ],
  [{ schedule: 'rate(1 days)' }, /models\.m\.endpoint\.drift\.schedule: .*has the wrong unit/],
  [
    { variants: ['new'] },
    /models\.m\.endpoint\.drift\.variants.*: .*no variant new. Name some of AllTraffic/,
  ],
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
      ...{ HOURS: '24', MAX_CAPTURES: '1000', NAMESPACE: 'Drift', THRESHOLD: '0.2', VARIANTS: '' },
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
    // And ones that cannot be read, or name more than there is room for.
    process.env.CAPTURES_PREFIX = 'data-capture/odd/';
    const odd = (i: number) =>
      Object.fromEntries(Array.from({ length: 1000 }, (_, j) => [`f${i}_${j}`, j]));
    const all = Array.from({ length: 20 }, (_, i) =>
      line(20).replace('[20]', JSON.stringify([odd(i)]).replaceAll('"', '\\"')),
    );
    await putCaptures('odd/v', 1, [...all, line(20).replace('[20]', '[')]);
    expect(await looked()).toMatchObject({ DriftedFeatures: 1, Captures: 21, drifted: [] });
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
    expect(Contents).toHaveLength(5);
    const Key = Contents.at(-1)?.Key ?? '';
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: 'data', Key }));
    expect(JSON.parse((await Body?.transformToString()) ?? '')).toMatchObject({
      skipped: 1,
      features: [{ feature: 'input.value', drifted: true }],
      coverage: { captures: 401, of: 401 },
    });
  });

  describe('of other files', () => {
    const own = { ...process.env };
    beforeAll(() => Object.assign(own, process.env));
    afterEach(() => {
      process.env = { ...own };
      jest.restoreAllMocks();
    });

    test('leaves those of a shadow alone', async () => {
      Object.assign(process.env, { CAPTURES_PREFIX: 'data-capture/two/', VARIANTS: 'now,b' });
      await putCaptures('two/now', 1, lines(20));
      await putCaptures('two/next', 1, lines(90));
      expect(await looked()).toMatchObject({ Captures: 200, DriftedFeatures: 0 });
      process.env.VARIANTS = '';
      expect(await looked()).toMatchObject({ Captures: 400, DriftedFeatures: 1 });
    });

    test('compares what it has read before its time is up', async () => {
      process.env.CAPTURES_PREFIX = 'data-capture/slow/';
      await putCaptures('slow/v', 1, lines(20));
      // Each look at the clock is a minute later.
      const { now } = Date;
      let minutes = 0;
      jest.spyOn(Date, 'now').mockImplementation(() => now() + minutes++ * 60_000);
      const { Captures, coverage } = await looked();
      expect(Captures).toBeLessThanOrEqual(13);
      expect(coverage).toMatchObject({ captures: Captures, of: 200, hours: 1, ofHours: 1 });
    });

    test('passes over what it may not read, and fails if that is everything', async () => {
      process.env.CAPTURES_PREFIX = 'data-capture/keys/';
      await putCaptures('keys/v', 2, lines(90));
      await putCaptures('keys/v', 1, lines(20));
      refuseReading(/\/2\.jsonl$/);
      expect(await looked()).toMatchObject({ Captures: 200, DriftedFeatures: 0 });
      refuseReading(/\.jsonl$/);
      await expect(looked()).rejects.toThrow(/key/);
    });
  });

  /** S3 refuses what is under a key that the function may not use. */
  function refuseReading(keys: RegExp) {
    jest.restoreAllMocks();
    const { send } = S3Client.prototype;
    jest.spyOn(S3Client.prototype, 'send').mockImplementation(function (
      this: S3Client,
      command: unknown,
    ) {
      if (command instanceof GetObjectCommand && keys.test(command.input.Key ?? '')) {
        const $metadata = { httpStatusCode: 403 };
        throw Object.assign(new Error('not authorized to use the key'), { $metadata });
      }
      return Reflect.apply(send, this, [command]);
    } as never);
  }

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
