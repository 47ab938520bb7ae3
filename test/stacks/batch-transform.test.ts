/** The state machine of a batch transform, executed: AWS's answers come from the test, S3 from a stand-in. */
import { gzipSync } from 'node:zlib';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { Annotations, Match } from 'aws-cdk-lib/assertions';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { Stack } from 'aws-cdk-lib/core';
import { handler, type ShardRequest } from '../../lib/batch/handler/index.ts';
import { BatchTransform, type BatchTransformInput } from '../../lib/index.ts';
import { unkeptStarts } from '../support/kept-starts.ts';
import { masked, testApp, testModel, testStack } from '../support/stacks.ts';
import { MAX_EVENTS, type Service, StateError } from './asl.ts';
import {
  batchTemplate,
  DESCRIBE,
  failed,
  functionOn,
  type Job,
  machineOf,
  refused,
  run,
  writeOutputs,
} from './batch-machine.ts';
import { type S3StandIn, startS3ForSdk } from './s3-stand-in.ts';

const QUOTA_IN_USE =
  "The account-level service limit 'ml.p3.2xlarge for transform job usage' is 4 Instances, with current utilization of 4 Instances and a request delta of 2 Instances.";
const NO_QUOTA =
  "The account-level service limit 'ml.p3.2xlarge for transform job usage' is 0 Instances, with current utilization of 0 Instances and a request delta of 2 Instances.";

/** Seconds until a look, as docs/batch.md tells them. */
function waitsSoFar(looks: number): number {
  let seconds = 0;
  for (let n = 0; n < looks; n++) seconds += n < 10 ? 30 : n < 100 ? 60 : n < 500 ? 300 : 600;
  return seconds;
}

