import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CloudWatchLogsClient,
  CreateLogGroupCommand,
  CreateLogStreamCommand,
  PutLogEventsCommand,
} from '@aws-sdk/client-cloudwatch-logs';
import {
  CreateBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  CreateModelCommand,
  type CreateTransformJobRequest,
  SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { SFNClient } from '@aws-sdk/client-sfn';
import { ASSUMED_FACTS, FACTS_KEY } from '@sagemaker-tfs/batch';
import { keyRanges, listObjects } from '@sagemaker-tfs/batch/s3';
import { asyncBufferFromFile, parquetReadObjects } from 'hyparquet';
import { type Moto, startMoto, TEST_CREDENTIALS } from '../../../../test/rehearse/moto.ts';
import { sagemakerTfs } from '../test-support.ts';
import { startSageMaker, startService } from './sagemaker-stand-in.ts';
import type { TransformPlaces } from './transform-places.ts';
import { verifyOutputs } from './verify.ts';
import { watchJob } from './watch.ts';

const BUCKET = 'tiles';
/** Small pages, so that a few hundred keys take many. */
const PAGE = '7';

const work = mkdtempSync(join(tmpdir(), 'batch-aws-'));
let moto: Moto;
let s3: S3Client;
let environment: Record<string, string>;

beforeAll(async () => {
  Object.assign(process.env, TEST_CREDENTIALS, { MOTO_S3_DEFAULT_MAX_KEYS: PAGE });
  moto = await startMoto();
  environment = { ...TEST_CREDENTIALS, AWS_ENDPOINT_URL: moto.url };
  s3 = new S3Client({ endpoint: moto.url, forcePathStyle: true });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
});

afterAll(async () => {
  s3?.destroy();
  await moto?.stop();
});

/** Puts objects, many at once. */
async function put(objects: Readonly<Record<string, string>>): Promise<void> {
  const waiting = Object.entries(objects);
  const some = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      await s3.send(
        new PutObjectCommand({ Bucket: BUCKET, Key: next[0], Body: Buffer.from(next[1]) }),
      );
    }
  };
  await Promise.all(Array.from({ length: 16 }, some));
}

const named = (keys: readonly string[], body = 'x') =>
  Object.fromEntries(keys.map((key) => [key, body]));

/** Names as tiles have them, with those that are awkward: spaces, signs, starts of one another. */
const KEYS = [
  ...Array.from({ length: 60 }, (_, i) => `tile-${String(i * 7).padStart(4, '0')}.jpg`),
  ...['tile-0', 'tile-0.jpg', 'tile-0-1.jpg', 'tile-00', 'a b.jpg', 'a+b.jpg', 'ü/東京.jpg'],
  ...['100%.jpg', 'x&y<z>.jpg', '😀.jpg', '\uffee.jpg', 'a//b.jpg'],
];

/** Writes what SageMaker would have logged of a job. */
async function log(job: string, messages: readonly string[]): Promise<void> {
  const logs = new CloudWatchLogsClient({ endpoint: moto.url });
  const logGroupName = '/aws/sagemaker/TransformJobs';
  const stream = { logGroupName, logStreamName: `${job}/i-1-1767225600/data-log` };
  await logs.send(new CreateLogGroupCommand({ logGroupName }));
  await logs.send(new CreateLogStreamCommand(stream));
  const timestamp = Date.now();
  const logEvents = messages.map((message) => ({ message, timestamp }));
  await logs.send(new PutLogEventsCommand({ ...stream, logEvents }));
  logs.destroy();
}

const run = (...args: string[]) => sagemakerTfs(['batch', ...args], environment);

test('ranges hold every key below a prefix once', async () => {
  await put(named(KEYS.map((key) => `ranges/${key}`)));
  const ranges = await keyRanges(s3, { bucket: BUCKET, key: 'ranges/' }, 8);
  expect(ranges.length).toBeGreaterThanOrEqual(8);
  const found: string[] = [];
  for (const { prefix, first } of ranges) {
    if (first !== undefined) found.push(first.key);
    for await (const { key } of listObjects(s3, { bucket: BUCKET, key: prefix })) found.push(key);
  }
  expect(found.sort()).toEqual(KEYS.map((key) => `ranges/${key}`).sort());
});

