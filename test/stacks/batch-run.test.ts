/** Sharded runs that go wrong, executed: failures are injected into SageMaker, Lambda and S3. */
import { isJobOf, runMark } from '@sagemaker-tfs/batch';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import type { PendingResult, ShardRequest } from '../../lib/batch/handler/index.ts';
import { jobsContinue } from '../../lib/testing/parts.ts';
import { type Service, StateError } from './asl.ts';
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

// A network that never answers is asked hundreds of times, and every question is an expression that is evaluated.
jest.setTimeout(300_000);

const DAY = 86_400_000;
const machine = machineOf(
  batchTemplate(() => ({ sharding: { objectsPerShard: 3, maxConcurrentJobs: 2 } })),
);
const otherModel = JSON.parse(
  JSON.stringify(machine).replace(/ModelName(?=[^:]{0,9}\\", \\"execution)/g, 'OtherModel'),
) as object;

let s3: S3StandIn;
beforeEach(async () => {
  s3 = await startS3ForSdk(50);
});
afterEach(() => s3.close());

const NAMES = ['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg', 'e/ü 1.jpg'];

function put(name: string, body: Buffer = Buffer.from(name)): void {
  s3.objects.set(`data/input/${name}`, body);
  s3.modified.set(`data/input/${name}`, s3.now);
}

/** Keys that jobs were started for. */
function sentTo(jobs: readonly Job[]): string[] {
  return jobs.flatMap(({ TransformInput }) => {
    const { S3Uri } = TransformInput.DataSource.S3DataSource;
    const manifest = String(s3.objects.get(S3Uri.replace('s3://', '')));
    return (JSON.parse(manifest) as unknown[]).slice(1) as string[];
  });
}

const aws: Service = (resource, args) => functionOn(s3)(resource, args);
let number = 0;
/** A run of its own a day later, unless it is named. */
function later(of: object, input: object = {}, transform = writeOutputs(s3), service = aws) {
  s3.now += DAY;
  return run(of, { runId: `r${number++}`, ...input }, transform, anyEnded(service));
}

/** Executions that hold a lease have ended. */
function anyEnded(service: Service): Service {
  return (resource, args) =>
    resource.endsWith('describeExecution') ? { Status: 'FAILED' } : service(resource, args);
}

function failing(FailureReason: string) {
  return () => {
    throw failed(FailureReason);
  };
}

describe('which outputs count', () => {
  beforeEach(() => {
    for (const name of NAMES) put(name);
  });

  test('the same model and settings: nothing is done twice', async () => {
    expect((await later(machine)).jobs).toHaveLength(2);
    expect(await later(machine)).toMatchObject({ jobs: [], output: { done: NAMES.length } });
    const other = { maxConcurrentTransforms: 1, instanceCount: 1 };
    expect((await later(machine, other)).jobs).toEqual([]);
  });

  test.each<[string, () => ReturnType<typeof later>]>([
    ['another model', () => later(otherModel)],
    ['another Accept', () => later(machine, { accept: 'text/csv' })],
    ['another environment', () => later(machine, { environment: { A: '1' } })],
  ])('%s makes every output again', async (_, again) => {
    expect(sentTo((await later(machine)).jobs).sort()).toEqual(NAMES);
    const { jobs, output } = await again();
    expect(sentTo(jobs).sort()).toEqual(NAMES);
    expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
  });

  test('outputs that nobody signed are made again, unless existing is skip', async () => {
    for (const name of NAMES) s3.objects.set(`data/output/${name}.out`, Buffer.from('old'));
    for (const name of NAMES) s3.modified.set(`data/output/${name}.out`, s3.now);
    expect(await later(machine, { existing: 'skip' })).toMatchObject({ jobs: [] });
    // What a run has skipped is no run's own.
    expect(sentTo((await later(machine)).jobs).sort()).toEqual(NAMES);
  });

  test('existing: skip takes the outputs of any model', async () => {
    await later(machine);
    expect((await later(otherModel, { existing: 'skip' })).jobs).toEqual([]);
  });

  test('existing: replace makes all again, but a run that continues keeps its own', async () => {
    await later(machine);
    const again = { existing: 'replace', runId: 'again' };
    const first = await later(machine, again, writeOutputs(s3, ['b.jpg']));
    expect(first.output).toMatchObject({
      error: 'Incomplete',
      cause: expect.stringContaining('1 of 5 inputs'),
    });
    expect(sentTo((await later(machine, again)).jobs)).toEqual(['b.jpg']);
  });

  test('an input that is newer than its output is done again', async () => {
    await later(machine);
    s3.now += DAY;
    put('c.jpg', Buffer.from('new'));
    expect(sentTo((await later(machine)).jobs)).toEqual(['c.jpg']);
  });
});

