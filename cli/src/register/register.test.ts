/** A model in the registry: against moto, and against the shapes that AWS publishes. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { appendFile, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CreateBucketCommand,
  GetObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3';
import {
  type CreateModelPackageCommandInput,
  DescribeModelPackageCommand,
  ListModelPackagesCommand,
  SageMakerClient,
} from '@aws-sdk/client-sagemaker';
import { layOut, packageModel } from '@sagemaker-tfs/model-packaging';
import { type Moto, startMoto, TEST_CREDENTIALS } from '../../../test/rehearse/moto.ts';
import { problemsOf } from '../../../test/service-models/validate.ts';
import { ROOT, sagemakerTfs } from '../batch/test-support.ts';
import { metadataValue } from './package-request.ts';
import { register } from './register.ts';

jest.setTimeout(120_000);

const IMAGE = '111111111111.dkr.ecr.us-east-1.amazonaws.com/serving:1';
const work = mkdtempSync(join(tmpdir(), 'register-test-'));
const archive = join(work, 'model.tar.gz');
let fingerprint: string;
let moto: Moto;
let s3: S3Client;
let sagemaker: SageMakerClient;
let requests: CreateModelPackageCommandInput[] = [];

beforeAll(async () => {
  Object.assign(process.env, TEST_CREDENTIALS);
  const result = await packageModel({
    source: join(ROOT, 'test/fixtures/models/half_plus_two/2'),
    out: archive,
  });
  ({ fingerprint } = result);
  moto = await startMoto();
  s3 = new S3Client({ endpoint: moto.url, forcePathStyle: true });
  sagemaker = new SageMakerClient({ endpoint: moto.url });
  sagemaker.middlewareStack.add(
    (next, { commandName }) =>
      (args) => {
        if (commandName === 'CreateModelPackageCommand') {
          requests.push(args.input as CreateModelPackageCommandInput);
        }
        return next(args);
      },
    { step: 'initialize' },
  );
  await s3.send(new CreateBucketCommand({ Bucket: 'models' }));
});
afterAll(async () => {
  s3?.destroy();
  sagemaker?.destroy();
  await moto?.stop();
  rmSync(work, { recursive: true, force: true });
});
beforeEach(() => {
  requests = [];
});

const options = (group: string) => ({
  ...{ archive, group, to: 's3://models/registry', image: IMAGE },
  ...{ approval: 'pending' as const, evidence: {}, environment: {}, instanceTypes: [] },
  ...{ contentTypes: ['application/json'], responseTypes: ['application/json'] },
});

async function json(name: string, value: unknown): Promise<string> {
  const file = join(work, name);
  await writeFile(file, JSON.stringify(value));
  return file;
}

const verified = (own: object = {}) => ({
  ...{ archive, fingerprint },
  versions: [{ loadMs: 12.5, signatures: [{ medianMs: 1 }, { medianMs: 3 }, {}] }],
  requests: [{ status: 200, latencyMs: 4 }],
  ...own,
});

const latency = { count: 3, mean: 2, p50: 2, p90: 3, p95: 3, p99: 3.5, min: 1, max: 4 };
const benched = (told: string) => ({
  date: '2026-11-23T00:00:00Z',
  machine: { cpu: 'x', cores: 2, memoryGiB: 4, platform: 'linux', node: '24', command: '1' },
  model: { fingerprint: told },
  target: 'http://127.0.0.1:8080',
  request: { file: 'a', bytes: 1, sha256: '0', contentType: 'a/b', requests: 3, inFlight: 1 },
  results: [
    {
      ...{ transport: 'own', latency, firstMs: 5, requestsPerSecond: 480 },
      ...{ responseBytes: 4, milliseconds: [1, 2, 4] },
    },
  ],
});

test('a version has the archive, its image, its fingerprint and what was measured, and AWS takes the request', async () => {
  const evidence = {
    verify: await json('verify.json', verified()),
    bench: await json('bench.json', benched(fingerprint.slice(0, 16))),
    metrics: await json('metrics.json', { multiclass: { accuracy: { value: 0.99 } } }),
  };
  const registered = await register(
    { s3, sagemaker },
    {
      ...options('half'),
      ...{ evidence, description: 'the first', environment: { THRESHOLD: '0.5' } },
      instanceTypes: ['ml.m5.xlarge'],
    },
  );
  expect(registered).toMatchObject({ isNew: true, status: 'PendingManualApproval', fingerprint });
  expect(registered.modelPackageArn).toMatch(/:model-package\/half\/1$/);
  const [request] = requests;
  expect(problemsOf('sagemaker', 'CreateModelPackage', request)).toEqual([]);
  const described = await sagemaker.send(
    new DescribeModelPackageCommand({ ModelPackageName: registered.modelPackageArn }),
  );
  expect(described).toMatchObject({
    ModelApprovalStatus: 'PendingManualApproval',
    InferenceSpecification: {
      Containers: [
        { Image: IMAGE, ModelDataUrl: registered.archiveUri, Environment: { THRESHOLD: '0.5' } },
      ],
    },
    CustomerMetadataProperties: {
      fingerprint,
      image: IMAGE,
      latency_p99_ms: '3.5',
      load_ms: '12.5',
    },
  });
  expect(await objectAt(registered.archiveUri)).toEqual(await readFile(archive));
  const metricsUri = request?.ModelMetrics?.ModelQuality?.Statistics?.S3Uri ?? '';
  expect(JSON.parse((await objectAt(metricsUri)).toString())).toEqual({
    multiclass: { accuracy: { value: 0.99 } },
    serving_metrics: {
      ...{ load_ms: { value: 12.5 }, slowest_signature_median_ms: { value: 3 } },
      ...{ verified_requests: { value: 1 }, latency_p50_ms: { value: 2 } },
      ...{ latency_p90_ms: { value: 3 }, latency_p99_ms: { value: 3.5 } },
      ...{ requests_per_second: { value: 480 }, requests_in_flight: { value: 1 } },
    },
  });
});

async function objectAt(uri: string): Promise<Buffer> {
  const [, Bucket = '', Key = ''] = /^s3:\/\/([^/]+)\/(.*)$/.exec(uri) ?? [];
  const { Body } = await s3.send(new GetObjectCommand({ Bucket, Key }));
  return Buffer.from((await Body?.transformToByteArray()) ?? []);
}

test.each<[string, object]>([
  ['other variables', { environment: { THRESHOLD: '0.7' } }],
  ['another type of requests', { contentTypes: ['application/x-image'] }],
  ['another type of answers', { responseTypes: ['text/csv'] }],
  ['another instance type', { instanceTypes: ['ml.m5.xlarge'] }],
])('the same model with %s is a new version', async (what, other) => {
  const group = what.replaceAll(' ', '-');
  await register({ s3, sagemaker }, options(group));
  const changed = { ...options(group), ...other };
  expect(await register({ s3, sagemaker }, changed)).toMatchObject({ isNew: true });
  expect(await register({ s3, sagemaker }, changed)).toMatchObject({ isNew: false });
});

test('the same model with the same image is no new version, another image is', async () => {
  const first = await register({ s3, sagemaker }, options('again'));
  const second = await register({ s3, sagemaker }, options('again'));
  expect(second).toMatchObject({ isNew: false, modelPackageArn: first.modelPackageArn });
  const image = IMAGE.replace(':1', ':2');
  const third = await register({ s3, sagemaker }, { ...options('again'), image });
  expect(third).toMatchObject({ isNew: true });
  const { ModelPackageSummaryList = [] } = await sagemaker.send(
    new ListModelPackagesCommand({ ModelPackageGroupName: 'again' }),
  );
  expect(ModelPackageSummaryList).toHaveLength(2);
});

describe('what a version names stays as it is', () => {
  const registeredWith = async (own: Partial<Parameters<typeof register>[1]>) => {
    const done = await register({ s3, sagemaker }, { ...options('stays'), ...own });
    const metricsUri = requests.at(-1)?.ModelMetrics?.ModelQuality?.Statistics?.S3Uri ?? '';
    return { ...done, metricsUri };
  };
  const accuracy = async (value: number) => ({
    metrics: await json(`accuracy-${value}.json`, { multiclass: { accuracy: { value } } }),
  });

  test('when the same model comes in other bytes, with other metrics', async () => {
    const first = await registeredWith({ evidence: await accuracy(0.8) });
    const [bytes, metrics] = await Promise.all([first.archiveUri, first.metricsUri].map(objectAt));
    const again = join(work, 'again.tar.gz');
    const source = join(ROOT, 'test/fixtures/models/half_plus_two/2');
    const other = await packageModel({ source, out: again, level: 1 });
    expect(other.fingerprint).toBe(fingerprint);
    const image = IMAGE.replace(':1', ':2');
    const evidence = await accuracy(0.9);
    const second = await registeredWith({ archive: again, image, evidence });
    expect(second.isNew).toBe(true);
    expect(await objectAt(second.archiveUri)).toEqual(await readFile(again));
    expect(await objectAt(first.archiveUri)).toEqual(bytes);
    expect(await objectAt(first.metricsUri)).toEqual(metrics);
    expect(await objectAt(second.metricsUri)).not.toEqual(metrics);
    expect(await registeredWith({ image })).toMatchObject({
      ...{ isNew: false, archiveUri: second.archiveUri },
    });
  });

  test('when the same bytes come again, which are there already', async () => {
    const { archiveUri } = await registeredWith({ image: IMAGE.replace(':1', ':3') });
    expect(await registeredWith({ image: IMAGE.replace(':1', ':4') })).toMatchObject({
      ...{ isNew: true, archiveUri },
    });
  });

  test('when something else is at the place: nothing is registered', async () => {
    const to = 's3://models/taken';
    const { archiveUri } = await registeredWith({ to, image: IMAGE.replace(':1', ':5') });
    const [, , , ...key] = archiveUri.split('/');
    await s3.send(new PutObjectCommand({ Bucket: 'models', Key: key.join('/'), Body: 'other' }));
    requests = [];
    const image = IMAGE.replace(':1', ':6');
    await expect(registeredWith({ to, image })).rejects.toThrow(/another object is at s3:/);
    expect(requests).toEqual([]);
  });
});

test.each<[string, (directory: string) => Promise<void>, RegExp]>([
  ['other bytes', (model) => appendFile(join(model, '2/saved_model.pb'), 'x'), /other bytes/],
  ['a further file', (model) => writeFile(join(model, 'code/new.js'), ''), /not in its manifest/],
  ['a file less', (model) => rm(join(model, '2/saved_model.pb')), /is missing/],
])('an archive with %s than it was packaged with is refused', async (name, change, message) => {
  const directory = join(work, name);
  await layOut(archive, directory);
  await change(directory);
  const changed = join(work, `${name}.tar.gz`);
  execFileSync('tar', ['-czf', changed, '-C', directory, '.']);
  await expect(
    register({ s3, sagemaker }, { ...options('changed'), archive: changed }),
  ).rejects.toThrow(message);
  expect(requests).toEqual([]);
});

test.each([
  ['another model', verified({ fingerprint: 'a'.repeat(64) }), /of the model with the fingerprint/],
  ['a refusal', verified({ requests: [{ status: 400, latencyMs: 1 }] }), /1 of 1 requests/],
  ['no report', { versions: 1 }, /is not a report of verify/],
  ['no object', [1], /is no JSON object/],
])('evidence of %s is refused, and nothing is registered', async (name, report, message) => {
  const verify = await json(`${name}.json`, report);
  const evidence = { verify };
  await expect(register({ s3, sagemaker }, { ...options('refused'), evidence })).rejects.toThrow(
    message,
  );
  const bench = await json('other.json', benched('b'.repeat(16)));
  await expect(
    register({ s3, sagemaker }, { ...options('refused'), evidence: { bench } }),
  ).rejects.toThrow(/of the model with the fingerprint b/);
  expect(requests).toEqual([]);
});

test('metadata is what SageMaker takes', () => {
  expect(metadataValue('a{b}\n"ü" 東')).toBe('a_b___ü_ 東');
  expect(metadataValue('x'.repeat(300))).toHaveLength(256);
  expect(metadataValue('')).toBe('-');
});

test('the command prints the version, and names what is wrong with its options', async () => {
  const environment = { ...TEST_CREDENTIALS, AWS_ENDPOINT_URL: moto.url };
  const args = ['register', archive, '--group', 'cli', '--to', 's3://models/cli/'];
  const done = await sagemakerTfs(
    [...args, '--image', IMAGE, '--approval', 'approved', '--json'],
    environment,
  );
  expect(JSON.parse(done.stdout)).toMatchObject({ status: 'Approved', isNew: true });
  const wrong = await sagemakerTfs([...args, '--image', 'docker.io/x:1'], environment);
  expect(wrong).toMatchObject({ exitCode: 2 });
  expect(wrong.stderr).toContain('is no image of a private ECR repository');
});