test('verify lists exactly what has no output, and tells of empty outputs', async () => {
  const missing = new Set([KEYS[3], 'tile-0', 'a+b.jpg', '😀.jpg']);
  const done = KEYS.filter((key) => !missing.has(key));
  await put(named(KEYS.map((key) => `in/${key}`)));
  await put({
    ...named(
      done.map((key) => `out/${key}.out`),
      '{"predictions":[1]}',
    ),
    'in/folder/': '',
    'out/nobody.jpg.out': '{}',
    ...named(['0', 'tile-9999.jpg', 'zzz', '\u{1f680}.jpg', 'ü/x'].map((key) => `out/${key}.out`)),
    [`out/${KEYS[0]}.out`]: '',
    'out/_shards/run/planned/000000.manifest': '[]',
  });
  const redriveManifest = join(work, 'redrive.manifest');
  const places = {
    inputUri: `s3://${BUCKET}/in/`,
    outputUri: `s3://${BUCKET}/out`,
    dataType: 'S3Prefix',
  } as const;
  const report = await verifyOutputs(s3, places, { redriveManifest, samples: 3 });
  expect(report).toMatchObject({
    inputs: KEYS.length,
    done: done.length,
    missing: missing.size,
    empty: 1,
    orphans: 6,
    firstOrphans: ['0', 'nobody.jpg', 'tile-9999.jpg', 'zzz', 'ü/x', '\u{1f680}.jpg'],
  });
  expect(report.samples).toHaveLength(3);
  const [head, ...keys] = JSON.parse(await readFile(redriveManifest, 'utf8'));
  expect(head).toEqual({ prefix: `s3://${BUCKET}/in/` });
  expect(new Set(keys)).toEqual(missing);

  const fromManifest = await verifyOutputs(
    s3,
    {
      ...places,
      inputUri: await upload('list.manifest', [head, ...keys, KEYS[1]]),
      dataType: 'ManifestFile',
    },
    { redriveManifest, samples: 0 },
  );
  expect(fromManifest).toMatchObject({ inputs: missing.size + 1, done: 1, missing: missing.size });
  expect(fromManifest.orphans).toBeUndefined();
});

test('verify finds outputs where batch probe has seen them', async () => {
  const keys = KEYS.slice(55);
  await put(named(keys.map((key) => `whole/in/${key}`)));
  await put(named(keys.slice(1).map((key) => `whole/out/whole/in/${key}.out`)));
  const redriveManifest = join(work, 'whole.manifest');
  const outputUri = `s3://${BUCKET}/whole/out/`;
  const places = { inputUri: `s3://${BUCKET}/whole/in/`, outputUri, dataType: 'S3Prefix' } as const;
  const verify = (of: TransformPlaces) => verifyOutputs(s3, of, { redriveManifest, samples: 2 });
  expect(await verify(places)).toMatchObject({ done: 0, missing: keys.length });
  await upload(`whole/out/${FACTS_KEY}`, { ...ASSUMED_FACTS, layout: 'wholeKey' });
  const found = { done: keys.length - 1, missing: 1, firstMissing: [keys[0]] };
  const report = await verify(places);
  expect(report).toMatchObject({ ...found, orphans: 0 });
  expect(report.samples).toHaveLength(2);
  const list = [{ prefix: places.inputUri }, ...keys];
  const inputUri = await upload('whole/list.manifest', list);
  expect(await verify({ ...places, inputUri, dataType: 'ManifestFile' })).toMatchObject(found);
});

async function upload(key: string, value: unknown): Promise<string> {
  await put({ [key]: JSON.stringify(value) });
  return `s3://${BUCKET}/${key}`;
}