describe('inputs that no job can answer', () => {
  test('are listed before a cent is spent; deleted ones are no inputs any more', async () => {
    for (const name of NAMES) put(name);
    put('empty.jpg', Buffer.alloc(0));
    put('large.jpg', Buffer.alloc(1024 * 1024 + 1));
    put(`${'long'.repeat(253)}.jpg`);
    await later(machine, { runId: 'r' }, failing('CannotStartContainerError'));
    s3.objects.delete('data/input/a.jpg');
    const { jobs, output } = await later(machine, { runId: 'r' });
    expect(sentTo(jobs).sort()).toEqual(NAMES.slice(1));
    expect(output).toMatchObject({
      error: 'Incomplete',
      cause: expect.stringContaining('3 of 7 inputs have no output; no job can answer them'),
    });
    const letters = [...s3.objects].filter(([path]) => path.includes('/dead-letters/'));
    const reasons = letters.flatMap(([, body]) => String(body).trim().split('\n'));
    expect(reasons.map((line) => (JSON.parse(line) as { reason: string }).reason).sort()).toEqual([
      'it is empty',
      'its 1048577 bytes are over maxPayloadInMB (1)',
      'the key of its output would have more than 1024 bytes',
    ]);
  });
});

describe('failures', () => {
  beforeEach(() => {
    for (const name of NAMES) put(name);
  });

  test.each([
    'CapacityError: Unable to provision requested ML compute capacity. Please retry using a different ML instance type.',
    'InternalServerError: We encountered an internal error. Please try again.',
  ])('%s is waited for, and costs no attempt', async (reason) => {
    let refused = 5;
    const { jobs, output } = await later(machine, {}, (job) =>
      refused-- > 0 ? failing(reason)() : writeOutputs(s3)(job),
    );
    expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
    expect(jobs).toHaveLength(7);
  });

  test('capacity that never comes leaves the shards to another run', async () => {
    const { output } = await later(machine, {}, failing('CapacityError: no'));
    expect(output).toMatchObject({ error: 'Incomplete' });
  });

  test.each([
    'AlgorithmError: Model container failed to respond to ping. Please ensure /ping endpoint is implemented and responds with an HTTP 200 status code',
    'ClientError: Failed to download model data from S3',
    'ClientError: role/serving is not authorized to perform: ec2:CreateNetworkInterface on resource: subnet/subnet-1',
  ])('a model that cannot run is paid for once: %s', async (reason) => {
    const { jobs, output } = await later(machine, {}, failing(reason));
    expect(jobs).toHaveLength(1);
    expect(output).toMatchObject({ error: 'CannotRun', cause: reason });
  });

  test('a job that SageMaker refuses to make stops the run', async () => {
    const { jobs, output } = await later(machine, {}, () => {
      throw refused('Could not find model "digits"');
    });
    expect(jobs).toHaveLength(1);
    expect(output).toMatchObject({ error: 'CannotRun', cause: 'Could not find model "digits"' });
  });

  test('too many failures stop the run after the first shard', async () => {
    const { jobs, output } = await later(machine, {}, writeOutputs(s3, NAMES));
    expect(jobs).toHaveLength(1);
    expect(output).toMatchObject({
      error: 'TooManyFailures',
      cause: expect.stringMatching(/^100% of the inputs of shard .*: cannot decode a.jpg,/),
    });
  });

  test('with maxFailurePercent 100 failures stop nothing', async () => {
    const settings = { maxFailurePercent: 100 };
    const { jobs, output } = await later(machine, settings, writeOutputs(s3, NAMES));
    expect(jobs).toHaveLength(2);
    expect(output).toMatchObject({ error: 'Incomplete' });
  });

  test('what the shards leave is mopped up by one job on one instance', async () => {
    const left = ['a.jpg', 'd.jpg'];
    const { jobs, output } = await later(machine, {}, (job) =>
      writeOutputs(s3, job.TransformResources.InstanceCount === 1 ? [] : left)(job),
    );
    expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
    expect(jobs).toHaveLength(3);
    expect(sentTo(jobs.slice(2))).toEqual(left);
  });

  describe('reasons of single inputs', () => {
    const BAD = ['a.jpg', 'd.jpg', 'e/ü 1.jpg'];
    /** As SageMaker's agent logs, among what the container logs. */
    const logged = (key: string, ...texts: string[]) =>
      texts.map((text) => `2026-01-01T00:00:00.000:[sagemaker logs]: data/input/${key}: ${text}`);
    const LINES = [
      '2026-01-01T00:00:00.000:[sagemaker logs]: MaxConcurrentTransforms=64, MaxPayloadInMB=1',
      '{"level":"warn","msg":"invocation refused"}',
      '{"level":"warn"}',
      '{"level":"warn"}',
      ...logged('a.jpg', 'ClientError: 400', '', 'Message:'),
      ...logged('a.jpg', '{"error":"not a picture: bad.","code":"IMAGE_UNREADABLE"}'),
      ...logged('d.jpg', 'ClientError: 413', '', 'Message:', 'too', 'large: really'),
      // The next try, which says the same.
      ...logged('d.jpg', 'ClientError: 413', '', 'Message:', 'too', 'large: really'),
    ];
    const tries = { maxFailurePercent: 100, runId: 'logged' };

    function letters(): unknown[] {
      const files = [...s3.objects].filter(([path]) => path.includes('/logged/dead-letters/'));
      return files.flatMap(([, body]) =>
        String(body)
          .split('\n')
          .filter((line) => line !== '')
          .map((line) => JSON.parse(line) as unknown),
      );
    }

    /** Runs with these lines in the log of every shard's job, and others in that of the last. */
    function logging(lines: readonly string[], last: readonly string[], left = BAD) {
      return later(machine, tries, (job) => {
        const isLast = job.TransformResources.InstanceCount === 1;
        s3.logs.set(job.TransformJobName, isLast ? last : lines);
        writeOutputs(s3, isLast ? left : BAD)(job);
      });
    }

    test("are those of the jobs' logs, page by page, though they are throttled", async () => {
      let refused = 3;
      s3.fail = (method) =>
        method === 'LOGS' && refused-- > 0 ? 'ThrottlingException' : undefined;
      const last = logged('a.jpg', 'ClientError: 415', 'Message:', 'another');
      const { output } = await logging(LINES, last);
      expect(output).toMatchObject({ error: 'Incomplete' });
      expect(letters()).toEqual([
        { key: 'a.jpg', status: 415, reason: 'another' },
        { key: 'd.jpg', status: 413, reason: 'too\nlarge: really' },
        { key: 'e/ü 1.jpg', reason: 'cannot decode d.jpg,e/ü 1.jpg' },
      ]);
      expect(s3.calls.LOGS).toBeLessThan(20);
    });

    test('have the code of the runtime, and what is answered in the end has none', async () => {
      await logging(LINES, [], ['a.jpg']);
      expect(letters()).toEqual([
        { key: 'a.jpg', code: 'IMAGE_UNREADABLE', status: 400, reason: 'not a picture: bad.' },
      ]);
      const report = String(s3.objects.get('data/output/_shards/logged/reports/000000.json'));
      expect(JSON.parse(report)).toMatchObject({ codes: { IMAGE_UNREADABLE: 1 } });
    });

    test('a log that may not be read leaves the reason of the job, and says so', async () => {
      s3.fail = (method) => (method === 'LOGS' ? 'AccessDeniedException' : undefined);
      await logging(LINES, LINES, ['a.jpg']);
      expect(letters()).toEqual([{ key: 'a.jpg', reason: 'cannot decode a.jpg' }]);
      const reasons = String(s3.objects.get('data/output/_shards/logged/redrive-reasons.json'));
      expect(JSON.parse(reasons)).toMatchObject([
        { missing: 1, logCut: expect.stringContaining('AccessDeniedException') },
      ]);
    });
  });

  test('late lack of capacity: the next type is tried, the last job waits, and no input is to blame', async () => {
    const full = failing('CapacityError: Unable to provision requested ML compute capacity.');
    const types: unknown[] = [];
    let refusedLast = 9;
    const { output } = await later(machine, {}, (job) => {
      const { InstanceCount, InstanceType } = job.TransformResources;
      types.push(InstanceType);
      // The first shard has its instances, and leaves one input; those that come later wait for theirs.
      if (InstanceCount === 1) return refusedLast-- > 0 ? full() : writeOutputs(s3)(job);
      return types.length === 2 ? full() : writeOutputs(s3, ['a.jpg'])(job);
    });
    expect(types.slice(0, 3)).toEqual(['ml.p3.2xlarge', 'ml.p3.2xlarge', 'ml.g5.2xlarge']);
    // Each type in turn, again and again.
    expect(types).toHaveLength(3 + 10);
    expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
  });

  test('a run over its budget starts no more jobs', async () => {
    const hour = { TransformStartTime: 1_700_000_000_000, TransformEndTime: 1_700_003_600_000 };
    const { jobs, output } = await later(machine, { budgetInstanceHours: 2 }, (job) => {
      writeOutputs(s3)(job);
      return { ...hour, TransformResources: { InstanceCount: 2 } };
    });
    expect(jobs).toHaveLength(1);
    expect(output).toMatchObject({ error: 'OverBudget', cause: expect.stringContaining('its 2') });
    // The function that stops jobs decides by it.
    expect(jobsContinue(String((output as { error: unknown }).error))).toBe(true);
  });

  test('a reason that cannot be kept for long keeps no run going', async () => {
    let calls = 0;
    const throttled: Service = (resource, args) => {
      if ((args as { Payload?: ShardRequest }).Payload?.action !== 'stop')
        return aws(resource, args);
      calls++;
      throw new StateError('Lambda.TooManyRequestsException', 'Rate exceeded');
    };
    const fault = failing('ClientError: Failed to download model data from S3');
    const { output } = await later(machine, {}, fault, throttled);
    expect(output).toMatchObject({ error: 'ShardsFailed' });
    expect(calls).toBe(7);
  });

  test('the function that fails after a good job loses nothing', async () => {
    let jobsDone = 0;
    let failures = 0;
    const unlucky: Service = (resource, args) => {
      const { Payload } = args as { Payload?: ShardRequest };
      if (Payload?.action === 'pending' && jobsDone > 0 && Payload.last) {
        failures++;
        throw new StateError('Lambda.Unknown', 'Task timed out after 900.00 seconds');
      }
      return aws(resource, args);
    };
    const { output } = await later(
      machine,
      {},
      (job) => {
        jobsDone++;
        return writeOutputs(s3)(job);
      },
      unlucky,
    );
    expect(failures).toBeGreaterThan(6);
    expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
  });

  test.each([
    ['SlowDown', 1],
    ['Lambda.Unknown', 1],
    ['Runtime.OutOfMemory', 1],
    ['TimeoutError', 1],
    ['Error', 1],
    // While other functions of the account take all of its concurrency.
    ['Lambda.TooManyRequestsException', 50],
  ])('%s is tried again, %d times', async (error, times) => {
    const failed = new Map<string, number>();
    const flaky: Service = (resource, args) => {
      const action = (args as { Payload?: ShardRequest }).Payload?.action;
      const before = failed.get(action ?? '') ?? 0;
      if (action !== undefined && before < times) {
        failed.set(action, before + 1);
        throw new StateError(error, 'try again');
      }
      return aws(resource, args);
    };
    const { output } = await later(machine, {}, writeOutputs(s3), flaky);
    expect([...failed.keys()].sort()).toEqual(['begin', 'pending', 'plan', 'release', 'summary']);
    expect(output).toMatchObject({ missing: 0 });
  });

  /** An inventory of the inputs. */
  function putInventory(): string {
    const key = 'lists/keys.csv';
    const rows = NAMES.map((name) => `"data","${encodeURIComponent(`input/${name}`)}"`);
    s3.objects.set(`data/${key}`, Buffer.from(rows.join('\n')));
    const manifest = {
      ...{ sourceBucket: 'data', destinationBucket: 'arn:aws:s3:::data', fileFormat: 'CSV' },
      ...{ fileSchema: 'Bucket, Key', files: [{ key }] },
    };
    s3.objects.set('data/lists/manifest.json', Buffer.from(JSON.stringify(manifest)));
    return 's3://data/lists/manifest.json';
  }

  test('a connection that breaks once within each object or listing of S3 loses nothing', async () => {
    const cut = new Set<string>();
    s3.fail = (method, path) => {
      if (method === 'PUT' || cut.has(path)) return undefined;
      cut.add(path);
      return 'cut';
    };
    const inventoryUri = putInventory();
    for (const input of [{ existing: 'replace' }, { existing: 'replace', inventoryUri }]) {
      const { jobs, output } = await later(machine, input);
      expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
      expect(sentTo(jobs).sort()).toEqual(NAMES);
    }
    expect([...cut]).toEqual(
      expect.arrayContaining([expect.stringContaining('.manifest'), 'data/lists/keys.csv']),
    );
  });

  test.each(['a listing', 'an inventory'])(
    'connections that keep breaking cost calls of the function, and no run: %s',
    async (source) => {
      const input = source === 'an inventory' ? { inventoryUri: putInventory() } : {};
      process.env.AWS_MAX_ATTEMPTS = '1';
      try {
        const left = new Map<string, number>();
        s3.fail = (method, path) => {
          // A call is made six times again, so not every object that it reads can be cut twice.
          const more = left.get(path) ?? (path.endsWith('.checksum') ? 0 : 2);
          if (method !== 'GET' || more === 0) return undefined;
          left.set(path, more - 1);
          return 'cut';
        };
        const { output } = await later(machine, { existing: 'replace', ...input });
        expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
      } finally {
        delete process.env.AWS_MAX_ATTEMPTS;
      }
    },
  );

  test('the function continues where its time ran out, in every action', async () => {
    const hurried = functionOn(s3, () => 0);
    const { jobs, output } = await later(machine, {}, writeOutputs(s3), hurried);
    expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
    expect(sentTo(jobs).sort()).toEqual(NAMES);
  });
});