describe('one job', () => {
  const machine = machineOf(batchTemplate());

  test('the defaults are those of the paper: two ml.p3.2xlarge, 64 at once, 1 MB', async () => {
    const { jobs, output } = await run(machine, {});
    expect(jobs).toEqual([
      {
        TransformJobName: expect.stringMatching(/^[a-z0-9](-*[a-z0-9]){0,62}$/),
        ModelName: expect.stringMatching(/ModelName$/),
        BatchStrategy: 'SingleRecord',
        MaxConcurrentTransforms: 64,
        MaxPayloadInMB: 1,
        Environment: {},
        ModelClientConfig: { InvocationsTimeoutInSeconds: 600, InvocationsMaxRetries: 3 },
        TransformInput: {
          ContentType: 'application/x-image',
          CompressionType: 'None',
          SplitType: 'None',
          DataSource: { S3DataSource: { S3DataType: 'S3Prefix', S3Uri: 's3://data/input/' } },
        },
        TransformOutput: {
          S3OutputPath: 's3://data/output/',
          Accept: 'application/json',
          AssembleWith: 'None',
        },
        TransformResources: {
          InstanceType: 'ml.p3.2xlarge',
          InstanceCount: 2,
          TransformAmiVersion: 'al2-ami-sagemaker-batch-gpu-535',
        },
        DataProcessing: { InputFilter: '$', OutputFilter: '$', JoinSource: 'None' },
        Tags: [],
      },
    ]);
    expect(output).toEqual({
      jobs: [jobs[0]?.TransformJobName],
      outputUri: 's3://data/output/',
    });
  });

  test('its tasks are of the partition of its stack: China and GovCloud refuse those of another', () => {
    const text = JSON.stringify(batchTemplate().toJSON());
    expect(text).not.toContain('arn:aws:states');
    expect(text).toContain(':states:::lambda:invoke');
  });

  test('everything can be overridden by the input', async () => {
    const { jobs } = await run(machine, {
      inputUri: 's3://data/input/today/',
      instanceCount: 10,
      contentType: 'text/csv',
      splitType: 'Line',
      batchStrategy: 'MultiRecord',
      environment: { SAGEMAKER_TFS_ENABLE_BATCHING: 'true' },
    });
    expect(jobs[0]).toMatchObject({
      BatchStrategy: 'MultiRecord',
      Environment: { SAGEMAKER_TFS_ENABLE_BATCHING: 'true' },
      TransformInput: {
        ContentType: 'text/csv',
        SplitType: 'Line',
        DataSource: { S3DataSource: { S3Uri: 's3://data/input/today/' } },
      },
      TransformResources: { InstanceCount: 10 },
    });
  });

  test.each<[input: BatchTransformInput, assembly: string | RegExp]>([
    [{ splitType: 'Line' }, 'Line'],
    [{ splitType: 'TFRecord', batchStrategy: 'MultiRecord', accept: 'application/json' }, 'Line'],
    // Whose answers end with a line break.
    [{ splitType: 'Line', accept: 'text/csv' }, 'None'],
    [{ splitType: 'Line', accept: 'application/x-tfrecord' }, 'None'],
    [{ splitType: 'None' }, 'None'],
    [{ splitType: 'Line', assembleWith: 'None' }, /assembleWith: 'None' writes the JSON/],
  ])('%j assembles with %s', async (input, assembly) => {
    const { jobs, output } = await run(machine, input);
    if (assembly instanceof RegExp) expect((output as StateError).cause).toMatch(assembly);
    else expect(jobs[0]).toMatchObject({ TransformOutput: { AssembleWith: assembly } });
  });

  test.each<[unknown, string]>([
    [{ instanceCount: 0 }, 'instanceCount: must be a whole number from 1 to 100, not 0'],
    [{ instanceCount: '2' }, 'instanceCount: must be a whole number from 1 to 100, not 2'],
    [{ splitType: 'Lines' }, 'splitType: must be None or Line or RecordIO or TFRecord, not Lines'],
    [{ inputUri: 'data/input' }, 'inputUri: must be text such as s3://BUCKET/PREFIX/, not data'],
    [{ environment: 'A=1' }, 'environment: must be an object of texts, not A=1'],
    [{ inventoryUri: 's3://data/inventory/' }, 'inventoryUri: must be text such as s3://BUCKET/'],
    [
      { inventoryUri: 's3://data/inventory/manifest.json' },
      'inventoryUri: a single job reads no inventory; set objectsPerShard',
    ],
    [
      {
        inventoryUri: 's3://data/inventory/manifest.json',
        objectsPerShard: 3,
        dataType: 'ManifestFile',
      },
      'inventoryUri: an inventory takes the place of a listing; set dataType to S3Prefix',
    ],
    [
      { maxPayloadInMB: 6 },
      'maxPayloadInMB: maxConcurrentTransforms times maxPayloadInMB may be 100',
    ],
    [{ maxPayloadInMB: '6' }, 'maxPayloadInMB: must be a whole number from 0 to 100, not 6'],
    [{ contentType: 6 }, 'contentType: must be text such as application/x-image, not 6'],
    [{ batchStrategy: 'MultiRecord' }, "batchStrategy: 'MultiRecord' joins records, and splitType"],
    [
      { splitType: 'Line', contentType: 'text/csv;Header=present' },
      "splitType: 'Line' leaves the header in the first request",
    ],
    [{ joinSource: 'Input' }, 'joinSource: SageMaker joins only JSON and CSV'],
    [{ keySuffix: '.jpg' }, 'keySuffix: a single job takes every object'],
    [{ instances: 2 }, 'instances: is not a setting; known are inputUri, '],
  ])('%j fails in the first state', async (input, message) => {
    const { jobs, output } = await run(machine, input);
    expect(output).toMatchObject({
      error: 'InvalidInput',
      cause: expect.stringContaining(message),
    });
    expect(jobs).toEqual([]);
  });

  test('every wrong setting is named at once', async () => {
    const { output } = await run(machine, { instanceCount: 0, splitType: 'x' });
    expect((output as StateError).cause).toMatch(/instanceCount: .*; splitType: /);
  });

  test('a failed job fails with the reason that SageMaker gave', async () => {
    const { jobs, output } = await run(machine, {}, () => {
      throw failed('Bad HTTP 500 for an instance type that could not read it');
    });
    expect(output).toMatchObject({
      error: 'TransformFailed',
      cause: 'Bad HTTP 500 for an instance type that could not read it',
    });
    expect(jobs).toHaveLength(1);
  });

  test('a quota that is used up for now is waited for', async () => {
    let left = 6;
    const { jobs, output, waits } = await run(machine, {}, () => {
      if (left-- > 0) throw refused(QUOTA_IN_USE, 'ResourceLimitExceededException');
    });
    // Twice round the three types, a pause after each round, then the first look.
    expect(jobs).toHaveLength(7);
    expect(waits).toHaveLength(3);
    expect(Math.min(waits[0] ?? 0, waits[1] ?? 0)).toBeGreaterThanOrEqual(300);
    expect(new Set(jobs.map(({ TransformJobName }) => TransformJobName)).size).toBe(7);
    expect(output).toMatchObject({ jobs: [jobs[6]?.TransformJobName] });
  });

  const typesOf = (jobs: readonly Job[]) =>
    jobs.map(({ TransformResources }) => TransformResources as Record<string, unknown>);

  test('a type that cannot be had is followed by the next, with a host image of its own', async () => {
    const answers = [
      refused(NO_QUOTA, 'ResourceLimitExceededException'),
      failed('CapacityError: Unable to provision requested ML compute capacity.'),
    ];
    const { jobs, output } = await run(machine, {}, () => {
      const answer = answers.shift();
      if (answer) throw answer;
    });
    const TransformAmiVersion = 'al2-ami-sagemaker-batch-gpu-535';
    expect(typesOf(jobs)).toEqual(
      ['ml.p3.2xlarge', 'ml.g5.2xlarge', 'ml.g4dn.xlarge'].map((InstanceType) => ({
        InstanceType,
        InstanceCount: 2,
        TransformAmiVersion,
      })),
    );
    expect(output).toMatchObject({ jobs: [jobs[2]?.TransformJobName] });
  });

  test('where no type can be had, the failure names each with its reason', async () => {
    const { jobs, output } = await run(machine, {}, () => {
      throw refused('ml.x is not a supported instance type in this region');
    });
    expect(jobs).toHaveLength(3);
    expect((output as StateError).cause).toMatch(
      /ml\.p3\.2xlarge: .*; ml\.g5\.2xlarge: .*; ml\.g4dn\.xlarge: /,
    );
  });

  test('quotas that stay full end the run after a day at the latest', async () => {
    const { jobs, waits, output } = await run(machine, { instanceType: 'ml.g5.xlarge' }, () => {
      throw refused(QUOTA_IN_USE, 'ResourceLimitExceededException');
    });
    expect(jobs).toHaveLength(21);
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeLessThan(86_400);
    expect(output).toMatchObject({ error: 'TransformFailed', cause: QUOTA_IN_USE });
  });

  test('an input with a type of its own has no others, unless it names them', async () => {
    const fail = () => {
      throw refused(NO_QUOTA, 'ResourceLimitExceededException');
    };
    const alone = await run(machine, { instanceType: 'ml.g5.xlarge' }, fail);
    expect(typesOf(alone.jobs)).toMatchObject([{ InstanceType: 'ml.g5.xlarge' }]);
    const fallbacks = [{ instanceType: 'ml.g6.xlarge', transformAmiVersion: '' }];
    const named = await run(machine, { instanceType: 'ml.g5.xlarge', fallbacks }, fail);
    expect(typesOf(named.jobs)).toMatchObject([
      { InstanceType: 'ml.g5.xlarge' },
      { InstanceType: 'ml.g6.xlarge' },
    ]);
    const wrong = await run(machine, { fallbacks: ['ml.g6.xlarge'] });
    expect((wrong.output as StateError).cause).toContain('fallbacks: must be an array of');
  });

  test.each([
    'Rate exceeded (Service: SageMaker, Status Code: 400, Request ID: 1)',
    'ThrottlingException: slow down',
    'Service Unavailable (Service: SageMaker, Status Code: 503)',
  ])('%s passes, and uses up neither types nor quota tries', async (message) => {
    let left = 60;
    const { jobs, output } = await run(machine, {}, () => {
      if (left-- > 0) throw refused(message);
    });
    expect(new Set(typesOf(jobs).map(({ InstanceType }) => InstanceType))).toEqual(
      new Set(['ml.p3.2xlarge']),
    );
    expect(output).toMatchObject({ jobs: [jobs[60]?.TransformJobName] });
  });

  test('a request that SageMaker does not understand fails at once', async () => {
    const { jobs, output } = await run(machine, {}, () => {
      throw refused('Could not find model "digits"');
    });
    expect(jobs).toHaveLength(1);
    expect(output).toMatchObject({ cause: expect.stringContaining('Could not find model') });
  });

  test('a job of five days stays within the history of one execution', async () => {
    let seconds = 0;
    let looks = 0;
    const { waits, output, longestHistory } = await run(machine, {}, undefined, (resource) => {
      if (resource !== DESCRIBE) return {};
      looks += 1;
      seconds = waitsSoFar(looks);
      return { TransformJobStatus: seconds < 5 * 86_400 ? 'InProgress' : 'Completed' };
    });
    expect(output).toMatchObject({ outputUri: 's3://data/output/' });
    expect(waits.reduce((sum, wait) => sum + wait, 0)).toBeGreaterThanOrEqual(5 * 86_400);
    // Twice, for the second try of a shard.
    expect(2 * longestHistory).toBeLessThan(MAX_EVENTS);
  });

  test('an answer that cannot be had is asked for again', async () => {
    let left = 10;
    const { output } = await run(machine, {}, undefined, (resource) => {
      if (resource === DESCRIBE && left-- > 0) throw refused('Rate exceeded');
      return {};
    });
    expect(output).toMatchObject({ outputUri: 's3://data/output/' });
  });

  test('a job that was stopped fails the run', async () => {
    const { output } = await run(machine, {}, undefined, (resource) =>
      resource === DESCRIBE ? { TransformJobStatus: 'Stopped' } : {},
    );
    expect(output).toMatchObject({ cause: expect.stringMatching(/^the job \S+ was stopped$/) });
  });

  test('a key for volumes goes only to types whose disks take one', async () => {
    const withKey = machineOf(batchTemplate((stack) => ({ volumeKey: new Key(stack, 'Key') })));
    const answers = [refused(NO_QUOTA, 'ResourceLimitExceededException')];
    const { jobs } = await run(withKey, {}, () => {
      const answer = answers.shift();
      if (answer) throw answer;
    });
    expect(typesOf(jobs).map((resources) => 'VolumeKmsKeyId' in resources)).toEqual([true, false]);
  });

  test('the topic receives both ends', async () => {
    const told: unknown[] = [];
    const publish: Service = (resource, args) => {
      if (resource.endsWith('sns:publish')) told.push(args);
      return {};
    };
    const withTopic = machineOf(batchTemplate((stack) => ({ topic: new Topic(stack, 'Topic') })));
    await run(withTopic, {}, undefined, publish);
    await run(
      withTopic,
      {},
      () => {
        throw failed('no capacity');
      },
      publish,
    );
    expect(told).toMatchObject([
      { Subject: 'Batch transform succeeded' },
      { Subject: 'Batch transform failed', Message: expect.stringContaining('no capacity') },
    ]);
  });
});