test('start, watch, verify and fetch a job; the second start does only what is missing', async () => {
  const sagemaker = new SageMakerClient({ endpoint: moto.url });
  await sagemaker.send(
    new CreateModelCommand({
      ModelName: 'digits',
      ExecutionRoleArn: 'arn:aws:iam::123456789012:role/r',
    }),
  );
  sagemaker.destroy();
  await put({ 'job/in/a.jpg': 'a', 'job/in/b c.jpg': 'b', 'job/in/d.jpg': 'd' });
  const places = [
    '--input-uri',
    `s3://${BUCKET}/job/in/`,
    '--output-uri',
    `s3://${BUCKET}/job/out/`,
  ];
  const start = (...more: string[]) =>
    run('start', '--model-name', 'digits', ...places, ...more, '--json');
  const first = await start('--job-name', 'first');
  expect(JSON.parse(first.stdout)).toEqual({
    started: true,
    jobName: 'first',
    instanceType: 'ml.p3.2xlarge',
  });

  await put({
    'job/out/a.jpg.out': '{"predictions": [{"digit": 7, "p": [0.5, 0.25]}]}',
    'job/out/b c.jpg.out': '{\n "predictions": [{"digit": 1, "p": [9007199254740993]}]\n}',
  });
  const watched = await run('watch', 'first', '--json');
  expect(JSON.parse(watched.stdout)).toMatchObject({ status: 'Completed', total: 3, done: 2 });

  await log('first', [
    'data/x: nothing',
    `[sagemaker logs]: ${BUCKET}/job/in/d.jpg: ClientError: 400`,
    `[sagemaker logs]: ${BUCKET}/job/in/d.jpg: Message:`,
    `[sagemaker logs]: ${BUCKET}/job/in/d.jpg: {"error":"no picture.","code":"IMAGE_UNREADABLE"}`,
  ]);
  const redrive = join(work, 'first.manifest');
  const verified = await run('verify', 'first', '--redrive', redrive, '--json');
  expect(verified.exitCode).toBe(1);
  expect(JSON.parse(verified.stdout)).toMatchObject({
    code: 'BATCH_INCOMPLETE',
    missing: 1,
    firstMissing: ['d.jpg'],
    deadLetters: { letters: 1, codes: { IMAGE_UNREADABLE: 1 } },
    samples: [{ bytes: expect.any(Number) }, { bytes: expect.any(Number) }],
  });
  expect(JSON.parse(await readFile(join(work, 'first.dead-letters.ndjson'), 'utf8'))).toEqual({
    ...{ key: 'd.jpg', code: 'IMAGE_UNREADABLE', status: 400, message: 'no picture.' },
  });

  const second = JSON.parse((await start('--missing-only', '--job-name', 'second')).stdout);
  expect(second).toMatchObject({ started: true, missing: 1 });
  expect(second.manifestUri).toBe(`s3://${BUCKET}/job/out/_redrive/second.manifest`);
  await put({ 'job/out/d.jpg.out': '{"predictions": [{"digit": 3, "p": []}]}' });
  expect(JSON.parse((await run('watch', 'second', '--json')).stdout)).toMatchObject({ total: 1 });
  expect((await run('verify', 'first')).exitCode).toBe(0);
  expect(JSON.parse((await start('--missing-only')).stdout)).toEqual({
    started: false,
    missing: 0,
  });

  const file = join(work, 'all.ndjson');
  await run('fetch', 'first', '--out', file);
  const lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  expect(lines[0]).toBe(
    '{"key":"a.jpg","output":{"predictions": [{"digit": 7, "p": [0.5, 0.25]}]}}',
  );
  expect(lines[1]).toContain('9007199254740993');
  const csv = join(work, 'all.csv');
  await run('fetch', `s3://${BUCKET}/job/out`, '--out', csv);
  expect(await readFile(csv, 'utf8')).toBe(
    'key,record,digit,p,other\na.jpg,0,7,"[0.5,0.25]",\nb c.jpg,0,1,[9007199254740993],\nd.jpg,0,3,[],\n',
  );
  const parquet = join(work, 'all.parquet');
  await run('fetch', 'first', '--out', parquet);
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(parquet) });
  expect(rows.map(({ key, digit, p }) => [key, digit, p])).toEqual([
    ['a.jpg', 7, '[0.5,0.25]'],
    ['b c.jpg', 1, '[9007199254740993]'],
    ['d.jpg', 3, '[]'],
  ]);
});