describe('calls without an answer', () => {
  beforeEach(() => {
    for (const name of NAMES) put(name);
  });

  const lost = () =>
    refused('Unable to execute HTTP request: Connection reset by peer', 'SdkClientException');

  test('a job that was not made is made later', async () => {
    let calls = 0;
    const { jobs, output } = await later(machine, {}, (job) => {
      calls += 1;
      if (calls % 2 === 1) throw lost();
      return writeOutputs(s3)(job);
    });
    expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
    expect(new Set(jobs.map(({ TransformJobName }) => TransformJobName)).size).toBe(2);
  });

  test('the names of jobs tell their run and its execution to the command', async () => {
    const own = 'arn:execution';
    const { jobs } = await later(machine, { runId: 'night-7' }, writeOutputs(s3));
    const names = jobs.map(({ TransformJobName }) => TransformJobName);
    expect(names.length).toBeGreaterThan(0);
    for (const name of names) {
      expect(isJobOf('night-7', own, name)).toBe(true);
      expect(isJobOf('night-8', own, name)).toBe(false);
      expect(isJobOf('night-7', 'arn:other', name)).toBe(false);
      expect(name).toContain(runMark('night-7'));
    }
  });

  test.each(['sharded', 'single'])('a job that was made is not made twice: %s', async (kind) => {
    const made = new Set<string>();
    const settings = kind === 'single' ? { objectsPerShard: 0 } : {};
    const { output } = await later(machine, settings, (job) => {
      const { TransformJobName } = job;
      if (made.has(TransformJobName)) {
        throw refused('Job name must be unique within an AWS account and region', 'ResourceInUse');
      }
      made.add(TransformJobName);
      if (kind === 'sharded') writeOutputs(s3)(job);
      throw lost();
    });
    expect(output).not.toBeInstanceOf(StateError);
    expect(made.size).toBe(kind === 'sharded' ? 2 : 1);
  });

  test('a network that never answers leaves the shards to another run', async () => {
    const { output } = await later(machine, {}, () => {
      throw lost();
    });
    expect(output).toMatchObject({ error: 'Incomplete' });
  });

  test('a look at a job is made again, and the job is not', async () => {
    let looks = 0;
    const blind: Service = (resource, args) => {
      if (resource !== DESCRIBE || ++looks > 25) return aws(resource, args);
      throw new StateError('SageMaker.SdkClientException', 'Read timed out');
    };
    const made: string[] = [];
    const { output } = await later(
      machine,
      { maxConcurrentJobs: 1 },
      (job) => {
        if (made.includes(job.TransformJobName)) throw refused('taken', 'ResourceInUse');
        made.push(job.TransformJobName);
        return writeOutputs(s3)(job);
      },
      blind,
    );
    // More than the state's own attempts.
    expect(looks).toBeGreaterThan(25);
    expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
    expect(made).toHaveLength(2);
  });

  test('the list of the shards is read again', async () => {
    let failures = 2;
    const flaky: Service = (resource, args) => {
      if (!resource.endsWith('listObjectsV2') || failures === 0) return aws(resource, args);
      failures -= 1;
      throw new StateError('States.ItemReaderFailed', 'Unable to execute HTTP request');
    };
    const { output } = await later(machine, {}, writeOutputs(s3), flaky);
    expect(failures).toBe(0);
    expect(output).toMatchObject({ done: NAMES.length, missing: 0 });
  });
});