describe('in shards', () => {
  const machine = machineOf(
    batchTemplate(() => ({ sharding: { objectsPerShard: 3, maxConcurrentJobs: 2 } })),
  );
  let s3: S3StandIn;

  beforeEach(async () => {
    s3 = await startS3ForSdk(4);
  });
  afterEach(() => s3.close());

  const NAMES = ['a.jpg', 'a b.jpg', 'a+b.jpg', 'deep/ü.jpg', 'a-1.jpg', 'a', 'x&y.jpg', 'z.jpg'];

  function putInputs(names: readonly string[] = NAMES) {
    for (const name of names) s3.objects.set(`data/input/${name}`, Buffer.from(name));
  }

  const transformAll = (refused?: readonly string[]) => writeOutputs(s3, refused);
  const aws: Service = (resource, args) => functionOn(s3)(resource, args);

  test('every input is in one shard, and every input has an output', async () => {
    putInputs();
    const { jobs, output } = await run(machine, {}, transformAll(), aws);
    expect(output).toEqual({
      inputs: NAMES.length,
      done: NAMES.length,
      missing: 0,
      refused: 0,
      deleted: 0,
      outputUri: 's3://data/output/',
    });
    expect(jobs).toHaveLength(3);
    const sources = jobs.map(({ TransformInput }) => TransformInput.DataSource.S3DataSource);
    for (const { S3DataType } of sources) expect(S3DataType).toBe('ManifestFile');
  });

  test('an input that cannot be read is listed with its reason, and all others are done', async () => {
    putInputs();
    const { output } = await run(machine, { runId: 'r1' }, transformAll(['x&y.jpg']), aws);
    expect(output).toMatchObject({
      error: 'Incomplete',
      cause: expect.stringMatching(
        /^1 of 8 inputs have no output; they are listed in s3:.*redrive.manifest; reasons are in s3:/,
      ),
    });
    const read = (name: string): unknown =>
      JSON.parse(String(s3.objects.get(`data/output/_shards/r1/${name}`)));
    expect(read('redrive.manifest')).toEqual([{ prefix: 's3://data/input/' }, 'x&y.jpg']);
    expect(read('redrive-reasons.json')).toEqual([
      {
        shard: expect.any(String),
        missing: 1,
        reason: 'cannot decode x&y.jpg',
        lettersUri: 's3://data/output/_shards/r1/dead-letters/000002.ndjson',
      },
    ]);
  });

  test('a run that is started again does only what is missing', async () => {
    putInputs();
    await run(machine, { runId: 'r1' }, transformAll(['z.jpg']), aws);
    const again = await run(machine, { runId: 'r1' }, transformAll(), aws);
    expect(again.output).toMatchObject({ missing: 0, inputs: NAMES.length });
    expect(again.jobs).toHaveLength(1);
  });

  test('the re-drive manifest is an input of its own', async () => {
    putInputs();
    await run(machine, { runId: 'r1' }, transformAll(['z.jpg', 'a']), aws);
    const { jobs, output } = await run(
      machine,
      {
        runId: 'r2',
        dataType: 'ManifestFile',
        inputUri: 's3://data/output/_shards/r1/redrive.manifest',
      },
      transformAll(),
      aws,
    );
    expect(output).toMatchObject({ missing: 0, inputs: 2 });
    expect(jobs).toHaveLength(1);
  });

  /** The function at its time limit whenever it plans, and how often it did. */
  function outOfTime(): { hurried: Service; plans: () => number } {
    let plans = 0;
    const hurried: Service = async (resource, args) => {
      const { Payload } = args as { Payload?: ShardRequest };
      if (Payload?.action !== 'plan') return aws(resource, args);
      plans += 1;
      return { Payload: await handler(Payload, { getRemainingTimeInMillis: () => 0 }) };
    };
    return { hurried, plans: () => plans };
  }

  test('planning continues where the function ran out of time', async () => {
    putInputs(Array.from({ length: 40 }, (_, i) => `${String(i).padStart(3, '0')}.jpg`));
    const { hurried, plans } = outOfTime();
    const { output } = await run(machine, {}, transformAll(), hurried);
    expect(output).toMatchObject({ missing: 0, inputs: 40 });
    expect(plans()).toBeGreaterThan(2);
  });

  /** As S3 writes it: every field quoted, keys URL-encoded, `+` for a space. */
  function putInventory(
    rows: readonly (readonly string[])[],
    { fileSchema = 'Bucket, Key', fileFormat = 'CSV', sourceBucket = 'data', perFile = 3 } = {},
  ) {
    const files: { key: string }[] = [];
    for (let at = 0; at < rows.length; at += perFile) {
      const lines = rows
        .slice(at, at + perFile)
        .map((row) => row.map((field) => `"${field}"`).join(','));
      const key = `inventory/data/${files.length}.csv.gz`;
      s3.objects.set(`lists/${key}`, gzipSync(`${lines.join('\n')}\n`));
      files.push({ key });
    }
    const destinationBucket = 'arn:aws:s3:::lists';
    const manifest = { sourceBucket, destinationBucket, fileFormat, fileSchema, files };
    s3.objects.set('lists/inventory/manifest.json', Buffer.from(JSON.stringify(manifest)));
    return 's3://lists/inventory/manifest.json';
  }

  const encoded = (key: string) => encodeURIComponent(key).replaceAll('%20', '+');
  const sentTo = (jobs: readonly Job[]) =>
    jobs.flatMap(({ TransformInput }) => {
      const { S3Uri } = TransformInput.DataSource.S3DataSource;
      const manifest = String(s3.objects.get(S3Uri.replace('s3://', '')));
      return (JSON.parse(manifest) as unknown[]).slice(1) as string[];
    });

  test('far more missing inputs than a manifest takes are left to the same run again', async () => {
    const missing = Array.from({ length: 600_000 }, (_, i) => String(i));
    const manifest = Buffer.from(JSON.stringify([{ prefix: 's3://data/input/' }, ...missing]));
    const report = {
      ...{ inputs: missing.length, done: 0, missing: missing.length, refused: 0, deleted: 0 },
      ...{ prefix: 's3://data/input/', reason: 'no', last: true },
    };
    const run = 'data/output/_shards/r1/';
    for (const shard of ['000000', '000001']) {
      s3.objects.set(`${run}planned/${shard}.manifest`, manifest);
      s3.objects.set(`${run}reports/${shard}.json`, Buffer.from(JSON.stringify(report)));
    }
    const settings = { outputUri: 's3://data/output/', runId: 'r1' } as TransformSettings;
    const summary = await handler(
      { action: 'summary', settings, since: { origin: 0, run: 0 } },
      { getRemainingTimeInMillis: () => 900_000 },
    );
    expect(summary).toMatchObject({
      inputs: 1_200_000,
      missing: 1_200_000,
      advice: expect.stringContaining("start again with runId 'r1'"),
      outputUri: 's3://data/output/',
    });
    expect(s3.objects.has(`${run}redrive-reasons.json`)).toBe(true);
  });

  test('an inventory is read instead of a listing: each key once, in whatever order', async () => {
    const mixed = [...NAMES, 'a b.jpg', '100%.jpg', '東京/😀.jpg', 'z.jpg'].reverse();
    putInputs(mixed);
    const inventoryUri = putInventory([
      ...mixed.map((name) => ['data', encoded(`input/${name}`)]),
      ['data', 'input/'],
      ['data', 'input%2Ffolder%2F'],
      ['data', 'other/b.jpg'],
      ['data', 'input-2/b.jpg'],
    ]);
    const { jobs, output } = await run(machine, { inventoryUri }, transformAll(), aws);
    expect(output).toMatchObject({ inputs: NAMES.length + 2, missing: 0 });
    expect(sentTo(jobs).sort()).toEqual([...NAMES, '100%.jpg', '東京/😀.jpg'].sort());
  });

  test('of a bucket with versions, only current objects are taken', async () => {
    const inventoryUri = putInventory(
      [
        ['data', 'input/kept.jpg', 'v2', 'true', 'false', '10'],
        ['data', 'input/kept.jpg', 'v1', 'false', 'false', '11'],
        ['data', 'input/deleted.jpg', 'v2', 'true', 'true', ''],
        ['data', 'input/deleted.jpg', 'v1', 'false', 'false', '12'],
        ['data', 'input/empty.jpg', 'v1', 'true', 'false', '0'],
      ],
      { fileSchema: 'Bucket, Key, VersionId, IsLatest, IsDeleteMarker, Size' },
    );
    putInputs(['kept.jpg', 'empty.jpg']);
    const { jobs } = await run(machine, { inventoryUri }, transformAll(), aws);
    expect(sentTo(jobs).sort()).toEqual(['empty.jpg', 'kept.jpg']);
  });

  test('prefix and suffix choose from an inventory as from a listing', async () => {
    const names = ['2024/a.jpg', '2024/a.txt', '2024-b.jpg', '2023/c.jpg'];
    putInputs(names);
    const inventoryUri = putInventory(names.map((name) => ['data', encoded(`input/${name}`)]));
    const settings = { inputUri: 's3://data/input/2024', keySuffix: '.jpg' };
    const listed = await run(machine, settings, transformAll(), aws);
    expect(sentTo(listed.jobs).sort()).toEqual(['2024-b.jpg', '2024/a.jpg']);
    s3.objects.delete('data/output/2024/a.jpg.out');
    s3.objects.delete('data/output/2024-b.jpg.out');
    const counted = await run(
      machine,
      { ...settings, inventoryUri, runId: 'r2' },
      transformAll(),
      aws,
    );
    expect(sentTo(counted.jobs).sort()).toEqual(['2024-b.jpg', '2024/a.jpg']);
  });

  test('outputs below the input prefix are no inputs', async () => {
    putInputs(['a.jpg']);
    const settings = { inputUri: 's3://data/', outputUri: 's3://data/output/' };
    for (const runId of ['r1', 'r2']) {
      const { output } = await run(machine, { ...settings, runId }, transformAll(), aws);
      expect(output).toMatchObject({ inputs: 1, missing: 0 });
    }
  });

  test('an inventory is sorted on where the function ran out of time', async () => {
    const names = Array.from(
      { length: 40 },
      (_, i) => `${String((i * 7) % 40).padStart(3, '0')}.jpg`,
    );
    putInputs(names);
    const inventoryUri = putInventory(names.map((name) => ['data', `input/${name}`]));
    const { hurried, plans } = outOfTime();
    const { jobs, output } = await run(machine, { inventoryUri }, transformAll(), hurried);
    expect(output).toMatchObject({ missing: 0, inputs: 40 });
    expect(sentTo(jobs).sort()).toEqual([...names].sort());
    expect(plans()).toBeGreaterThan(14);
  });

  test.each<[string, () => string, RegExp]>([
    [
      'in Parquet',
      () => putInventory([], { fileFormat: 'Parquet' }),
      /is in Parquet, and only CSV is read/,
    ],
    ['in ORC', () => putInventory([], { fileFormat: 'ORC' }), /is in ORC, and only CSV is read/],
    [
      'of another bucket',
      () => putInventory([], { sourceBucket: 'photos' }),
      /lists bucket photos, but the inputs are in data/,
    ],
    [
      'with a row that is cut off',
      () => putInventory([['data', 'input/a.jpg'], ['data']]),
      /cannot read the inventory's s3:.*0[.]csv[.]gz after row 2: 1 fields instead of 2/,
    ],
    [
      'with a key that is not encoded',
      () => putInventory([['data', 'input/100%.jpg']]),
      /after row 1: URI malformed/,
    ],
    [
      'that is not there',
      () => 's3://lists/manifest.json',
      /cannot read the inventory.*The specified key does not exist/,
    ],
    [
      'that is no inventory',
      () => {
        s3.objects.set('lists/x.json', Buffer.from('[]'));
        return 's3://lists/x.json';
      },
      /is not the manifest.json of an S3 inventory/,
    ],
  ])('an inventory %s fails with a message, and no job is started', async (_, put, message) => {
    const { jobs, output } = await run(machine, { inventoryUri: put() }, transformAll(), asLambda);
    expect(output).toMatchObject({ error: 'ShardsFailed', cause: expect.stringMatching(message) });
    expect(jobs).toEqual([]);
  });

  /** What the function throws reaches the machine as Lambda tells it. */
  const asLambda: Service = async (resource, args) => {
    try {
      return await aws(resource, args);
    } catch (error) {
      const { name, message } = error as Error;
      throw new StateError(
        name,
        JSON.stringify({ errorType: name, errorMessage: message, trace: [] }),
      );
    }
  };

  test('nothing found is a failure that names what lies there; unless it is allowed', async () => {
    putInputs(['a.JPG', 'b.JPG']);
    const settings = { keySuffix: '.jpg', runId: 'r1' };
    const { jobs, output } = await run(machine, settings, transformAll(), aws);
    expect(output).toMatchObject({
      error: 'NothingFound',
      cause:
        'no input below s3://data/input/ ends in .jpg; there is input/a.JPG, input/b.JPG. Check inputUri and keySuffix, or set allowEmpty',
    });
    expect(jobs).toEqual([]);
    const allowed = await run(machine, { ...settings, allowEmpty: true }, transformAll(), aws);
    expect(allowed.output).toMatchObject({ inputs: 0, missing: 0 });
    putInputs(['c.jpg']);
    const found = await run(machine, settings, transformAll(), aws);
    expect(found.output).toMatchObject({ inputs: 1, done: 1 });
  });
});

