/** Executions that are stopped and redriven, at every moment, alone and after another run has had the outputs. */
import { isJobOfExecution } from '@sagemaker-tfs/batch';
import { execute, Progress, type Service, StateError, Stopped } from './asl.ts';
import {
  batchTemplate,
  DESCRIBE,
  functionOn,
  type Job,
  machineOf,
  refused,
  writeOutputs,
} from './batch-machine.ts';
import { putInputs, type S3StandIn, startS3ForSdk } from './s3-stand-in.ts';

jest.setTimeout(120_000);

const template = batchTemplate(() => ({ sharding: { objectsPerShard: 3, maxConcurrentJobs: 2 } }));
const machine = machineOf(template);
/** That the function has which stops jobs. */
const PREFIX = Object.values(template.findResources('AWS::Lambda::Function')).flatMap(
  ({ Properties }) =>
    (Properties.Environment as { Variables?: { JOB_NAME_PREFIX?: string } } | undefined)?.Variables
      ?.JOB_NAME_PREFIX ?? [],
)[0] as string;
const LEASE = 'data/output/_shards/lease.json';
const ID = 'arn:aws:states:us-east-1:111111111111:execution:nightly:first';
const OTHER = 'arn:aws:states:us-east-1:111111111111:execution:nightly:other';
const NAMES = ['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg'];

let s3: S3StandIn;
beforeEach(async () => {
  s3 = await startS3ForSdk(50);
  putInputs(s3, NAMES);
});
afterEach(() => s3.close());

const isCreate = (resource: string) => resource.endsWith('createTransformJob');

/** SageMaker: a job runs for one look, and ends by `transform`. */
function sageMaker(transform: (job: Job, made: number) => void) {
  const jobs = new Map<string, { readonly job: Job; status: string; looks: number }>();
  const service: Service = (resource, args) => {
    const { TransformJobName: name } = args as Job;
    if (isCreate(resource)) {
      jobs.set(name, { job: args as Job, status: 'InProgress', looks: 0 });
      s3.transformJobs.set(name, 'InProgress');
      return { TransformJobArn: `arn:aws:sagemaker:x:1:transform-job/${name}` };
    }
    const own = jobs.get(name);
    if (!own) throw new Error(`no job ${name}`);
    if (own.status === 'InProgress' && own.looks++ > 0) {
      own.status = 'Completed';
      try {
        transform(own.job, jobs.size);
      } catch (error) {
        if (!(error instanceof StateError)) throw error;
        own.status = 'Failed';
      }
      s3.transformJobs.set(name, own.status);
    }
    return { TransformJobName: name, TransformJobStatus: own.status };
  };
  /** As the function does for an execution that has ended. */
  const stopJobsOf = (execution: string) => {
    for (const [name, own] of jobs) {
      if (own.status !== 'InProgress' || !isJobOfExecution(PREFIX, execution, name)) continue;
      own.status = 'Stopped';
      s3.transformJobs.set(name, 'Stopped');
    }
  };
  return { jobs, service, stopJobsOf };
}

const all = (job: Job) => writeOutputs(s3)(job);
/** One input is left until a job has it alone. */
const mopping = (job: Job) => {
  const uri = job.TransformInput.DataSource.S3DataSource.S3Uri;
  writeOutputs(s3, uri.includes('redrive') ? [] : ['b.jpg'])(job);
};
/** A job over a prefix. */
const prefix = () => {
  for (const name of NAMES) s3.objects.set(`data/output/${name}.out`, Buffer.from('{}'));
};