/** Of CreateTransformJob and of jobs. */
const PASSING_ERRORS = [
  refused('Rate exceeded', 'SageMakerException'),
  refused(
    'The account-level service limit is 2 Instances, with current utilization of 2 Instances',
    'ResourceLimitExceeded',
  ),
  refused('Connect timed out', 'SdkClientException'),
  failed('CapacityError: Unable to provision requested ML compute capacity.'),
  failed('InternalServerError: We encountered an internal error. Please try again.'),
  new StateError('States.Timeout', ''),
];

/** A service whose function fails at each seventh call. */
function unluckyFunction(service: Service): Service {
  let calls = 0;
  return (resource, args) => {
    if (!resource.endsWith('lambda:invoke') || ++calls % 7 !== 0) return service(resource, args);
    throw new StateError(
      ['Lambda.SdkClientException', 'Lambda.TooManyRequestsException', 'Lambda.Unknown'][
        calls % 3
      ] ?? '',
      'Rate exceeded',
    );
  };
}

/** What a shard says of a job that completed. */
const DONE = 'no output was written';

/** Shards that get a job. */
const JOBS = 240;
const LARGE = { objectsPerShard: 1_000_000, maxConcurrentJobs: 200 };

/** A run over many shards of 500,000 inputs; some need a job, and one that fails leaves all of its inputs. */
function largeRun(shards: number): Service {
  const counted = (missing: number, failedPercent: number): PendingResult => ({
    ...{ inputs: 500_000, done: 500_000 - missing, missing, refused: 0, deleted: 0 },
    ...{
      counted: true,
      failedPercent,
      overBudget: false,
      again: false,
      manifestUri: 's3://data/m',
    },
  });
  const looks = new Map<string, number>();
  let stopped: object | undefined;
  return (resource, args) => {
    const { Payload: request } = args as { Payload?: ShardRequest };
    if (resource.endsWith('listObjectsV2')) {
      const { Prefix } = args as { Prefix: string };
      const key = (at: number) => `p/${String(at).padStart(6, '0')}.manifest`;
      return Array.from({ length: shards }, (_, at) => ({ Key: key(at), Size: 30_000_000 })).filter(
        ({ Key }) => Key.startsWith(Prefix),
      );
    }
    if (!request) return {};
    switch (request.action) {
      case 'begin':
        return { Payload: { since: { origin: 0, run: 0 } } };
      case 'plan':
        return {
          Payload: { planned: true, inputs: 1, shards: { bucket: 'data', prefix: 'p/' } },
        };
      case 'pending': {
        const before = looks.get(request.shard) ?? 0;
        looks.set(request.shard, before + 1);
        // The shards after the first were done by an earlier run.
        const missing = before === 0 && looks.size <= JOBS;
        return { Payload: counted(missing ? 500_000 : 0, request.reason === DONE ? 0 : 100) };
      }
      case 'why':
        return { Payload: stopped ?? { error: 'ShardsFailed', reason: request.otherwise } };
      case 'stop':
        stopped ??= { error: request.error, reason: request.reason };
        return { Payload: stopped };
      default: {
        const inputs = shards * 500_000;
        return { Payload: { counted: true, inputs, missing: 0, outputUri: 's3://data/output/' } };
      }
    }
  };
}

