/** One run at a time below an output prefix, whichever state machine it is of: executed under the roles of the templates. */
import { createHash } from 'node:crypto';
import { allowedBy } from '../support/policies.ts';
import { execute, type Service, StateError } from './asl.ts';
import {
  batchTemplate,
  DESCRIBE,
  failed,
  functionOn,
  JOB_PREFIX,
  type Job,
  machineOf,
  refused,
  writeOutputs,
} from './batch-machine.ts';
import { putInputs, type S3StandIn, startS3ForSdk } from './s3-stand-in.ts';

jest.setTimeout(300_000);

const template = batchTemplate(() => ({ sharding: { objectsPerShard: 3, maxConcurrentJobs: 2 } }));
const machine = machineOf(template);
const LEASE = 'data/output/_shards/lease.json';
const HOME = 'us-east-1:111111111111';

/** ARN of an execution. */
const executionOf = (name: string, id: string, place = HOME) =>
  `arn:aws:states:${place}:execution:${name}:${id}`;

let s3: S3StandIn;
beforeEach(async () => {
  s3 = await startS3ForSdk(50);
  putInputs(s3, ['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg']);
});
afterEach(() => s3.close());

/** What Step Functions knows of executions; those under a key show others their state alone. */
type Executions = Readonly<Record<string, { readonly Status: string; readonly key?: true }>>;

/** Step Functions, which asks the role of the machine `name` what it may look at. */
function describing(name: string, executions: Executions): Service {
  const may = allowedBy(template, { region: 'us-east-1', account: '111111111111', name });
  return (_, args) => {
    const { ExecutionArn, IncludedData } = args as Record<string, string>;
    const [, , , region, account] = String(ExecutionArn).split(':');
    const denied = (what: string) =>
      new StateError('Sfn.SfnException', `User is not authorized to perform: ${what}`);
    if (!may('states:DescribeExecution', String(ExecutionArn))) {
      throw denied('states:DescribeExecution');
    }
    if (`${region}:${account}` !== HOME) throw new Error('it is in no other place');
    const found = executions[String(ExecutionArn)];
    if (!found) throw new StateError('Sfn.ExecutionDoesNotExistException', 'gone');
    if (found.key && IncludedData !== 'METADATA_ONLY') throw denied('kms:Decrypt');
    return { Status: found.Status };
  };
}

/** Runs one execution while these others are known. */
async function start(
  arn: string,
  executions: Executions = {},
  more: Service = () => undefined,
  settings: object = {},
) {
  const [name = ''] = arn.split(':').slice(6);
  const jobs: unknown[] = [];
  const service: Service = async (resource, args) => {
    const answer = await more(resource, args);
    if (answer !== undefined) return answer;
    if (resource.endsWith('describeExecution')) return describing(name, executions)(resource, args);
    if (resource === DESCRIBE) return { TransformJobStatus: 'Completed' };
    if (!resource.includes('createTransformJob')) return functionOn(s3)(resource, args);
    jobs.push(args);
    writeOutputs(s3)(args as Job);
    return { TransformJobArn: 'arn:aws:sagemaker:x:1:transform-job/job' };
  };
  const input = { runId: arn.split(':').at(-1), ...settings };
  const output = await execute(machine, input, service, {
    Execution: { Name: 'n', Id: arn },
  }).catch((error: unknown) => {
    if (error instanceof StateError) return error;
    throw error;
  });
  return { jobs, output };
}

/** As a run leaves it that was stopped, or that an earlier version made. */
function leave(holder: string): void {
  s3.objects.set(LEASE, Buffer.from(JSON.stringify({ execution: holder })));
}

const DONE = { done: 4, missing: 0 };
const SECOND = executionOf('nightly', 'second');

