/** `batch start --engine processing`: what SageMaker is asked for, and that the image does it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workerFingerprint } from '@sagemaker-tfs/batch';
import { fixtureModel } from '../../../../test/fixtures/index.ts';
import { TEST_CREDENTIALS } from '../../../../test/rehearse/moto.ts';
import { problemsOf } from '../../../../test/service-models/validate.ts';
import { type GeneratedS3, startGeneratedS3 } from '../../../../tools/generated-s3.ts';
import { libraryHere } from '../../serving/library.ts';
import { startService } from '../aws/sagemaker-stand-in.ts';
import { ROOT, sagemakerTfs } from '../test-support.ts';

jest.setTimeout(240_000);

let s3: GeneratedS3;
beforeAll(async () => {
  const inputs = { count: 1, keyOf: () => 'in/0.json', bodyOf: () => Buffer.from('{}') };
  s3 = await startGeneratedS3({ tiles: inputs });
});
afterAll(() => s3.close());

const MODEL = {
  ModelName: 'tiles',
  ExecutionRoleArn: 'arn:aws:iam::123456789012:role/model',
  PrimaryContainer: {
    Image: '123456789012.dkr.ecr.us-east-1.amazonaws.com/serving:1',
    ModelDataUrl: 's3://models/model.tar.gz',
    Environment: { SAGEMAKER_TFS_BACKEND: 'in-process' },
  },
  VpcConfig: { SecurityGroupIds: ['sg-1'], Subnets: ['subnet-1'] },
};

const KEY = 'arn:aws:kms:us-east-1:123456789012:key/tiles';

interface Request {
  readonly ProcessingResources: { readonly ClusterConfig: object };
  readonly AppSpecification: { readonly ContainerArguments: readonly string[] };
  readonly ProcessingInputs: readonly { readonly S3Input: { readonly LocalPath: string } }[];
}

const ARN = 'arn:aws:sagemaker:us-east-1:123456789012:processing-job/tiles';

/** Starts a job; what SageMaker was asked for. */
function start(model: object, ...more: string[]) {
  return startAt(
    (operation) => (operation === 'DescribeModel' ? model : { ProcessingJobArn: ARN }),
    more,
  );
}

async function startAt(answer: Parameters<typeof startService>[0], more: string[] = []) {
  const requests: Request[] = [];
  // Of the test before, whose job has ended.
  s3.stored.get('out')?.delete('answers/_shards/lease.json');
  const standIn = await startService((operation, input) => {
    if (operation === 'CreateProcessingJob') requests.push(input as Request);
    return answer(operation, input);
  });
  try {
    const outcome = await sagemakerTfs(
      [
        ...['batch', 'start', '--engine', 'processing', '--model-name', 'tiles', '--json'],
        ...['--input-uri', 's3://tiles/in/', '--output-uri', 's3://out/answers/'],
        ...['--content-type', 'application/json', ...more],
      ],
      { ...TEST_CREDENTIALS, AWS_ENDPOINT_URL: standIn.url, AWS_ENDPOINT_URL_S3: s3.url },
    );
    return { ...outcome, requests };
  } finally {
    await standIn.close();
  }
}

test.each<[what: string, args: readonly string[], code: string]>([
  ['an input prefix without inputs', ['--input-uri', 's3://tiles/none/'], 'INPUT_EMPTY'],
  ['an output in the inputs', ['--output-uri', 's3://tiles/in/out/'], 'USAGE'],
  ['answers of other settings', ['--output-uri', 's3://out/others/'], 'OTHER_RUN'],
])('%s: no instance is asked for', async (_, args, code) => {
  const plan = {
    fingerprint: 'f',
    model: 'm',
    inputUri: 's3://tiles/in/',
    keySuffix: '',
    cuts: [],
  };
  const body = Buffer.from(JSON.stringify(plan));
  const files = new Map([['others/_worker/plan.json', { body, modified: 0, metadata: {} }]]);
  (s3.stored as Map<string, typeof files>).set('out', files);
  const { exitCode, requests, stdout } = await start(MODEL, ...args);
  expect(exitCode).toBeGreaterThan(0);
  expect(JSON.parse(stdout)).toMatchObject({ code });
  expect(requests).toEqual([]);
});

test('a job continues the answers of its own settings', async () => {
  const [contentType, accept] = ['application/json', 'application/json'];
  const inputs = { prefix: 's3://tiles/in/', digest: undefined };
  const fingerprint = workerFingerprint(inputs, { contentType, accept }, 'm');
  const plan = { fingerprint, model: 'm', inputUri: 's3://tiles/in/', keySuffix: '', cuts: [] };
  const body = Buffer.from(JSON.stringify(plan));
  const files = new Map([['own/_worker/plan.json', { body, modified: 0, metadata: {} }]]);
  (s3.stored as Map<string, typeof files>).set('out', files);
  const { requests } = await start(MODEL, '--accept', accept, '--output-uri', 's3://out/own/');
  expect(requests).toHaveLength(1);
});

