/** The state machine of a `BatchTransform` from the command line: started on moto, followed on a stand-in. */
import { createHash } from 'node:crypto';
import { mkdtempSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CloudFormationClient, CreateStackCommand } from '@aws-sdk/client-cloudformation';
import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import {
  CreateStateMachineCommand,
  DescribeExecutionCommand,
  SFNClient,
} from '@aws-sdk/client-sfn';
import * as z from 'zod';
import { type Moto, startMoto, TEST_CREDENTIALS } from '../../../../test/rehearse/moto.ts';
import { sagemakerTfs } from '../test-support.ts';
import { type SageMakerStandIn, startService } from './sagemaker-stand-in.ts';

const BUCKET = 'tiles';
const EXECUTION = 'arn:aws:states:us-east-1:123456789012:execution:Machine:run-1';

const work = mkdtempSync(join(tmpdir(), 'batch-execution-'));
let moto: Moto;
let s3: S3Client;
let sfn: SFNClient;

beforeAll(async () => {
  Object.assign(process.env, TEST_CREDENTIALS);
  moto = await startMoto();
  s3 = new S3Client({ endpoint: moto.url, forcePathStyle: true });
  sfn = new SFNClient({ endpoint: moto.url });
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
});

afterAll(async () => {
  s3?.destroy();
  sfn?.destroy();
  await moto?.stop();
});

async function put(Key: string, body: unknown): Promise<void> {
  const Body = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
}

/** As the state machine names its jobs: `test/stacks/batch-run.test.ts` runs it. */
function nameOf(runId: string, call: string, execution = EXECUTION): string {
  return `stack-batch-${digits(runId, 8)}-${digits(execution, 12)}-${digits(call, 14)}`;
}

/** As those did that were deployed before. */
function formerNameOf(runId: string, call: string): string {
  return `stack-batch-${digits(runId, 8)}-${digits(call, 23)}`;
}

function digits(text: string, count: number): string {
  return createHash('sha256').update(text).digest('hex').slice(0, count);
}

describe('start', () => {
  let arn: string;
  const start = (...args: string[]) =>
    sagemakerTfs(['batch', 'start', ...args], { ...TEST_CREDENTIALS, AWS_ENDPOINT_URL: moto.url });
  const inputOf = async (stdout: string): Promise<unknown> => {
    const executionArn = (JSON.parse(stdout) as { execution: string }).execution;
    const { input = '' } = await sfn.send(new DescribeExecutionCommand({ executionArn }));
    return JSON.parse(input);
  };

  beforeAll(async () => {
    const machine = await sfn.send(
      new CreateStateMachineCommand({
        name: 'Tiles',
        roleArn: 'arn:aws:iam::123456789012:role/r',
        definition: JSON.stringify({ StartAt: 'A', States: { A: { Type: 'Succeed' } } }),
      }),
    );
    arn = machine.stateMachineArn ?? '';
    const cloudFormation = new CloudFormationClient({ endpoint: moto.url });
    await cloudFormation.send(
      new CreateStackCommand({
        StackName: 'tiles-batch',
        TemplateBody: JSON.stringify({
          Resources: { Topic: { Type: 'AWS::SNS::Topic' } },
          Outputs: { StateMachineArn: { Value: arn } },
        }),
      }),
    );
    cloudFormation.destroy();
  });

  test.each([
    ['ARN', () => arn],
    ['name', () => 'Tiles'],
    ['stack', () => 'tiles-batch'],
  ])('finds the machine by its %s; only what is given overrides its settings', async (by, name) => {
    const { stdout, exitCode } = await start('--state-machine', name(), '--job-name', by, '--json');
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ started: true, input: {} });
    expect(await inputOf(stdout)).toEqual({});
  });

  test('settings by the names of the machine, an inventory among them', async () => {
    const { stdout } = await start(
      ...['--state-machine', arn, '--inventory', 's3://lists/x/manifest.json'],
      ...['--key-suffix', '.jpg', '--objects-per-shard', '1000', '--run-id', 'tiles'],
      ...['--max-payload', '6', '--env', 'A=1', '--instance-count', '2', '--json'],
      ...['--fallback-instance-type', 'ml.g5.xlarge', '--fallback-instance-type', 'ml.c6i.xlarge'],
    );
    expect(await inputOf(stdout)).toEqual({
      inventoryUri: 's3://lists/x/manifest.json',
      keySuffix: '.jpg',
      objectsPerShard: 1_000,
      runId: 'tiles',
      maxPayloadInMB: 6,
      environment: { A: '1' },
      instanceCount: 2,
      fallbacks: [
        { instanceType: 'ml.g5.xlarge', transformAmiVersion: expect.stringMatching(/^al2/) },
        { instanceType: 'ml.c6i.xlarge', transformAmiVersion: '' },
      ],
    });
  });

  test('no fallbacks are no other types, also those of the machine', async () => {
    const { stdout } = await start('--state-machine', arn, '--no-fallbacks', '--json');
    expect(await inputOf(stdout)).toEqual({ fallbacks: [] });
  });

  test('a manifest is shown as one', async () => {
    const uri = 's3://tiles/output/_shards/r1/redrive.manifest';
    const { stdout } = await start('--state-machine', arn, '--input-uri', uri, '--json');
    expect(await inputOf(stdout)).toEqual({ inputUri: uri, dataType: 'ManifestFile' });
  });

  test.each([
    [['--state-machine', 'nobody'], 1, 'neither a state machine nobody'],
    [
      ['--state-machine', 'Tiles', '--model-name', 'm'],
      2,
      '--model-name cannot be given with --state-machine',
    ],
    [['--state-machine', 'Tiles', '--wait-for-instances', '5'], 2, 'Leave it out'],
    [['--state-machine', 'Tiles', '--instance-count', '101'], 2, 'Give 100 or fewer'],
    [['--state-machine', 'Tiles', '--missing-only'], 2, 'continues the run of its --run-id'],
    [['--no-fallbacks', '--fallback-instance-type', 'ml.g5.xlarge'], 2, 'say the opposite'],
    [['--inventory', 's3://lists/manifest.json'], 2, '--inventory needs --state-machine'],
    [['--model-name', 'm'], 2, 'Give --model-name, --input-uri and --output-uri'],
  ])('%j is refused', async (args, status, message) => {
    const { stderr, exitCode } = await start(...args);
    expect(exitCode).toBe(status);
    expect(stderr).toContain(message);
  });
});

