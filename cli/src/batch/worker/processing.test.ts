/** `batch start --engine processing`: what SageMaker is asked for, and that the image does it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fixtureModel } from '../../../../test/fixtures/index.ts';
import { startGeneratedS3 } from '../../../../test/s3/generated-s3.ts';
import { problemsOf } from '../../../../test/service-models/validate.ts';
import { libraryHere } from '../../serving/library.ts';
import { startService } from '../aws/sagemaker-stand-in.ts';
import { ROOT, sagemakerTfs } from '../test-support.ts';

jest.setTimeout(240_000);

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

interface Request {
  readonly AppSpecification: { readonly ContainerArguments: readonly string[] };
  readonly ProcessingInputs: readonly { readonly S3Input: { readonly LocalPath: string } }[];
}

/** Starts a job; what SageMaker was asked for. */
async function start(model: object, ...more: string[]) {
  const requests: Request[] = [];
  const standIn = await startService((operation, input) => {
    if (operation === 'DescribeModel') return model;
    requests.push(input as Request);
    return { ProcessingJobArn: 'arn:aws:sagemaker:us-east-1:123456789012:processing-job/tiles' };
  });
  try {
    const outcome = await sagemakerTfs(
      [
        ...['batch', 'start', '--engine', 'processing', '--model-name', 'tiles', '--json'],
        ...['--input-uri', 's3://tiles/in/', '--output-uri', 's3://out/answers/'],
        ...['--content-type', 'application/json', ...more],
      ],
      {
        AWS_ENDPOINT_URL: standIn.url,
        AWS_REGION: 'us-east-1',
        AWS_ACCESS_KEY_ID: 'test',
        AWS_SECRET_ACCESS_KEY: 'test',
      },
    );
    return { ...outcome, requests };
  } finally {
    await standIn.close();
  }
}

test('the request is one that SageMaker takes, and its arguments make the image do the work', async () => {
  const { exitCode, requests } = await start(
    MODEL,
    ...['--instance-type', 'ml.g4dn.xlarge', '--instance-count', '4', '--key-suffix', '.json'],
    ...['--tag', 'team=maps', '--env', 'SAGEMAKER_TFS_LOG_LEVEL=warn'],
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
  const work = await mkdtemp(join(tmpdir(), 'processing-'));
  const s3 = await startGeneratedS3({
    tiles: {
      count: 50,
      keyOf: (index) => `in/${String(index).padStart(2, '0')}.json`,
      bodyOf: (index) => Buffer.from(`{"instances": [${index}]}`),
    },
  });
  try {
    // As SageMaker does: the archive of the model, alone in a folder of the machine.
    const folder = join(work, 'model');
    const archive = join(folder, 'model.tar.gz');
    const packaged = await sagemakerTfs([
      ...['package', fixtureModel('half_plus_two').basePath, '--out', archive, '--no-verify'],
    ]);
    expect(packaged.exitCode).toBe(0);
    const local = request.ProcessingInputs[0]?.S3Input.LocalPath as string;
    const args = request.AppSpecification.ContainerArguments.map((argument) =>
      argument.replace(local, folder),
    );
    expect(args.join(' ')).toContain(folder);
    const temporary = join(work, 'tmp');
    await mkdir(temporary);
    const image = spawn(process.execPath, [join(ROOT, 'container/dist/main.js'), ...args], {
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
    expect(status).toBe(0);
    expect((await readdir(temporary)).filter((name) => name.startsWith('worker-model-'))).toEqual(
      [],
    );
    const parts = [...(s3.stored.get('out') ?? [])].filter(([key]) => key.includes('/parts/'));
    const lines = parts.flatMap(([, { body }]) =>
      Buffer.from(body).toString().split('\n').filter(Boolean),
    );
    expect(lines.sort().at(-1)).toBe('{"key":"49.json","output":{"predictions":[27.5]}}');
    expect(lines).toHaveLength(50);
  } finally {
    await s3.close();
    await rm(work, { recursive: true, force: true });
  }
});

test('what a worker cannot do is refused before SageMaker is asked', async () => {
  const many = { ...MODEL, PrimaryContainer: { ...MODEL.PrimaryContainer, Mode: 'MultiModel' } };
  const refused = await start(many);
  expect([refused.exitCode, refused.requests]).toEqual([1, []]);
  expect(JSON.parse(refused.stdout)).toMatchObject({ code: 'MODEL_UNSUITABLE' });
  const usage = await start(MODEL, '--split-type', 'Line');
  expect([usage.exitCode, usage.requests]).toEqual([2, []]);
  expect(usage.stderr).toContain('--split-type cannot be given with --engine processing');
});
