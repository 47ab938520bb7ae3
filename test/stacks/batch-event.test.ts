/** What starts a run: an event that AWS delivers twice, and a name or places that would make a run do the wrong work. */
import { DEFAULT_SETTINGS } from '@sagemaker-tfs/batch/settings';
import { Schedule } from 'aws-cdk-lib/aws-events';
import { execute, type Service, StateError } from './asl.ts';
import {
  batchTemplate,
  DESCRIBE,
  functionOn,
  type Job,
  machineOf,
  writeOutputs,
} from './batch-machine.ts';
import { putInputs, type S3StandIn, startS3ForSdk } from './s3-stand-in.ts';

jest.setTimeout(60_000);

const template = batchTemplate(() => ({
  sharding: { objectsPerShard: 3, maxConcurrentJobs: 2 },
  schedule: Schedule.expression('rate(1 day)'),
  runOnDeploy: true,
  startOnManifest: '.manifest',
}));
const machine = machineOf(template);
const MANIFEST = 's3://data/input/in.manifest';

let s3: S3StandIn;
beforeEach(async () => {
  s3 = await startS3ForSdk(50);
  putInputs(s3, ['2024/a.jpg', '2024/b.jpg', '2025/c.jpg']);
  const manifest = [{ prefix: 's3://data/input/' }, '2024/a.jpg', '2024/b.jpg'];
  s3.objects.set('data/input/in.manifest', Buffer.from(JSON.stringify(manifest)));
});
afterEach(() => s3.close());

/** How executions of these names have ended; others run. */
let ended: Record<string, string>;
beforeEach(() => {
  ended = {};
});

/** What Step Functions says of an execution. */
function describeExecution({ ExecutionArn }: { readonly ExecutionArn: string }): object {
  const Status = ended[ExecutionArn.split(':').at(-1) ?? ''] ?? 'RUNNING';
  if (Status.endsWith('Exception')) throw new StateError(`Sfn.${Status}`, 'no permission');
  return { Status };
}

/** Runs an execution of this name. */
async function start(name: string, input: object) {
  const jobs: Job[] = [];
  const service: Service = (resource, args) => {
    if (resource === DESCRIBE) return { TransformJobStatus: 'Completed' };
    if (resource.endsWith('describeExecution')) {
      return describeExecution(args as { ExecutionArn: string });
    }
    if (!resource.endsWith('createTransformJob')) return functionOn(s3)(resource, args);
    jobs.push(args as Job);
    const { S3DataType } = (args as Job).TransformInput.DataSource.S3DataSource;
    if (S3DataType === 'ManifestFile') writeOutputs(s3)(args as Job);
    return { TransformJobArn: 'arn:aws:sagemaker:x:1:transform-job/job' };
  };
  const Id = `arn:aws:states:us-east-1:111111111111:execution:nightly:${name}`;
  const output = await execute(machine, input, service, { Execution: { Name: name, Id } }).catch(
    (error: unknown) => {
      if (error instanceof StateError) return error;
      throw error;
    },
  );
  return { jobs, output, Id };
}

describe.each([
  ['without shards', 0],
  ['in shards', 3],
])('a run %s', (_, objectsPerShard) => {
  const upload = (event: string) => ({
    dataType: 'ManifestFile',
    inputUri: MANIFEST,
    objectsPerShard,
    event,
  });

  test('whose event comes twice works once', async () => {
    const first = await start('first', upload('617f'));
    expect(first.jobs.length).toBeGreaterThan(0);
    const second = await start('second', upload('617f'));
    expect(second).toMatchObject({ jobs: [], output: { repeats: first.Id } });
  });

  test('of another upload works again', async () => {
    await start('first', upload('617f'));
    const { output } = await start('second', upload('618a'));
    expect(output).not.toHaveProperty('repeats');
    expect(output).not.toBeInstanceOf(StateError);
  });

  test('that is tried again by itself, or has no event, is no repetition', async () => {
    await start('first', upload('617f'));
    expect((await start('first', upload('617f'))).output).not.toHaveProperty('repeats');
    expect((await start('second', upload(''))).output).not.toHaveProperty('repeats');
  });

  test.each(['SUCCEEDED', 'PENDING_REDRIVE'])(
    'whose event comes twice works once, though the first is %s',
    async (status) => {
      const first = await start('first', upload('617f'));
      ended.first = status;
      const second = await start('second', upload('617f'));
      expect(second).toMatchObject({ jobs: [], output: { repeats: first.Id } });
    },
  );

  test.each(['FAILED', 'TIMED_OUT', 'ABORTED', 'ExecutionDoesNotExistException'])(
    'whose first execution is %s works in the next one, and in no third',
    async (status) => {
      await start('first', upload('617f'));
      for (const path of [...s3.objects.keys()]) {
        if (/^data\/output\/20/.test(path)) s3.objects.delete(path);
      }
      ended.first = status;
      const second = await start('second', upload('617f'));
      expect(second.jobs.length).toBeGreaterThan(0);
      expect(second.output).not.toHaveProperty('repeats');
      expect(second.output).not.toBeInstanceOf(StateError);
      const third = await start('third', upload('617f'));
      expect(third).toMatchObject({ jobs: [], output: { repeats: second.Id } });
      // One that is redriven at its first state has lost the event.
      const again = await start('first', upload('617f'));
      expect(again).toMatchObject({ jobs: [], output: { repeats: second.Id } });
    },
  );

  test('whose first execution cannot be looked at says so', async () => {
    const first = await start('first', upload('617f'));
    ended.first = 'AccessDeniedException';
    const { output, jobs } = await start('second', upload('617f'));
    expect(jobs).toEqual([]);
    expect(output).toMatchObject({
      error: 'BeginFailed',
      cause: `another execution has the event 617f: ${first.Id}, which cannot be looked at: no permission. If it has failed, start again with an input without event`,
    });
  });

  test('whose first execution is of another region says so', async () => {
    const first = await start('first', upload('617f'));
    for (const [path, body] of s3.objects) {
      if (!path.includes('/events/')) continue;
      s3.objects.set(path, Buffer.from(String(body).replace('us-east-1', 'eu-west-1')));
    }
    const { output, jobs } = await start('second', upload('617f'));
    expect(jobs).toEqual([]);
    expect(output).toMatchObject({
      error: 'BeginFailed',
      cause: expect.stringContaining(
        `${first.Id.replace('us-east-1', 'eu-west-1')}, which cannot be looked at: region eu-west-1 is another one`,
      ),
    });
  });

  test('whose event comes again while the first one works does not fail', async () => {
    await start('first', upload('617f'));
    const holder = 'arn:aws:states:us-east-1:111111111111:execution:nightly:third';
    s3.objects.set(
      'data/output/_shards/lease.json',
      Buffer.from(JSON.stringify({ execution: holder })),
    );
    expect((await start('second', upload('617f'))).output).toHaveProperty('repeats');
  });
});