describe('an execution is followed', () => {
  const SETTINGS = {
    inputUri: `s3://${BUCKET}/in/`,
    dataType: 'S3Prefix',
    inventoryUri: '',
    keySuffix: '',
    outputUri: `s3://${BUCKET}/out/`,
    accept: 'application/json',
    instanceType: 'ml.p3.2xlarge',
    instanceCount: 2,
    objectsPerShard: 2,
    runId: 'run-1',
  };
  const began = Math.floor(Date.now() / 1_000) - 7_200;
  let status: string;
  let settings: Record<string, unknown>;
  let standIn: SageMakerStandIn;
  let beforeItsFirstState: number;
  let since: number;
  /** Whether it has waited for another run, so that its beginning is on a later page of its history. */
  let waits: boolean;
  const exitOf = (name: string, output: object) => ({
    id: 3,
    type: 'PassStateExited',
    timestamp: began,
    stateExitedEventDetails: { name, output: JSON.stringify(output) },
  });

  beforeEach(async () => {
    status = 'RUNNING';
    beforeItsFirstState = 0;
    settings = SETTINGS;
    since = 0;
    waits = false;
    standIn = await startService((operation, input) => {
      switch (operation) {
        case 'DescribeExecution':
          return {
            executionArn: EXECUTION,
            status,
            startDate: began,
            ...(status !== 'RUNNING' && { stopDate: began + 3_600 }),
            ...(status === 'FAILED' && { error: 'Incomplete', cause: '1 of 3 inputs' }),
          };
        case 'GetExecutionHistory':
          // It has just been started: its first state comes a moment later.
          if (--beforeItsFirstState >= 0) return { events: [] };
          if (waits && !(input as { nextToken?: string }).nextToken) {
            return { events: [exitOf('Validate', { settings, errors: [] })], nextToken: 'later' };
          }
          return {
            events: [
              { id: 1, type: 'ExecutionStarted', timestamp: began },
              exitOf('Validate', { settings, errors: [] }),
              exitOf('Begin', { settings, begun: { since: { origin: since, run: 0 } } }),
            ],
          };
        case 'ListTransformJobs': {
          const { NameContains } = z.object({ NameContains: z.string() }).parse(input);
          const jobs = [
            { TransformJobName: nameOf('run-1', 'a'), from: 0 },
            { TransformJobName: formerNameOf('run-1', 'b'), from: 1_800 },
            { TransformJobName: nameOf('run-2', 'c'), from: 0 },
            { TransformJobName: formerNameOf('run-2', 'c'), from: 0 },
            { TransformJobName: nameOf('run-1', 'a', `${EXECUTION}0`), from: 0 },
            { TransformJobName: `x-${nameOf('run-1', 'd')}-by-hand`, from: 0 },
          ];
          return {
            TransformJobSummaries: jobs
              .filter(({ TransformJobName }) => TransformJobName.includes(NameContains))
              .map(({ TransformJobName, from }) => ({
                TransformJobName,
                CreationTime: began + from,
                TransformEndTime: began + from + 1_800,
              })),
          };
        }
        case 'StopExecution':
          status = 'ABORTED';
          return { stopDate: began + 3_600 };
        default:
          return {};
      }
    });
  });
  afterEach(() => standIn.close());

  const run = (...args: string[]) =>
    sagemakerTfs(['batch', ...args], {
      ...TEST_CREDENTIALS,
      AWS_ENDPOINT_URL: moto.url,
      AWS_ENDPOINT_URL_SFN: standIn.url,
      AWS_ENDPOINT_URL_SAGEMAKER: standIn.url,
    });

  beforeAll(async () => {
    for (const key of ['a.jpg', 'b c.jpg', 'd.jpg']) await put(`in/${key}`, 'x');
    for (const key of ['a.jpg', 'b c.jpg', 'gone.jpg']) await put(`out/${key}.out`, '{}');
    const prefix = `s3://${BUCKET}/in/`;
    // Shards are in no order.
    await put('out/_shards/run-1/planned/000000.manifest', [{ prefix }, 'e.jpg']);
    await put('out/_shards/run-1/planned/000001.manifest', [{ prefix }, 'a.jpg', 'b c.jpg']);
    await put('out/_shards/run-1/planned.json', { shards: 2, inputs: 3 });
  });

  test('watch counts its objects, its jobs are what it costs', async () => {
    beforeItsFirstState = 1;
    const { stdout } = await run('watch', EXECUTION, '--once', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'InProgress',
      total: 3,
      // Two jobs of half an hour with two instances.
      instanceHours: 2,
      costUsd: 7.65,
    });
    expect(standIn.calls).toContain('ListTransformJobs');
  });

  test('watch tells failures by their reason, and the cost against the budget of the run', async () => {
    settings = { ...SETTINGS, budgetInstanceHours: 20 };
    const reports = [
      { missing: 4, refused: 1, reason: 'AlgorithmError: bad picture' },
      { missing: 2, refused: 0, reason: 'AlgorithmError: bad picture' },
      // Its job has not ended.
      { missing: 1_000, refused: 3 },
    ];
    for (const [shard, report] of reports.entries()) {
      await put(`out/_shards/run-1/reports/00000${shard}.json`, report);
    }
    const { stdout } = await run('watch', EXECUTION, '--once', '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      failures: {
        'AlgorithmError: bad picture': 6,
        'refused before a job: dead-letters/ has the reasons': 4,
      },
      costUsd: 7.65,
      budgetUsd: 76.5,
    });
    const told = await run('watch', EXECUTION, '--once', '--budget', '10');
    expect(told.stdout).toContain('$7.65 of $10.00 (77%)');
    expect(told.stdout).toContain('6 failed: AlgorithmError: bad picture');
  });

  test('a failed execution is reported with its reason', async () => {
    status = 'FAILED';
    const { stdout, exitCode } = await run('watch', EXECUTION, '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      status: 'Failed',
      failureReason: '1 of 3 inputs',
      error: expect.stringContaining('--run-id'),
    });
  });

  test('verify compares its prefixes, and the shards where they were made of an inventory', async () => {
    status = 'SUCCEEDED';
    const redrive = join(work, 'redrive.manifest');
    const verify = () => run('verify', EXECUTION, '--redrive', redrive, '--json');
    expect(JSON.parse((await verify()).stdout)).toMatchObject({
      inputs: 3,
      firstMissing: ['d.jpg'],
      orphans: 1,
      firstOrphans: ['gone.jpg'],
    });
    settings = { ...SETTINGS, inventoryUri: 's3://lists/manifest.json' };
    expect(JSON.parse((await verify()).stdout)).toMatchObject({
      inputs: 3,
      firstMissing: ['e.jpg'],
    });
    expect(JSON.parse(await readFile(redrive, 'utf8'))).toEqual([
      { prefix: `s3://${BUCKET}/in/` },
      'e.jpg',
    ]);
    const watched = await run('watch', EXECUTION, '--json');
    expect(JSON.parse(watched.stdout)).toMatchObject({ status: 'Completed', total: 3, done: 3 });
  });

  test('outputs of another model do not count, for watch and verify alike', async () => {
    status = 'SUCCEEDED';
    settings = { ...SETTINGS, existing: 'older' };
    const redrive = join(work, 'stale.manifest');
    const counts = async () => {
      const verified = await run('verify', EXECUTION, '--redrive', redrive, '--json');
      const watched = await run('watch', EXECUTION, '--json');
      return { ...JSON.parse(verified.stdout), watched: JSON.parse(watched.stdout).done };
    };
    expect(await counts()).toMatchObject({ inputs: 3, done: 2, missing: 1, stale: 0, watched: 3 });
    since = Date.now() + 86_400_000;
    const none = { inputs: 3, done: 0, missing: 3, stale: 2, watched: 0 };
    expect(await counts()).toMatchObject(none);
    waits = true;
    expect(await counts()).toMatchObject(none);
  });

  test('fetch and stop', async () => {
    const file = join(work, 'all.ndjson');
    expect((await run('fetch', EXECUTION, '--out', file)).exitCode).toBe(0);
    expect((await readFile(file, 'utf8')).trimEnd().split('\n')).toHaveLength(3);
    const { stdout } = await run('stop', EXECUTION, '--json');
    expect(JSON.parse(stdout)).toEqual({ job: EXECUTION, status: 'Stopped' });
    expect(standIn.calls).toContain('StopExecution');
    expect(standIn.calls).not.toContain('StopTransformJob');
  });
});