describe.each<[string, string, { key?: true }]>([
  ['this machine', 'nightly', {}],
  ['a machine that this one replaced, or of another model', 'other', {}],
  ['another machine, under a key', 'other', { key: true }],
])('the run of %s', (_, name, more) => {
  const first = executionOf(name, 'first');

  test('keeps others out while it works', async () => {
    leave(first);
    const { jobs, output } = await start(SECOND, { [first]: { Status: 'RUNNING', ...more } });
    expect(output).toMatchObject({
      error: 'AlreadyRunning',
      cause: `another run writes to s3://data/output/: ${first}. Wait for its end, or stop it`,
    });
    expect(jobs).toEqual([]);
  });

  test.each(['SUCCEEDED', 'FAILED', 'TIMED_OUT', 'ABORTED'])(
    'that is %s is followed by the next',
    async (Status) => {
      leave(first);
      const { output } = await start(SECOND, { [first]: { Status, ...more } });
      expect(output).toMatchObject(DONE);
    },
  );

  test('that AWS has forgotten is followed by the next', async () => {
    leave(first);
    expect((await start(SECOND)).output).toMatchObject(DONE);
  });
});

describe.each([
  ['account', 'us-east-1:222222222222', 'account 222222222222'],
  ['region', 'eu-west-1:111111111111', 'region eu-west-1'],
])('the run of another %s', (_, place, what) => {
  const first = executionOf('nightly', 'first', place);

  test('keeps others out, who learn how to continue', async () => {
    leave(first);
    const { jobs, output } = await start(SECOND);
    expect(output).toMatchObject({
      error: 'AlreadyRunning',
      cause: `the lease s3://${LEASE} is that of ${first}, which cannot be looked at: ${what} is another one. Wait for its end; if it has ended, delete the lease`,
    });
    expect(jobs).toEqual([]);
    s3.objects.delete(LEASE);
    expect((await start(SECOND)).output).toMatchObject(DONE);
  });

  test('returns the lease when it has succeeded', async () => {
    expect((await start(first)).output).toMatchObject(DONE);
    expect((await start(SECOND)).output).toMatchObject(DONE);
  });

  test('returns it when it has failed', async () => {
    const { output } = await start(first, {}, (resource) => {
      if (resource.includes('createTransformJob')) throw failed('no space');
      return undefined;
    });
    expect(output).toBeInstanceOf(StateError);
    expect((await start(SECOND)).output).toMatchObject(DONE);
  });
});

describe.each([
  ['transform', 'TransformJob', 'the transform job once', 'transform-job'],
  ['processing', 'ProcessingJob', 'the Processing job once', 'processing-job'],
])('a job of batch start, %s,', (type, field, holder, resourceType) => {
  const call = `describe${field}`;
  const job = { type, name: 'once', region: 'us-east-1', start: 's' };
  const leaveJob = (more: object = {}) => {
    s3.objects.set(LEASE, Buffer.from(JSON.stringify({ job: { ...job, ...more } })));
  };
  const may = allowedBy(template, {
    region: 'us-east-1',
    account: '111111111111',
    name: 'nightly',
  });
  /** SageMaker, which knows one job, and asks the role of the machine. */
  const knowing =
    (status: () => string | undefined): Service =>
    (resource, args) => {
      const name = (args as Record<string, string> | undefined)?.[`${field}Name`];
      if (!resource.endsWith(call) || name !== 'once') return undefined;
      const arn = `arn:aws:sagemaker:${HOME}:${resourceType}/${name}`;
      if (!may(`sagemaker:Describe${field}`, arn)) {
        throw new StateError('SageMaker.SageMakerException', 'not authorized');
      }
      const found = status();
      if (found !== undefined) return { [`${field}Status`]: found };
      const words = 'Could not find requested job with name: once (Status Code: 400)';
      throw new StateError('SageMaker.SageMakerException', words);
    };

  test.each(['InProgress', 'Stopping'])('that is %s keeps a run out', async (status) => {
    leaveJob();
    const { jobs, output } = await start(
      SECOND,
      {},
      knowing(() => status),
    );
    expect(output).toMatchObject({
      error: 'AlreadyRunning',
      cause: `another run writes to s3://data/output/: ${holder}. Wait for its end, or stop it`,
    });
    expect(jobs).toEqual([]);
  });

  test.each(['Completed', 'Failed', 'Stopped'])(
    'that is %s is followed by a run',
    async (status) => {
      leaveJob();
      const { output } = await start(
        SECOND,
        {},
        knowing(() => status),
      );
      expect(output).toMatchObject(DONE);
      const { execution, returned } = JSON.parse(String(s3.objects.get(LEASE)));
      expect({ execution, returned }).toEqual({ execution: SECOND, returned: true });
    },
  );

  test('that is not made is waited for as long as it may come', async () => {
    leaveJob();
    s3.modified.set(LEASE, Date.now());
    const none = knowing(() => undefined);
    expect((await start(SECOND, {}, none)).output).toMatchObject({ error: 'AlreadyRunning' });
    s3.modified.set(LEASE, Date.now() - 310_000);
    expect((await start(SECOND, {}, none)).output).toMatchObject(DONE);
  });

  test('is waited for until it has ended', async () => {
    leaveJob();
    let looks = 0;
    const status = () => (++looks < 4 ? 'InProgress' : 'Completed');
    const { output } = await start(SECOND, {}, knowing(status), { waitMinutes: 60 });
    expect(output).toMatchObject(DONE);
    expect(looks).toBe(4);
  });

  test.each([
    ['of another region', { region: 'eu-west-1' }, 'region eu-west-1 is another one'],
    ['that nobody may look at', {}, 'denied'],
  ])('%s keeps a run out, which says how to continue', async (_, more, why) => {
    leaveJob(more);
    const { output } = await start(SECOND, {}, (resource) => {
      if (resource.endsWith(call)) throw new StateError('SageMaker.SageMakerException', 'denied');
      return undefined;
    });
    expect(output).toMatchObject({
      error: 'AlreadyRunning',
      cause: `the lease s3://${LEASE} is that of ${holder}, which cannot be looked at: ${why}. Wait for its end; if it has ended, delete the lease`,
    });
  });
});