/** Events of a run's own history, and of a shard's, without and with all that passes: not one for each shard. */
const EVENTS = { quiet: 60, unlucky: 300 };

test.each([240, 2_400])('%d shards: no state takes more than 256 KiB', async (shards) => {
  const quiet = await run(machine, LARGE, undefined, largeRun(shards));
  expect(quiet.output).toMatchObject({ missing: 0, inputs: shards * 500_000 });
  expect(quiet.jobs).toHaveLength(JOBS);
  expect(quiet.longestHistory).toBeLessThan(EVENTS.quiet);
  // The same with every kind of failure that passes, one after the other.
  let calls = 0;
  const unlucky = await run(
    machine,
    LARGE,
    () => {
      calls += 1;
      if (calls % 3 === 0) throw PASSING_ERRORS[(calls / 3) % PASSING_ERRORS.length];
    },
    unluckyFunction(largeRun(shards)),
  );
  expect(calls).toBeGreaterThan(1.3 * JOBS);
  expect(unlucky.output).toMatchObject({ missing: 0, inputs: shards * 500_000 });
  expect(unlucky.longestHistory).toBeLessThan(EVENTS.unlucky);
});

/** What no other try helps: the answer of every job from the twentieth on, and how the run ends. */
const LASTING: readonly [string, () => unknown, string][] = [
  [
    'a container that does not start',
    failing('ClientError: the container did not pass the ping health check'),
    'CannotRun',
  ],
  ['inputs that the model refuses', failing('ClientError: cannot decode'), 'TooManyFailures'],
  [
    'a role that may not',
    () => {
      throw refused('not authorized', 'AccessDeniedException');
    },
    'CannotRun',
  ],
  ['somebody who stops jobs', () => ({ TransformJobStatus: 'Stopped' }), 'JobStopped'],
];