test('the request is one that SageMaker takes, and its arguments make the image do the work', async () => {
  const { exitCode, requests } = await start(
    MODEL,
    ...['--instance-type', 'ml.g4dn.xlarge', '--instance-count', '4', '--key-suffix', '.json'],
    ...['--notices-at', '10,50', '--notice-topic', 'arn:aws:sns:us-east-1:123456789012:tiles'],
    ...['--tag', 'team=maps', '--env', 'SAGEMAKER_TFS_LOG_LEVEL=warn', '--kms-key-id', KEY],
  );
  expect(exitCode).toBe(0);
  const [request] = requests as [Request];
  expect(problemsOf('sagemaker', 'CreateProcessingJob', { ...request })).toEqual([]);
  expect(request).toMatchObject({
    RoleArn: MODEL.ExecutionRoleArn,
    AppSpecification: { ImageUri: MODEL.PrimaryContainer.Image },
    NetworkConfig: { VpcConfig: MODEL.VpcConfig },
    ProcessingResources: { ClusterConfig: { InstanceCount: 4, InstanceType: 'ml.g4dn.xlarge' } },
    Environment: { SAGEMAKER_TFS_BACKEND: 'in-process', SAGEMAKER_TFS_LOG_LEVEL: 'warn' },
  });
  const { AppSpecification, ProcessingInputs } = request;
  expect(AppSpecification.ContainerArguments).toEqual(
    expect.arrayContaining([
      ...['--notices-at=10,50', '--notice-topic=arn:aws:sns:us-east-1:123456789012:tiles'],
    ]),
  );
  // SageMaker refuses a key for disks of the instance.
  expect(request.ProcessingResources.ClusterConfig).not.toHaveProperty('VolumeKmsKeyId');
  const local = ProcessingInputs[0]?.S3Input.LocalPath as string;
  await withArchive(async ({ folder, work, archive }) => {
    // As SageMaker does: the objects whose keys begin with the archive's, in a folder of the machine.
    await writeFile(join(folder, 'model.tar.gz.sha256'), 'of the archive');
    const args = AppSpecification.ContainerArguments.map((argument) =>
      argument.replace(local, folder),
    );
    expect(args.join(' ')).toContain(folder);
    expect(await runImage(args, { work, archive })).toEqual([0, 50]);
  });
});

test('the files of a model that is not packed are read from their folder', async () => {
  const S3DataSource = {
    S3Uri: 's3://models/tiles/',
    S3DataType: 'S3Prefix',
    CompressionType: 'None',
  };
  const { ModelDataUrl: _, ...container } = MODEL.PrimaryContainer;
  const { requests } = await start({
    ...MODEL,
    PrimaryContainer: { ...container, ModelDataSource: { S3DataSource } },
  });
  const local = requests[0]?.ProcessingInputs[0]?.S3Input.LocalPath;
  expect(requests[0]?.AppSpecification.ContainerArguments).toContain(`--model-path=${local}`);
});

test('the volume is encrypted with the key, and each instance type by its own rule', async () => {
  const { requests } = await start(
    MODEL,
    ...['--instance-type', 'ml.c6i.xlarge', '--kms-key-id', KEY],
  );
  expect(requests[0]?.ProcessingResources.ClusterConfig).toMatchObject({ VolumeKmsKeyId: KEY });
});

test('a call that is sent again, as its answer was lost, has made the job', async () => {
  let made: object | undefined;
  const { exitCode, requests } = await startAt((operation, input) => {
    if (operation === 'DescribeModel') return MODEL;
    if (operation === 'DescribeProcessingJob') return { ...made, CreationTime: Date.now() / 1_000 };
    if (made) return { __type: 'ResourceInUse', message: 'Job name must be unique' };
    made = input as object;
    return undefined;
  });
  expect(exitCode).toBe(0);
  expect(requests).toHaveLength(2);
});

describe('variables and arguments that only a model takes', () => {
  const withVariables = (Environment: Record<string, string>) => ({
    ...MODEL,
    PrimaryContainer: { ...MODEL.PrimaryContainer, Environment },
  });
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`N${i}`, '1']));

  test('the longest that SageMaker takes are sent', async () => {
    const { requests } = await start(withVariables({ ...many(99), N: 'v'.repeat(256) }));
    expect(requests).toHaveLength(1);
    expect(problemsOf('sagemaker', 'CreateProcessingJob', { ...requests[0] })).toEqual([]);
  });

  test.each<[string, Record<string, string>, string[], RegExp]>([
    ['a value', { N: 'v'.repeat(257) }, [], /variable N .* value of 257 characters/],
    ['a name', { ['N'.repeat(257)]: 'v' }, [], /name of 257 characters/],
    ['too many', many(101), [], /101 variables/],
    ['an argument', {}, ['--key-suffix', 'k'.repeat(256)], /--key-suffix=k+\.\.\. .*256/],
  ])('%s is refused before SageMaker is asked', async (_, variables, more, message) => {
    const { exitCode, requests, stdout, stderr } = await start(withVariables(variables), ...more);
    expect({ exitCode, requests }).toEqual({ exitCode: more.length > 0 ? 2 : 1, requests: [] });
    expect(stdout + stderr).toMatch(message);
  });
});