test('every rule names its event', () => {
  const rules = Object.values(template.findResources('AWS::Events::Rule')).flatMap(
    ({ Properties }) =>
      Properties.Targets as { RoleArn?: unknown; InputTransformer?: { InputTemplate: string } }[],
  );
  const starts = rules.filter(({ InputTransformer }) => InputTransformer);
  expect(starts).toHaveLength(3);
  for (const { InputTransformer } of starts) {
    expect(InputTransformer?.InputTemplate).toMatch(
      /"event":(<time>|"<detail-object-sequencer> <time>")/,
    );
  }
});

test('a run of more shards than a map can add up ends before they are paid for', async () => {
  const { handler } = await import('../../lib/batch/handler/index.ts');
  const settings = {
    ...DEFAULT_SETTINGS,
    inputUri: 's3://data/input/2024/',
    outputUri: 's3://data/output/',
    contentType: 'image/jpeg',
    runId: 'r1',
    minutesPerShard: 0,
  };
  const plan = (shards: number) =>
    handler(
      {
        action: 'plan',
        settings: { ...settings, objectsPerShard: 1 },
        since: { origin: 0, run: 0 },
        position: { shards, after: '', inputs: 0 },
      },
      { getRemainingTimeInMillis: () => 900_000 },
    );
  await expect(plan(80_000 - 1)).rejects.toMatchObject({
    code: 'TOO_MANY_SHARDS',
    message: expect.stringContaining('objectsPerShard'),
  });
  expect(await plan(80_000 - 2)).toMatchObject({ planned: true });
  // 256 KiB of a state's output.
  expect(JSON.stringify(Array(80_000).fill({})).length).toBeLessThan(256 * 1024);
});

describe('a name that a run has already', () => {
  const of = (inputUri: string, more: object = {}) => ({ runId: 'tiles', inputUri, ...more });

  test.each<[string, object]>([
    ['another prefix', of('s3://data/input/2025/')],
    ['another ending', of('s3://data/input/2024/', { keySuffix: '.jpg' })],
    ['a manifest', of(MANIFEST, { dataType: 'ManifestFile' })],
  ])('is refused with %s, before anything is paid or written', async (_, other) => {
    await start('first', of('s3://data/input/2024/'));
    const before = new Map(Array.from(s3.objects, ([path, bytes]) => [path, String(bytes)]));
    const { jobs, output } = await start('second', other);
    expect(output).toMatchObject({
      error: 'InvalidInput',
      cause: expect.stringMatching(
        /^runId: 'tiles' is that of a run with other inputs, whose \S+ is/,
      ),
    });
    expect(jobs).toEqual([]);
    expect(new Map(Array.from(s3.objects, ([path, bytes]) => [path, String(bytes)]))).toEqual(
      before,
    );
  });

  test('continues with the same inputs, whatever the size of its shards', async () => {
    await start('first', of('s3://data/input/2024/'));
    const { jobs, output } = await start(
      'second',
      of('s3://data/input/2024/', { objectsPerShard: 9 }),
    );
    expect(output).toMatchObject({ inputs: 2, done: 2 });
    expect(jobs).toEqual([]);
  });

  test('is no matter for a run that an earlier release began', async () => {
    await start('first', of('s3://data/input/2024/'));
    s3.objects.set('data/output/_shards/tiles/begun.json', Buffer.from('{"execution":"x"}'));
    expect((await start('second', of('s3://data/input/2024/'))).output).toMatchObject({ done: 2 });
  });
});

test.each<[string, string, object]>([
  ['the same', 's3://data/output/', {}],
  ['below', 's3://data/output/two/', {}],
  ['the same, without its slash', 's3://data/output', {}],
])(
  'outputs that lie among the inputs of a job without shards are refused: %s',
  async (_, outputUri, more) => {
    const input = { inputUri: 's3://data/output/', outputUri, objectsPerShard: 0, ...more };
    const { jobs, output } = await start('first', input);
    expect(output).toMatchObject({
      error: 'InvalidInput',
      cause: expect.stringContaining('outputUri: it lies below'),
    });
    expect(jobs).toEqual([]);
  },
);

test.each<[string, object]>([
  ['beside', { inputUri: 's3://data/input/', outputUri: 's3://data/input-2/' }],
  ['above', { inputUri: 's3://data/output/two/', outputUri: 's3://data/output/' }],
  ['of a manifest', { inputUri: MANIFEST, dataType: 'ManifestFile' }],
])('other outputs are not: %s', async (_, places) => {
  const { output } = await start('first', { objectsPerShard: 0, ...places });
  expect(output).not.toBeInstanceOf(StateError);
});