test.each([240, 2_400].flatMap((shards) => LASTING.map((one) => [shards, ...one] as const)))(
  '%d shards: %s ends the run, with the reason',
  async (shards, _, answer, error) => {
    let calls = 0;
    const { output, jobs } = await run(
      machine,
      { ...LARGE, maxConcurrentJobs: 10 },
      () => {
        calls += 1;
        return calls < 20 ? undefined : answer();
      },
      largeRun(shards),
    );
    expect(output).toMatchObject({ error });
    expect(jobs.length).toBeGreaterThanOrEqual(20);
  },
);

describe('shards by the rate of the first', () => {
  const INPUTS = 10_000;
  const CANARY = 1_000;
  const byDefault = machineOf(batchTemplate(() => ({ sharding: { objectsPerShard: 100_000 } })));
  const sized = machineOf(
    batchTemplate(() => ({ sharding: { objectsPerShard: 5_000, minutesPerShard: 1 } })),
  );
  beforeEach(async () => {
    await s3.close();
    // Pages as S3 has them: these are many keys.
    s3 = await startS3ForSdk(1_000);
    for (let i = 0; i < INPUTS; i++) put(`${String(i).padStart(5, '0')}.jpg`, Buffer.from('x'));
  });

  /** Sizes of the jobs of a run whose first one writes its outputs within these seconds. */
  async function sizes(seconds: number, input: object = {}, service = aws, of = sized) {
    const write = writeOutputs(s3);
    let first = true;
    const transform = (job: Job) => {
      s3.now += 1_000;
      write(job);
      if (!first) return;
      first = false;
      const written = [...s3.objects.keys()].filter((path) => path.endsWith('.jpg.out'));
      for (const [at, path] of written.entries()) {
        const second = Math.floor((at * seconds) / (written.length - 1));
        s3.modified.set(path, s3.now + second * 1_000);
      }
    };
    const { jobs, output } = await later(of, input, transform, service);
    return { sizes: jobs.map((job) => sentTo([job]).length), jobs, output };
  }

  test.each<[what: string, seconds: number, size: number]>([
    // 1,000 outputs in at most 20 s.
    ['a minute of work', 19, 3_000],
    ['objectsPerShard at most', 1, 5_000],
    ['a thousand inputs at least', 3_000, 1_000],
  ])('%s', async (_, seconds, size) => {
    const found = await sizes(seconds);
    const rest = INPUTS - CANARY;
    const full = Math.floor(rest / size);
    expect(found.sizes.slice(0, 1)).toEqual([CANARY]);
    expect(found.sizes.slice(1).sort((a, b) => b - a)).toEqual([
      ...Array(full).fill(size),
      ...(rest % size === 0 ? [] : [rest % size]),
    ]);
    expect(new Set(sentTo(found.jobs)).size).toBe(INPUTS);
    expect(found.output).toMatchObject({ inputs: INPUTS, done: INPUTS, missing: 0 });
  });

  test('an hour of work by default, and with 0 what the construct says', async () => {
    // 1,000 outputs in 1,000 s.
    expect((await sizes(999, {}, aws, byDefault)).sizes).toEqual([CANARY, 3_600, 3_600, 1_800]);
    for (const path of s3.objects.keys()) if (path.endsWith('.out')) s3.objects.delete(path);
    const found = await sizes(999, { minutesPerShard: 0 }, aws, byDefault);
    expect(found.sizes).toEqual([CANARY, 9_000]);
  });

  test('outputs of earlier runs show no rate', async () => {
    for (let i = 0; i < CANARY; i++) {
      s3.objects.set(`data/output/${String(i).padStart(5, '0')}.jpg.out`, Buffer.from('{}'));
      s3.modified.set(`data/output/${String(i).padStart(5, '0')}.jpg.out`, s3.now);
    }
    const found = await sizes(0, { existing: 'skip' });
    expect(found.sizes.sort((a, b) => b - a)).toEqual([5_000, 4_000]);
  });

  test('a run that is smaller than the first shard has no other', async () => {
    const found = await sizes(10, { inputUri: 's3://data/input/000' });
    expect(found.sizes).toEqual([100]);
    expect(found.output).toMatchObject({ inputs: 100, missing: 0 });
  });

  test('a run that continues cuts its keys as before, whatever its outputs have become', async () => {
    const goOn = { runId: 'again' };
    let plans = 0;
    const dies: Service = (resource, args) => {
      const { Payload } = args as { Payload?: ShardRequest };
      if (Payload?.action === 'plan' && ++plans > 1) throw new StateError('BatchError', 'no more');
      return aws(resource, args);
    };
    expect((await sizes(19, goOn, dies)).output).toMatchObject({ error: 'ShardsFailed' });
    expect((await sizes(0, goOn)).sizes.sort((a, b) => b - a)).toEqual([3_000, 3_000, 3_000]);
    const size = JSON.parse(String(s3.objects.get('data/output/_shards/again/shard-size.json')));
    expect(size).toEqual({ objectsPerShard: 3_000, objectsPerSecond: 50, outputs: CANARY });
    // The same again: the size is kept.
    s3.objects.delete('data/output/_shards/again/planned.json');
    for (const path of s3.objects.keys()) {
      if (path.endsWith('.out')) s3.modified.set(path, s3.now);
    }
    expect(await sizes(0, goOn)).toMatchObject({ sizes: [], output: { inputs: INPUTS } });
  });

  test('time that runs out between', async () => {
    let calls = 0;
    // Every second call of the function has no time left.
    const short: Service = (resource, args) =>
      functionOn(s3, () => (++calls % 2) * 900_000)(resource, args);
    const found = await sizes(19, {}, short);
    expect(found.output).toMatchObject({ inputs: INPUTS, done: INPUTS, missing: 0 });
    expect(new Set(sentTo(found.jobs)).size).toBe(INPUTS);
  });
});

test('settings that no run can have fail in the first state', async () => {
  const bad: Partial<Record<keyof TransformSettings, unknown>> = {
    existing: 'no',
    allowEmpty: 'yes',
    maxFailurePercent: 101,
    budgetInstanceHours: -1,
  };
  const { output } = await run(machine, bad);
  expect((output as StateError).cause).toMatch(
    /existing: must be older or skip or replace.*allowEmpty: must be true or false.*maxFailurePercent: .*budgetInstanceHours: /,
  );
});