test('workers of AWS Batch that give signs of life keep a run out, and no longer once they are silent', async () => {
  const folder = 'data/output/_worker/lease/000000';
  s3.objects.set(`${folder}.json`, Buffer.from('{"run":"id-1"}'));
  s3.objects.set(`${folder}.alive`, Buffer.alloc(0));
  s3.modified.set(`${folder}.alive`, Date.now() - 20_000);
  const { jobs, output } = await start(SECOND);
  expect(output).toMatchObject({
    error: 'AlreadyRunning',
    cause: expect.stringMatching(
      /^the lease s3:.*000000\.json is that of the workers of the AWS Batch job id-1, which .* a sign of life 2\d s ago,/,
    ),
  });
  expect(jobs).toEqual([]);
  s3.modified.set(`${folder}.alive`, Date.now() - 181_000);
  expect((await start(SECOND)).output).toMatchObject(DONE);
});

describe('jobs that a run leaves behind', () => {
  const first = executionOf('nightly', 'first');
  const digits = (text: string, count: number) =>
    createHash('sha256').update(text).digest('hex').slice(0, count);
  /** As the machine names it. */
  const jobOf = (execution: string, call: number) =>
    `${JOB_PREFIX}-${digits('r', 8)}-${digits(execution, 12)}-${digits(String(call), 14)}`;
  const [LEFT, MORE] = [jobOf(first, 1), jobOf(first, 2)];
  /** SageMaker, which knows the jobs that are listed too. */
  const describing: Service = (resource, args) => {
    const status = s3.transformJobs.get((args as Partial<Job> | undefined)?.TransformJobName ?? '');
    return resource === DESCRIBE && status ? { TransformJobStatus: status } : undefined;
  };
  const ask = (request: object) => functionOn(s3)('lambda:invoke', { Payload: request });
  const release = () =>
    ask({ action: 'release', outputUri: 's3://data/output/', runId: 'r', execution: first });

  beforeEach(() => {
    jest.spyOn(console, 'log').mockImplementation(() => {});
    leave(first);
    // Of others, over other outputs.
    s3.transformJobs.set(jobOf(executionOf('nightly', 'third'), 1), 'InProgress');
    s3.transformJobs.set('by-hand', 'InProgress');
  });

  describe.each<[string, () => unknown]>([
    ['and fails, or is over its budget', release],
    ['and is stopped', () => undefined],
  ])('%s,', (_, end) => {
    test.each(['InProgress', 'Stopping'])('that are %s keep the next one out', async (status) => {
      s3.transformJobs.set(LEFT, status).set(MORE, 'InProgress').set(jobOf(first, 3), 'Completed');
      await end();
      const { jobs, output } = await start(SECOND, { [first]: { Status: 'FAILED' } }, describing);
      const [named = ''] = status === 'InProgress' ? [LEFT] : [MORE];
      expect(output).toMatchObject({
        error: 'AlreadyRunning',
        cause: `another run writes to s3://data/output/: the transform job ${named} and 1 more of ${first}, which has ended. Wait for its end, or stop it`,
      });
      expect(jobs).toEqual([]);
    });

    test('are waited for, and their outputs are not those of the next one', async () => {
      s3.transformJobs.set(LEFT, 'InProgress');
      await end();
      let looks = 0;
      const ending: Service = (resource, args) => {
        if (resource === DESCRIBE && (args as Job).TransformJobName === LEFT && ++looks === 3) {
          s3.objects.set('data/output/a.jpg.out', Buffer.from('of the former model'));
          s3.modified.set('data/output/a.jpg.out', s3.now - 1000);
          s3.transformJobs.set(LEFT, 'Completed');
        }
        return describing(resource, args);
      };
      const settings = { waitMinutes: 60, existing: 'replace' };
      const executions = { [first]: { Status: 'FAILED' } };
      const { output } = await start(SECOND, executions, ending, settings);
      expect(output).toMatchObject(DONE);
      expect(looks).toBe(3);
      expect(String(s3.objects.get('data/output/a.jpg.out'))).toBe('{}');
    });

    test('that have ended keep nobody out', async () => {
      s3.transformJobs.set(LEFT, 'Completed').set(MORE, 'Stopped');
      await end();
      expect((await start(SECOND, { [first]: { Status: 'FAILED' } })).output).toMatchObject(DONE);
    });
  });

  test.each<[string, object]>([
    ['in shards', {}],
    ['without shards', { objectsPerShard: 0 }],
  ])('are stopped by a run that fails, %s', async (_, settings) => {
    s3.transformJobs.set(LEFT, 'InProgress');
    const { output } = await start(
      first,
      {},
      (resource) => {
        if (resource.endsWith('createTransformJob')) throw refused('no such model');
        return undefined;
      },
      settings,
    );
    expect(output).toBeInstanceOf(StateError);
    expect(s3.transformJobs.get(LEFT)).toBe('Stopping');
    expect(JSON.parse(String(s3.objects.get(LEASE)))).toMatchObject({ execution: first });
    expect(JSON.parse(String(s3.objects.get(LEASE))).returned).toBe(false);
  });

  test('keep out none that they are of', async () => {
    s3.transformJobs.set(LEFT, 'InProgress');
    expect((await start(first, {}, describing)).output).toMatchObject(DONE);
  });

  test('are found by the roles of the template', () => {
    const deployed = { region: 'us-east-1', account: '111111111111', name: 'nightly' };
    const may = allowedBy(template, deployed);
    expect(may('sagemaker:ListTransformJobs', '*')).toBe(true);
    expect(
      may('sagemaker:DescribeTransformJob', `arn:aws:sagemaker:${HOME}:transform-job/${LEFT}`),
    ).toBe(true);
  });
});