test('the image reads its model from S3, as a job of AWS Batch has it', async () => {
  const args = [
    ...['batch-worker', '--model-path=s3://models/model.tar.gz', '--content-type=application/json'],
    ...['--input', 's3://tiles/in/', '--output', 's3://out/answers/'],
  ];
  await withArchive(async (files) => {
    expect(await runImage(args, files)).toEqual([0, 50]);
    const missing = args.map((argument) => argument.replace('model.tar.gz', 'other.tar.gz'));
    expect(await runImage(missing, files)).toEqual([1, 0]);
  });
});

test('an image that receives SIGTERM ends with the status of the signal, so that it is started again', async () => {
  const args = [
    ...['batch-worker', '--model-path=s3://models/model.tar.gz', '--content-type=application/json'],
    ...['--input', 's3://tiles/in/', '--output', 's3://out/answers/'],
  ];
  await withArchive(async (files) => {
    const [status] = await runImage(args, files, (image) => image.kill('SIGTERM'));
    expect(status).toBe(143);
  });
});

interface Files {
  /** Folder of the test. */
  readonly work: string;
  /** Folder with nothing but the archive. */
  readonly folder: string;
  readonly archive: string;
}

async function withArchive(use: (files: Files) => Promise<void>): Promise<void> {
  const work = await mkdtemp(join(tmpdir(), 'processing-'));
  const folder = join(work, 'model');
  const archive = join(folder, 'model.tar.gz');
  try {
    const packaged = await sagemakerTfs([
      ...['package', fixtureModel('half_plus_two').basePath, '--out', archive, '--no-verify'],
    ]);
    expect(packaged.exitCode).toBe(0);
    await use({ work, folder, archive });
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Runs the bundled runtime over fifty inputs; each object that it writes must be encrypted as its arguments say. @returns its status, and how many answers it wrote */
async function runImage(
  args: readonly string[],
  { work, archive }: Pick<Files, 'work' | 'archive'>,
  onRead: (image: ChildProcess) => void = () => undefined,
): Promise<[number | null, number]> {
  let image: ChildProcess | undefined;
  const bytes = await readFile(archive);
  const s3 = await startGeneratedS3({
    tiles: {
      count: 50,
      keyOf: (index) => `in/${String(index).padStart(2, '0')}.json`,
      bodyOf: (index) => {
        if (image) onRead(image);
        return Buffer.from(`{"instances": [${index}]}`);
      },
    },
    models: { count: 1, keyOf: () => 'model.tar.gz', bodyOf: () => bytes },
  });
  try {
    const temporary = join(work, 'tmp');
    await mkdir(temporary, { recursive: true });
    image = spawn(process.execPath, [join(ROOT, 'container/dist/main.js'), ...args], {
      env: {
        ...process.env,
        ...s3.environment,
        TMPDIR: temporary,
        SAGEMAKER_TFS_BACKEND: 'in-process',
        LIBTENSORFLOW_PATH: (await libraryHere()).directory,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [status] = (await once(image, 'close')) as [number | null];
    expect((await readdir(temporary)).filter((name) => name.startsWith('worker-model-'))).toEqual(
      [],
    );
    const key = args
      .find((text) => text.startsWith('--kms-key-id='))
      ?.slice('--kms-key-id='.length);
    for (const { metadata } of s3.stored.get('out')?.values() ?? []) {
      expect(metadata['x-amz-server-side-encryption-aws-kms-key-id']).toBe(key);
      expect(metadata['x-amz-server-side-encryption']).toBe(key && 'aws:kms');
    }
    const parts = [...(s3.stored.get('out') ?? [])].filter(([key]) => key.includes('/parts/'));
    const lines = parts.flatMap(([, { body }]) =>
      Buffer.from(body).toString().split('\n').filter(Boolean),
    );
    if (lines.length === 50) {
      expect(lines.sort().at(-1)).toBe('{"key":"49.json","output":{"predictions":[27.5]}}');
    }
    return [status, lines.length];
  } finally {
    await s3.close();
  }
}

test('what a worker cannot do is refused before SageMaker is asked', async () => {
  const many = { ...MODEL, PrimaryContainer: { ...MODEL.PrimaryContainer, Mode: 'MultiModel' } };
  const refused = await start(many);
  expect([refused.exitCode, refused.requests]).toEqual([1, []]);
  expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'MODEL_UNSUITABLE' });
  const usage = await start(MODEL, '--split-type', 'Line');
  expect([usage.exitCode, usage.requests]).toEqual([2, []]);
  expect(usage.stderr).toContain('--split-type cannot be given with --engine processing');
});