test('schedule, deployment and upload start executions, and an alarm tells of those that did not start', () => {
  const template = batchTemplate((stack) => ({
    schedule: Schedule.expression('rate(1 day)'),
    runOnDeploy: true,
    startOnManifest: '.manifest',
    topic: new Topic(stack, 'Topic'),
  }));
  expect(unkeptStarts(template, true)).toEqual([]);
  // With those that stop jobs and tell of ends.
  template.resourceCountIs('AWS::Events::Rule', 5);
  template.hasResourceProperties('AWS::Events::Rule', {
    EventPattern: {
      source: ['aws.s3'],
      detail: { bucket: { name: ['data'] }, object: { key: [{ wildcard: 'input/*.manifest' }] } },
    },
    // A manifest that comes during another run waits for its end.
    Targets: [
      {
        InputTransformer: {
          InputTemplate: Match.stringLikeRegexp('"waitMinutes":10080,"dataType":"ManifestFile"'),
        },
      },
    ],
  });
});

test.each<[string, boolean]>([
  ['sends no events', false],
  ['sends events', true],
])('a bucket that %s to EventBridge is recognized', (_, eventBridgeEnabled) => {
  const stack = testStack();
  const bucket = new Bucket(stack, 'Own', { eventBridgeEnabled });
  new BatchTransform(stack, 'Batch', {
    model: testModel(stack),
    input: { bucket, prefix: 'input/' },
    output: { bucket, prefix: 'output/' },
    startOnManifest: '.manifest',
  });
  const warnings = Annotations.fromStack(stack).findWarning(
    '*',
    Match.stringLikeRegexp('sends its events to EventBridge'),
  );
  expect(warnings).toHaveLength(eventBridgeEnabled ? 0 : 1);
});