test('a look that is refused says why', async () => {
  const first = executionOf('nightly', 'first');
  leave(first);
  const { output } = await start(SECOND, {}, (resource) => {
    if (resource.endsWith('describeExecution')) throw new StateError('Sfn.SfnException', 'denied');
    return undefined;
  });
  expect(output).toMatchObject({
    error: 'AlreadyRunning',
    cause: expect.stringContaining(`is that of ${first}, which cannot be looked at: denied.`),
  });
});

test('a run that could not begin leaves the lease of the other', async () => {
  const first = executionOf('nightly', 'first');
  leave(first);
  const before = s3.objects.get(LEASE);
  await start(SECOND, { [first]: { Status: 'RUNNING' } });
  expect(s3.objects.get(LEASE)).toEqual(before);
});

test('an execution that is redriven continues with its own lease', async () => {
  await start(SECOND);
  expect((await start(SECOND)).output).toMatchObject(DONE);
  leave(SECOND);
  expect((await start(SECOND)).output).toMatchObject(DONE);
});

test.each(['begin', 'hold'])(
  'an execution that is redriven (%s) after another one has seen it stopped keeps its lease',
  async (action) => {
    const first = executionOf('nightly', 'first');
    const written = { execution: first, returned: false };
    s3.objects.set(LEASE, Buffer.from(JSON.stringify(written)));
    const executions: Record<string, { Status: string }> = { [first]: { Status: 'ABORTED' } };
    let begun: object = {};
    const { jobs, output } = await start(SECOND, executions, async (resource, args) => {
      const { Payload } = args as { Payload?: { action?: string } };
      if (Payload?.action === 'begin') begun = Payload;
      const seen = executions[first]?.Status;
      if (!resource.endsWith('describeExecution') || seen === 'RUNNING') return undefined;
      executions[first] = { Status: 'RUNNING' };
      const { takeOver: _, ...request } = begun as { takeOver?: string };
      const renewed = { Payload: { ...request, action, execution: first } };
      expect(await functionOn(s3)('lambda:invoke', renewed)).not.toHaveProperty('Payload.lost');
      return { Status: seen };
    });
    expect(output).toMatchObject({ error: 'AlreadyRunning' });
    expect(jobs).toEqual([]);
    expect(JSON.parse(String(s3.objects.get(LEASE)))).toMatchObject(written);
  },
);