describe('outputs count by what made them', () => {
  const places = [
    ...['--input-uri', `s3://${BUCKET}/models/in/`],
    ...['--output-uri', `s3://${BUCKET}/models/out/`],
  ];
  const start = async (model: string, ...more: string[]) => {
    const { stdout } = await run('start', '--model-name', model, ...places, ...more, '--json');
    return JSON.parse(stdout) as { started?: boolean; missing?: number; code?: string };
  };
  const verify = (job: string) =>
    run('verify', job, '--redrive', join(work, `${job}.manifest`), '--json');
  const answers = () => put({ 'models/out/a.jpg.out': '{}', 'models/out/b.jpg.out': '{}' });
  const times = async (key: string) => {
    const found = [];
    for await (const object of listObjects(s3, { bucket: BUCKET, key }))
      found.push(object.modified);
    return found;
  };

  /** S3 tells times to the second, and what is of the same second counts as new. */
  const nextSecond = () => sleep(1_050 - (Date.now() % 1_000));

  test('verify counts those of inputs that were replaced since', async () => {
    await put({
      'replaced/in/a.jpg': 'a',
      'replaced/in/b.jpg': 'b',
      'replaced/out/a.jpg.out': '{}',
    });
    await put({ 'replaced/out/b.jpg.out': '{}' });
    await nextSecond();
    await put({ 'replaced/in/b.jpg': 'another' });
    const uris = ['--input-uri', `s3://${BUCKET}/replaced/in/`, '--output-uri'];
    const { exitCode, stdout } = await run(
      'verify',
      ...uris,
      `s3://${BUCKET}/replaced/out/`,
      '--json',
    );
    expect([exitCode, JSON.parse(stdout)]).toMatchObject([0, { done: 2, missing: 0, older: 1 }]);
  });

  test('of another model they are made again, once', async () => {
    await put({ 'models/in/a.jpg': 'a', 'models/in/b.jpg': 'b' });
    expect(await start('one', '--job-name', 'one-1')).toMatchObject({ started: true });
    await answers();
    expect(await start('one', '--missing-only')).toEqual({ started: false, missing: 0 });

    await nextSecond();
    const two = await start('two', '--missing-only', '--job-name', 'two-1');
    expect(two).toMatchObject({ started: true, missing: 2, stale: 2 });
    expect(JSON.parse((await verify('two-1')).stdout)).toMatchObject({
      code: 'BATCH_INCOMPLETE',
      stale: 2,
    });
    await answers();
    expect((await verify('two-1')).exitCode).toBe(0);
    expect(await start('two', '--missing-only')).toEqual({ started: false, missing: 0 });
    // The outputs there are no longer those of the first job.
    const verified = await verify('one-1');
    expect(JSON.parse(verified.stdout)).toMatchObject({ code: 'BATCH_INCOMPLETE', stale: 2 });
  });

  test('a job that SageMaker refuses makes nothing old', async () => {
    const standIn = await startService(() => ({ __type: 'ResourceInUse', message: 'taken' }));
    const elsewhere = { ...environment, AWS_ENDPOINT_URL_SAGEMAKER: standIn.url };
    try {
      const refused = await sagemakerTfs(
        ['batch', 'start', '--model-name', 'three', ...places, '--json'],
        elsewhere,
      );
      expect(JSON.parse(refused.stdout)).toMatchObject({
        code: 'AWS_FAILED',
        awsError: 'ResourceInUse',
      });
    } finally {
      await standIn.close();
    }
    expect(await start('two', '--missing-only')).toEqual({ started: false, missing: 0 });
  });

  test('of other settings, or older than their input, they are made again', async () => {
    const xml = await start('two', '--missing-only', '--accept', 'text/csv');
    expect(xml).toMatchObject({ started: true, stale: 2 });
    await answers();
    const [made = 0] = await times('models/out/a.jpg.out');
    do await put({ 'models/in/a.jpg': 'newer' });
    while (((await times('models/in/a.jpg'))[0] ?? 0) <= made);
    const newer = await start('two', '--missing-only', '--accept', 'text/csv');
    expect(newer).toMatchObject({ started: true, missing: 1, stale: 1 });
  });

  test('skip keeps them, whatever made them; replace is a job without --missing-only', async () => {
    const skipped = await start('four', '--missing-only', '--existing', 'skip');
    expect(skipped).toEqual({ started: false, missing: 0 });
    expect((await start('four', '--existing', 'skip')).code).toBe('USAGE');
    expect((await start('four', '--existing', 'replace', '--missing-only')).code).toBe('USAGE');
  });
});