/** Runs to the end; stopped in the call of this number, it is redriven after `meanwhile`. */
async function redriven(
  settings: object,
  transform: (job: Job, made: number) => void,
  { at, meanwhile = () => undefined }: { at: number; meanwhile?: () => void },
) {
  const { jobs, service, stopJobsOf } = sageMaker(transform);
  let calls = 0;
  let stoppedIn: string | undefined;
  let running = true;
  const aws: Service = (resource, args) => {
    if (running && calls++ >= at) {
      running = false;
      stoppedIn = resource;
    }
    if (!running) throw new Stopped();
    if (resource === 'wait') return undefined;
    if (resource.endsWith('describeExecution')) return { Status: 'RUNNING' };
    return isCreate(resource) || resource === DESCRIBE
      ? service(resource, args)
      : functionOn(s3)(resource, args);
  };
  const progress = new Progress();
  const input = { runId: 'r1', ...settings };
  const context = { Execution: { Name: 'n', Id: ID } };
  const go = () =>
    execute(machine, input, aws, context, { longest: 0 }, progress).catch((error: unknown) => {
      if (error instanceof StateError || error instanceof Stopped) return error;
      throw error;
    });
  const first = await go();
  requireNoneLeft();
  if (!(first instanceof Stopped)) return { output: first, made: jobs.size, ended: true };
  stopJobsOf(ID);
  expect([...jobs.values()].filter(({ status }) => status === 'InProgress')).toEqual([]);
  meanwhile();
  const before = jobs.size;
  running = true;
  calls = Number.NEGATIVE_INFINITY;
  progress.redrive();
  const output = await go();
  requireNoneLeft();
  const names = [...jobs.keys()];
  expect(names.filter((name) => !isJobOfExecution(PREFIX, ID, name))).toEqual([]);
  return { output, made: names.length - before, stoppedIn, ended: false };
}

/** A lease is returned once no job is left that writes. */
function requireNoneLeft(): void {
  const { returned = false } = JSON.parse(String(s3.objects.get(LEASE) ?? '{}')) as {
    returned?: boolean;
  };
  const left = [...s3.transformJobs.values()].filter((status) =>
    /InProgress|Stopping/.test(status),
  );
  if (returned) expect(left).toEqual([]);
}

const WAYS: [string, object, (job: Job) => void][] = [
  ['in shards, with a mop-up', {}, mopping],
  ['without shards', { objectsPerShard: 0 }, prefix],
];

describe.each(WAYS)('a run %s', (_, settings, transform) => {
  test('that is stopped at any moment ends well after a redrive', async () => {
    for (let at = 0; ; at++) {
      clear();
      const { output, ended } = await redriven(settings, transform, { at });
      expect({ at, output }).toEqual({
        at,
        output: expect.not.objectContaining({ error: expect.anything() }),
      });
      for (const name of NAMES) expect(s3.objects.has(`data/output/${name}.out`)).toBe(true);
      if (ended) break;
      expect(at).toBeLessThan(200);
    }
  });

  test.each([
    ['beside another one', false],
    ['after another one', true],
  ])(
    'that is redriven at any moment %s makes no job, and does not succeed',
    async (_when, returned) => {
      const takeOver = () => {
        s3.objects.set(LEASE, Buffer.from(JSON.stringify({ execution: OTHER, returned })));
      };
      let kept = 0;
      for (let at = 0; ; at++) {
        clear();
        const result = await redriven(settings, transform, { at, meanwhile: takeOver });
        if (result.ended) break;
        // It had nothing yet: what is returned it takes.
        if (returned && at === 0) continue;
        const { error, cause } = result.output as { error?: string; cause?: string };
        expect({ at, error, cause }).toEqual({
          at,
          error: 'AlreadyRunning',
          cause: expect.stringContaining(OTHER),
        });
        kept++;
        // The call itself may be made again: nothing can look between the two.
        if (!isCreate(result.stoppedIn ?? ''))
          expect({ at, made: result.made }).toEqual({ at, made: 0 });
      }
      expect(kept).toBeGreaterThan(3);
    },
  );
});