test('a lease that cannot be returned ends no run', async () => {
  const { output } = await start(SECOND, {}, (_, args) => {
    const { Payload } = args as { Payload?: { action?: string } };
    if (Payload?.action === 'release') throw new StateError('AccessDenied', 'no');
    return undefined;
  });
  expect(output).toMatchObject(DONE);
});

test('a file that is no lease is taken over', async () => {
  s3.objects.set(LEASE, Buffer.from('{"execution": 7}'));
  expect((await start(SECOND)).output).toMatchObject(DONE);
});

describe('a run that waits', () => {
  const RUNNING = { Status: 'RUNNING' };
  /** Calls `seen` at each look at the lease. */
  const looking =
    (seen: () => void): Service =>
    (_, args) => {
      if ((args as { Payload?: { action?: string } }).Payload?.action === 'begin') seen();
      return undefined;
    };

  test.each<[string, string, (first: string) => void]>([
    ['has ended', HOME, () => undefined],
    ['of another region has returned the lease', 'eu-west-1:111111111111', returned],
  ])('begins once the other %s', async (_, place, end) => {
    const first = executionOf('nightly', 'first', place);
    leave(first);
    const executions = { [first]: RUNNING };
    let looks = 0;
    const more = looking(() => {
      looks += 1;
      if (looks < 4) return;
      executions[first] = { Status: 'SUCCEEDED' };
      if (looks === 4) end(first);
    });
    const { output, jobs } = await start(SECOND, executions, more, { waitMinutes: 60 });
    expect(output).toMatchObject(DONE);
    expect(jobs.length).toBeGreaterThan(0);
    expect(looks).toBeGreaterThanOrEqual(4);
  });

  test('keeps waiting if a third one was faster', async () => {
    const [first, third] = [executionOf('nightly', 'first'), executionOf('nightly', 'third')];
    leave(first);
    const executions: Record<string, { Status: string }> = { [first]: RUNNING };
    let looks = 0;
    const more = looking(() => {
      looks += 1;
      if (looks === 2) executions[first] = { Status: 'FAILED' };
      // Between the look at the first one and the taking over of its lease.
      if (looks === 3) leave(third);
      executions[third] = looks < 6 ? RUNNING : { Status: 'SUCCEEDED' };
    });
    const { output } = await start(SECOND, executions, more, { waitMinutes: 60 });
    expect(output).toMatchObject(DONE);
    expect(looks).toBeGreaterThanOrEqual(6);
  });

  test.each([
    [0, 1],
    [1, 2],
    [20_160, 700],
  ])('of %d minutes at most ends with the reason, after %d looks', async (waitMinutes, most) => {
    const first = executionOf('nightly', 'first');
    leave(first);
    let looks = 0;
    const more = looking(() => {
      looks += 1;
    });
    const { output } = await start(SECOND, { [first]: RUNNING }, more, { waitMinutes });
    expect(output).toMatchObject({ error: 'AlreadyRunning' });
    expect(looks).toBeLessThanOrEqual(most);
    expect(looks).toBeGreaterThan(most * 0.9);
  });

  function returned(first: string): void {
    s3.objects.set(LEASE, Buffer.from(JSON.stringify({ execution: first, returned: true })));
  }
});