test('a job is followed until it ends, with its instances running', async () => {
  await put({ 'slow/in/1': '', 'slow/in/2': '', 'slow/out/1.out': '{}' });
  const began = Date.now() / 1_000 - 3_600;
  let looks = 0;
  const standIn = await startSageMaker(() => ({
    TransformJobStatus: ++looks < 3 ? 'InProgress' : 'Failed',
    ...(looks >= 3 && { FailureReason: 'the container died', TransformEndTime: began + 7_200 }),
    CreationTime: began,
    TransformStartTime: began,
    TransformInput: {
      DataSource: { S3DataSource: { S3DataType: 'S3Prefix', S3Uri: `s3://${BUCKET}/slow/in/` } },
    },
    TransformOutput: { S3OutputPath: `s3://${BUCKET}/slow/out/` },
    TransformResources: { InstanceType: 'ml.p3.2xlarge', InstanceCount: 2 },
  }));
  try {
    const sagemaker = new SageMakerClient({ endpoint: standIn.url });
    const sfn = new SFNClient({ endpoint: standIn.url });
    const views = [];
    for await (const view of watchJob({ s3, sagemaker, sfn }, 'slow', { intervalSeconds: 0.01 })) {
      views.push(view);
    }
    sagemaker.destroy();
    sfn.destroy();
    expect(views.map(({ job, done, total }) => [job.status, done, total])).toEqual([
      ['InProgress', 1, 2],
      ['InProgress', 1, 2],
      ['Failed', 1, 2],
    ]);
    expect(views[0]?.instanceHours).toBeGreaterThan(2);
    expect(views[2]?.instanceHours).toBe(4);

    environment = { ...environment, AWS_ENDPOINT_URL_SAGEMAKER: standIn.url };
    const failed = await run('watch', 'slow', '--json');
    expect(failed.exitCode).toBe(1);
    expect(JSON.parse(failed.stdout)).toMatchObject({
      failureReason: 'the container died',
      costUsd: 15.3,
    });
    looks = 0;
    expect(JSON.parse((await run('stop', 'slow', '--json')).stdout).job).toBe('slow');
    expect(standIn.calls).toContain('StopTransformJob');
  } finally {
    await standIn.close();
    const { AWS_ENDPOINT_URL_SAGEMAKER: _, ...rest } = environment;
    environment = rest;
  }
});

test('a refused job continues with the next types, and with --no-fallbacks with none', async () => {
  await put({ 'refused/in/1.csv': '' });
  const asked: unknown[] = [];
  const contentTypes = new Set<unknown>();
  const standIn = await startService((_operation, input) => {
    const { TransformResources, TransformInput } = input as CreateTransformJobRequest;
    asked.push(TransformResources?.InstanceType);
    contentTypes.add(TransformInput?.ContentType);
    return { __type: 'ResourceLimitExceeded', message: 'the limit is 0 Instances' };
  });
  const start = (...more: string[]) =>
    sagemakerTfs(
      [
        ...['batch', 'start', '--model-name', 'digits', ...more, '--json'],
        ...['--input-uri', `s3://${BUCKET}/refused/in/`],
        ...['--output-uri', `s3://${BUCKET}/refused/out/`],
      ],
      { ...environment, AWS_ENDPOINT_URL_SAGEMAKER: standIn.url },
    );
  try {
    expect(JSON.parse((await start()).stdout)).toMatchObject({ code: 'INSTANCE_TYPES_REFUSED' });
    expect(asked.splice(0)).toEqual(['ml.p3.2xlarge', 'ml.g5.2xlarge', 'ml.g4dn.xlarge']);
    const alone = JSON.parse((await start('--no-fallbacks')).stdout);
    expect(alone).toMatchObject({ code: 'AWS_FAILED', awsError: 'ResourceLimitExceeded' });
    expect(asked).toEqual(['ml.p3.2xlarge']);
    expect([...contentTypes]).toEqual(['text/csv']);
  } finally {
    await standIn.close();
  }
});