describe('executions with one runId at once', () => {
  const OUTPUTS = ['s3://data/output/', 's3://data/output/tenant2/'];

  /** Stopped in the first look at a job that runs. */
  async function stopped(
    execution: string,
    settings: object,
    { jobs, service }: ReturnType<typeof sageMaker>,
    progress: Progress,
  ): Promise<void> {
    const aws: Service = (resource, args) => {
      if (resource === DESCRIBE) {
        const { TransformJobName } = args as Job;
        if (jobs.get(TransformJobName)?.status === 'InProgress') throw new Stopped();
        return service(resource, args);
      }
      if (resource === 'wait') return undefined;
      return isCreate(resource) ? service(resource, args) : functionOn(s3)(resource, args);
    };
    const context = { Execution: { Name: 'n', Id: execution } };
    const input = { runId: '2026-11-29', ...settings };
    await expect(
      execute(machine, input, aws, context, { longest: 0 }, progress),
    ).rejects.toBeInstanceOf(Stopped);
  }

  test.each(WAYS)('stop their own jobs alone, %s', async (_, settings) => {
    const stand = sageMaker(all);
    const [first, other] = OUTPUTS.map((outputUri) => ({ ...settings, outputUri }));
    const progress = new Progress();
    const runningOf = (execution: string) =>
      [...stand.jobs].filter(
        ([name, { status }]) =>
          status === 'InProgress' && isJobOfExecution(PREFIX, execution, name),
      ).length;
    await stopped(ID, first ?? {}, stand, progress);
    await stopped(OTHER, other ?? {}, stand, new Progress());
    expect([runningOf(ID), runningOf(OTHER)]).toEqual([1, 1]);
    stand.stopJobsOf(ID);
    expect([runningOf(ID), runningOf(OTHER)]).toEqual([0, 1]);
    progress.redrive();
    await stopped(ID, first ?? {}, stand, progress);
    expect([runningOf(ID), runningOf(OTHER)]).toEqual([1, 1]);
    stand.stopJobsOf(ID);
    expect([runningOf(ID), runningOf(OTHER)]).toEqual([0, 1]);
    stand.stopJobsOf(OTHER);
    expect(runningOf(OTHER)).toBe(0);
  });
});

test('a lease that the other has returned is not taken again', async () => {
  const returned = Buffer.from(JSON.stringify({ execution: OTHER, returned: true }));
  let at = 0;
  for (; ; at++) {
    clear();
    const result = await redriven({}, all, {
      at,
      meanwhile: () => s3.objects.set(LEASE, returned),
    });
    if (result.stoppedIn === DESCRIBE) {
      expect(result).toMatchObject({
        made: 0,
        output: {
          error: 'AlreadyRunning',
          cause: `while this run was stopped another one took over its outputs: ${OTHER}. Start it again after that one's end, with runId 'r1'`,
        },
      });
      return;
    }
  }
});

test('a run that has lost its outputs writes nothing into the folder of the one that works', async () => {
  const theirs = Buffer.from(JSON.stringify({ execution: OTHER, returned: false }));
  for (let at = 0; ; at++) {
    clear();
    let before: string[] = [];
    const result = await redriven({}, all, {
      at,
      meanwhile: () => {
        s3.objects.set(LEASE, theirs);
        before = ofRun();
      },
    });
    if (result.stoppedIn !== DESCRIBE) continue;
    expect(result.output).toMatchObject({ error: 'AlreadyRunning' });
    expect(ofRun()).toEqual(before);
    return;
  }
});

/** Files of the run, with what they say. */
function ofRun(): string[] {
  const found = [...s3.objects].filter(([path]) => path.startsWith('data/output/_shards/r1/'));
  return found.map(([path, body]) => `${path} ${body}`).sort();
}

test.each([
  ['its own reason beside that of another execution', [OTHER, ID]],
  ['its own reason, whichever is later', [ID, OTHER]],
])('an execution that is stopped by a shard learns %s', async (_, order) => {
  const settings = { outputUri: 's3://data/output/', runId: 'r1' };
  const ask = (request: object) => functionOn(s3)('lambda:invoke', { Payload: request });
  for (const execution of order) {
    const reason = `of ${execution}`;
    await ask({ action: 'stop', settings, execution, error: 'OverBudget', reason });
  }
  for (const execution of order) {
    s3.objects.set(LEASE, Buffer.from(JSON.stringify({ execution })));
    expect(await ask({ action: 'why', settings, execution, otherwise: 'x' })).toEqual({
      Payload: { error: 'OverBudget', reason: `of ${execution}` },
    });
  }
});