test('the log group has a name that leaves the resource policy of CloudWatch Logs alone', () => {
  const [machine] = Object.values(
    batchTemplate().findResources('AWS::StepFunctions::StateMachine'),
  );
  const [destination] = machine?.Properties.LoggingConfiguration.Destinations ?? [];
  const id = destination.CloudWatchLogsLogGroup.LogGroupArn['Fn::GetAtt'][0];
  const group = batchTemplate().findResources('AWS::Logs::LogGroup')[id];
  expect(group?.Properties.LogGroupName).toMatch(
    /^\/aws\/vendedlogs\/states\/[A-Za-z0-9-]{1,200}$/,
  );
});

test('the model may be in another stack', () => {
  const app = testApp();
  const models = new Stack(app, 'Models');
  const jobs = new Stack(app, 'Jobs');
  const bucket = new Bucket(jobs, 'Bucket');
  new BatchTransform(jobs, 'Batch', {
    model: testModel(models),
    input: { bucket, prefix: 'input/' },
    output: { bucket, prefix: 'output/' },
    outputKey: new Key(jobs, 'Key'),
  });
  expect(() => app.synth()).not.toThrow();
  expect(jobs.dependencies).toEqual([models]);
  expect(models.dependencies).toEqual([]);
});

test('a deployment keeps the model that runs still name, and their leave to read its archive', () => {
  const template = batchTemplate();
  const [model] = Object.values(template.findResources('AWS::SageMaker::Model'));
  const url = JSON.stringify(model?.Properties.PrimaryContainer.ModelDataUrl);
  // This model's archives, and no others of the CDK's bucket.
  const [, name] = /\/(Test-Model-Package-[0-9a-f]{8}-)[0-9a-f]{64}\.tar\.gz"/.exec(url) ?? [];
  expect(name).toBeDefined();
  template.hasResource('AWS::SageMaker::Model', {
    UpdateReplacePolicy: 'Retain',
    Properties: { Tags: [{ Key: 'sagemaker-tfs:stack', Value: { Ref: 'AWS::StackName' } }] },
  });
  const policies = template.findResources('AWS::IAM::Policy');
  const ids = Object.keys(policies).filter((id) =>
    JSON.stringify(policies[id]).includes(`/${name}*.tar.gz`),
  );
  expect(ids).toEqual([expect.stringMatching(/ReadEarlierModels[0-9A-F]{8}$/)]);
  // Kept, it would keep the role from being deleted.
  expect(policies[ids[0] ?? '']).not.toHaveProperty('UpdateReplacePolicy');
  expect(policies[ids[0] ?? '']).not.toHaveProperty('DeletionPolicy');
});