test('the volume is encrypted with the key, and each instance type by its own rule', async () => {
  await put({ 'keyed/in/1.csv': '' });
  const asked: unknown[] = [];
  const standIn = await startService((_operation, input) => {
    const { TransformResources, TransformOutput } = input as CreateTransformJobRequest;
    asked.push([TransformResources?.VolumeKmsKeyId, TransformOutput?.KmsKeyId]);
    return { __type: 'ResourceLimitExceeded', message: 'the limit is 0 Instances' };
  });
  try {
    await sagemakerTfs(
      [
        ...['batch', 'start', '--model-name', 'digits', '--kms-key-id', 'alias/tiles', '--json'],
        ...['--input-uri', `s3://${BUCKET}/keyed/in/`],
        ...['--output-uri', `s3://${BUCKET}/keyed/out/`],
        ...['--instance-type', 'ml.m5.xlarge', '--fallback-instance-type', 'ml.g5.2xlarge'],
      ],
      { ...environment, AWS_ENDPOINT_URL_SAGEMAKER: standIn.url },
    );
  } finally {
    await standIn.close();
  }
  // SageMaker refuses a key for disks of the instance.
  expect(asked).toEqual([
    ['alias/tiles', 'alias/tiles'],
    [undefined, 'alias/tiles'],
  ]);
});