test('a lease that was deleted is taken', async () => {
  for (let at = 0; ; at++) {
    clear();
    const result = await redriven({}, all, { at, meanwhile: () => s3.objects.delete(LEASE) });
    if (result.stoppedIn !== DESCRIBE) continue;
    expect(result.output).toMatchObject({ done: NAMES.length, missing: 0 });
    return;
  }
});

test('a pause of a throttled job ends with a look at the lease, too', async () => {
  let refusals = 1;
  const { jobs, service } = sageMaker(all);
  const progress = new Progress();
  let running = true;
  const aws: Service = (resource, args) => {
    if (isCreate(resource) && refusals-- > 0) throw refused('Rate exceeded');
    if (resource === 'wait') {
      if (running && refusals === 0) throw new Stopped();
      return undefined;
    }
    return isCreate(resource) || resource === DESCRIBE
      ? service(resource, args)
      : functionOn(s3)(resource, args);
  };
  const go = () =>
    execute(
      machine,
      { runId: 'r1' },
      aws,
      { Execution: { Name: 'n', Id: ID } },
      { longest: 0 },
      progress,
    );
  await expect(go()).rejects.toBeInstanceOf(Stopped);
  running = false;
  s3.objects.set(LEASE, Buffer.from(JSON.stringify({ execution: OTHER })));
  progress.redrive();
  await expect(go()).rejects.toMatchObject({ error: 'AlreadyRunning' });
  expect(jobs.size).toBe(0);
});

describe('a job that somebody stops', () => {
  /** The first of them. */
  function stopping(transform: (job: Job) => void) {
    const { jobs, service, stopJobsOf } = sageMaker(transform);
    const aws: Service = (resource, args) => {
      if (resource === 'wait') return undefined;
      if (resource === DESCRIBE && jobs.size === 1) stopJobsOf(ID);
      return isCreate(resource) || resource === DESCRIBE
        ? service(resource, args)
        : functionOn(s3)(resource, args);
    };
    return { jobs, aws };
  }
  const context = { Execution: { Name: 'n', Id: ID } };

  test('ends the run, and is not the fault of its inputs', async () => {
    const { jobs, aws } = stopping(all);
    await expect(execute(machine, { runId: 'r1' }, aws, context)).rejects.toMatchObject({
      error: 'JobStopped',
      cause: expect.stringMatching(
        /^the job \S+ was stopped\. Start again with runId 'r1' to continue$/,
      ),
    });
    expect(jobs.size).toBe(1);
  });

  test('and then the run, which is redriven, is made again', async () => {
    const { jobs, aws } = stopping(all);
    const progress = new Progress();
    let running = true;
    // Its shard sees the job stopped before Step Functions stops it too.
    const late: Service = (resource, args) => {
      if (running && resource === 'wait' && args === 120) throw new Stopped();
      return aws(resource, args);
    };
    const go = () => execute(machine, { runId: 'r1' }, late, context, { longest: 0 }, progress);
    await expect(go()).rejects.toBeInstanceOf(Stopped);
    running = false;
    progress.redrive();
    expect(await go()).toMatchObject({ done: NAMES.length, missing: 0 });
    expect(jobs.size).toBeGreaterThan(1);
  });

  test('is the reason of a run without shards', async () => {
    const { aws } = stopping(prefix);
    await expect(
      execute(machine, { runId: 'r1', objectsPerShard: 0 }, aws, context),
    ).rejects.toMatchObject({
      error: 'TransformFailed',
      cause: expect.stringMatching(/^the job test-batch-\S+ was stopped$/),
    });
  });
});

/** Outputs and all that earlier runs wrote. */
function clear(): void {
  for (const path of [...s3.objects.keys()])
    if (path.startsWith('data/output/')) s3.objects.delete(path);
}