test('the model may log, and send metrics, as a worker in a Processing job too', () => {
  const statements = Object.values(batchTemplate().findResources('AWS::IAM::Policy'))
    .filter(({ Properties }) => JSON.stringify(Properties.Roles).includes('"ModelRole'))
    .flatMap(({ Properties }) => Properties.PolicyDocument.Statement as object[]);
  const namespace = '/aws/sagemaker/ProcessingJobs';
  expect(statements).toContainEqual(
    expect.objectContaining({
      Action: 'cloudwatch:PutMetricData',
      Condition: { StringEquals: { 'cloudwatch:namespace': namespace } },
    }),
  );
  const logs = statements.filter((one) => JSON.stringify(one).includes(`log-group:${namespace}:`));
  expect(logs).toEqual([
    expect.objectContaining({
      Action: [
        ...['logs:CreateLogGroup', 'logs:CreateLogStream'],
        ...['logs:DescribeLogStreams', 'logs:PutLogEvents'],
      ],
    }),
  ]);
});

test('an event whose jobs could not be stopped is kept, and the topic knows', () => {
  const template = batchTemplate((stack) => ({ topic: new Topic(stack, 'Topic') }));
  const [queue] = Object.keys(template.findResources('AWS::SQS::Queue'));
  const arn = { 'Fn::GetAtt': [queue, 'Arn'] };
  // Of Lambda, whose tries have failed, and of EventBridge, which could not reach it.
  template.hasResourceProperties('AWS::Lambda::Function', { DeadLetterConfig: { TargetArn: arn } });
  template.hasResourceProperties('AWS::Events::Rule', {
    Targets: [Match.objectLike({ DeadLetterConfig: { Arn: arn } })],
  });
  template.hasResourceProperties('AWS::CloudWatch::Alarm', {
    Namespace: 'AWS/SQS',
    Dimensions: [{ Name: 'QueueName', Value: { 'Fn::GetAtt': [queue, 'QueueName'] } }],
    AlarmActions: [{ Ref: Match.stringLikeRegexp('^Topic') }],
  });
});

test('template', () => {
  expect(masked(batchTemplate().toJSON())).toMatchSnapshot();
});