describe('a job that was taken and has no instances', () => {
  type Job = { TransformJobStatus: string; FailureReason?: string; TransformStartTime?: number };
  /** @param jobs what becomes of the job on each type; undefined for one that waits */
  async function started(
    jobs: Record<string, Job | { __type: string; message: string } | undefined>,
    ...more: string[]
  ) {
    // The jobs of the test before have ended.
    const Key = 'late/out/_shards/lease.json';
    await s3.send(new DeleteObjectCommand({ Bucket: BUCKET, Key }));
    await put({ 'late/in/1.csv': '' });
    const made = new Map<string, { type: string; stopped?: true }>();
    const standIn = await startService((operation, input) => {
      const { TransformJobName: name = '', TransformResources } =
        input as CreateTransformJobRequest;
      if (operation === 'CreateTransformJob') {
        made.set(name, { type: String(TransformResources?.InstanceType) });
        return {
          TransformJobArn: `arn:aws:sagemaker:us-east-1:000000000000:transform-job/${name}`,
        };
      }
      const job = made.get(name);
      if (job && operation === 'StopTransformJob') job.stopped = true;
      if (operation !== 'DescribeTransformJob') return {};
      if (job?.stopped) return { TransformJobStatus: 'Stopped' };
      return jobs[job?.type ?? ''] ?? { TransformJobStatus: 'InProgress' };
    });
    try {
      const { stdout } = await sagemakerTfs(
        [
          ...['batch', 'start', '--model-name', 'digits', '--job-name', 'late', '--json'],
          ...['--input-uri', `s3://${BUCKET}/late/in/`, '--wait-for-instances', '0.02'],
          ...['--output-uri', `s3://${BUCKET}/late/out/`, ...more],
        ],
        { ...environment, AWS_ENDPOINT_URL_SAGEMAKER: standIn.url },
      );
      return { result: JSON.parse(stdout), made: [...made], calls: standIn.calls };
    } finally {
      await standIn.close();
    }
  }
  const LACK = {
    TransformJobStatus: 'Failed',
    FailureReason: 'CapacityError: Unable to provision requested ML compute capacity.',
  };
  const BEGUN = { TransformJobStatus: 'InProgress', TransformStartTime: 1_700_000_000 };

  test('continues with the next type, under another name, where it fails or none comes in time', async () => {
    const { result, made } = await started({ 'ml.p3.2xlarge': LACK, 'ml.g4dn.xlarge': BEGUN });
    expect(result).toMatchObject({
      started: true,
      jobName: 'late-3',
      instanceType: 'ml.g4dn.xlarge',
    });
    expect(made).toEqual([
      ['late', { type: 'ml.p3.2xlarge' }],
      // It waited, and was stopped.
      ['late-2', { type: 'ml.g5.2xlarge', stopped: true }],
      ['late-3', { type: 'ml.g4dn.xlarge' }],
    ]);
  });

  test('of the last type the reasons are reported, and no claim on the outputs is left', async () => {
    const all = { 'ml.p3.2xlarge': LACK, 'ml.g5.2xlarge': LACK, 'ml.g4dn.xlarge': LACK };
    const { result, made } = await started(all);
    expect(result).toMatchObject({
      code: 'INSTANCE_TYPES_REFUSED',
      error: expect.stringMatching(/ml\.p3\.2xlarge: no capacity: .*ml\.g4dn\.xlarge: no capacity/),
    });
    expect(made).toHaveLength(3);
    const alone = await started(all, '--no-fallbacks');
    expect(alone.result).toMatchObject({ code: 'INSTANCE_TYPES_REFUSED' });
    expect(alone.made).toHaveLength(1);
  });

  test('that cannot be looked at is named, and what makes its outputs stays written down', async () => {
    const denied = { __type: 'AccessDeniedException', message: 'not authorized' };
    const { result, made } = await started(
      { 'ml.p3.2xlarge': denied },
      ...['--output-uri', `s3://${BUCKET}/unseen/out/`],
    );
    expect(result).toMatchObject({
      code: 'JOB_NOT_WATCHED',
      error: expect.stringContaining('the job late was made and continues'),
    });
    expect(made).toHaveLength(1);
    const Prefix = 'unseen/out/_shards/origins/';
    const { Contents } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix }));
    expect(Contents).toHaveLength(1);
  });

  test('another failure is for watch to tell, and without the option nothing is waited for', async () => {
    const broken = {
      TransformJobStatus: 'Failed',
      FailureReason: 'The model does not respond to ping',
    };
    const { result, made } = await started({ 'ml.p3.2xlarge': broken });
    expect(result).toMatchObject({ started: true, jobName: 'late', instanceType: 'ml.p3.2xlarge' });
    expect(made).toHaveLength(1);
  });
});

describe('a call that is sent again, as its answer was lost', () => {
  const TAKEN = { __type: 'ResourceInUse', message: 'Job name must be unique within an account' };
  /** @param here what the job of the name is, beside what was asked for; an error of the look where it has a `__type` */
  async function started(id: string, here: object, ...more: string[]) {
    await put({ [`${id}/in/1.csv`]: '' });
    let sent = 0;
    let made: object | undefined;
    const standIn = await startService((operation, input) => {
      if (operation !== 'CreateTransformJob')
        return '__type' in here
          ? here
          : {
              ...made,
              CreationTime: Date.now() / 1_000,
              TransformJobStatus: 'InProgress',
              ...here,
            };
      made = input as object;
      sent += 1;
      return sent === 1 ? undefined : TAKEN;
    });
    try {
      const { stdout } = await sagemakerTfs(
        [
          ...['batch', 'start', '--model-name', 'digits', '--job-name', id, '--json'],
          ...['--input-uri', `s3://${BUCKET}/${id}/in/`],
          ...['--output-uri', `s3://${BUCKET}/${id}/out/`, ...more],
        ],
        { ...environment, AWS_ENDPOINT_URL_SAGEMAKER: standIn.url },
      );
      const Prefix = `${id}/out/_shards/origins/`;
      const { KeyCount } = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix }));
      return { result: JSON.parse(stdout), sent, origins: KeyCount };
    } finally {
      await standIn.close();
    }
  }

  test.each([[[]], [['--wait-for-instances', '1']]])('has made the job %j', async (more) => {
    const { result, sent, origins } = await started(
      `again${more.length}`,
      { TransformStartTime: Date.now() / 1_000 },
      ...more,
    );
    expect(result).toMatchObject({ started: true, instanceType: 'ml.p3.2xlarge' });
    expect({ sent, origins }).toEqual({ sent: 2, origins: 1 });
  });

  test.each([
    ['older', { CreationTime: Date.now() / 1_000 - 3_600 }],
    ['model', { ModelName: 'other' }],
    ['outputs', { TransformOutput: { S3OutputPath: `s3://${BUCKET}/elsewhere/` } }],
    ['none', { __type: 'ValidationException', message: 'Could not find requested job' }],
  ])('has not made a job that is another one: %s', async (id, here) => {
    const { result, origins } = await started(id, here);
    expect(result).toMatchObject({ code: 'AWS_FAILED', awsError: 'ResourceInUse' });
    expect(origins).toBe(0);
  });

  test('may have made a job that cannot be looked at', async () => {
    const denied = { __type: 'AccessDeniedException', message: 'not authorized' };
    const { result, origins } = await started('unlooked', denied);
    expect(result).toMatchObject({
      code: 'JOB_NOT_WATCHED',
      error: expect.stringContaining('the job unlooked may have been made'),
    });
    expect(origins).toBe(1);
  });
});

test.each([
  ['RUNNING', false, 'OUTPUTS_IN_USE'],
  ['PENDING_REDRIVE', false, 'OUTPUTS_IN_USE'],
  ['SUCCEEDED', false, undefined],
  ['RUNNING', true, undefined],
  ['unseen', false, 'OUTPUTS_IN_USE'],
])(
  'beside a run of a state machine that is %s, its lease returned %s: %s',
  async (status, returned, code) => {
    const execution = 'arn:aws:states:us-east-1:123456789012:execution:Machine:run-1';
    const folder = `leased-${status}-${returned}`;
    await put({
      [`${folder}/in/1.csv`]: '',
      [`${folder}/out/_shards/lease.json`]: JSON.stringify({ execution, returned }),
    });
    const standIn = await startService((operation) =>
      operation === 'CreateTransformJob'
        ? {}
        : status !== 'unseen'
          ? { executionArn: execution, status }
          : { __type: 'AccessDeniedException', message: 'not authorized' },
    );
    try {
      const { stdout } = await sagemakerTfs(
        [
          ...['batch', 'start', '--model-name', 'digits', '--json'],
          ...['--input-uri', `s3://${BUCKET}/${folder}/in/`],
          ...['--output-uri', `s3://${BUCKET}/${folder}/out/`],
        ],
        {
          ...environment,
          AWS_ENDPOINT_URL_SAGEMAKER: standIn.url,
          AWS_ENDPOINT_URL_SFN: standIn.url,
        },
      );
      expect(JSON.parse(stdout)).toMatchObject(code ? { code } : { started: true });
      expect(standIn.calls.includes('CreateTransformJob')).toBe(code === undefined);
    } finally {
      await standIn.close();
    }
  },
);

test('keys whose endings tell no type need one', async () => {
  await put({ 'untyped/in/1': '' });
  const { exitCode, stderr } = await run(
    ...['start', '--model-name', 'digits', '--input-uri', `s3://${BUCKET}/untyped/in/`],
    ...['--output-uri', `s3://${BUCKET}/out/`],
  );
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: 2,
    stderr: expect.stringMatching(/unknown ending: untyped\/in\/1\..*--content-type/),
  });
});

test('an input without objects, an unknown job and missing outputs are reported', async () => {
  const nothing = await run(
    ...['start', '--model-name', 'digits', '--input-uri', `s3://${BUCKET}/nothing/`],
    ...['--output-uri', `s3://${BUCKET}/out/`],
  );
  expect(nothing).toMatchObject({ exitCode: 2 });
  expect(nothing.stderr).toContain('there is no object at');
  expect((await run('watch', 'nobody')).stderr).toContain('there is no transform job nobody');
  const empty = await run('fetch', `s3://${BUCKET}/none/`, '--out', join(work, 'none.csv'));
  expect(empty.stderr).toContain('there are no outputs');
  expect((await run('verify')).exitCode).toBe(2);
});
