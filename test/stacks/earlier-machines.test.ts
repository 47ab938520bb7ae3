/**
 * Executions that began before a deployment keep their definition, and call the functions of after it: the definitions in
 * `earlier-machines/` are executed with today's function. CONTRIBUTING.md says when one is added.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { RUNS_FOLDER } from '@sagemaker-tfs/batch';
import type { ShardRequest } from '../../lib/batch/handler/index.ts';
import { type Service, StateError } from './asl.ts';
import { DESCRIBE, failed, functionOn, type Job, run, writeOutputs } from './batch-machine.ts';
import { putInputs, type S3StandIn, startS3ForSdk } from './s3-stand-in.ts';

jest.setTimeout(120_000);

const FOLDER = new URL('earlier-machines/', import.meta.url);
const MACHINES = readdirSync(FOLDER).map((name): [string, object] => [
  name,
  JSON.parse(readFileSync(new URL(name, FOLDER), 'utf8')) as object,
]);

let s3: S3StandIn;
beforeEach(async () => {
  s3 = await startS3ForSdk(50);
  putInputs(s3, NAMES);
});
afterEach(() => s3.close());

const NAMES = ['a.jpg', 'b.jpg', 'c.jpg', 'd.jpg', 'e.jpg'];

/** Runs a machine with today's function. @returns the actions that it was asked for, too */
async function runOld(machine: object, transform: (job: Job) => unknown, oldStop = false) {
  const actions = new Set<string>();
  const service: Service = async (resource, args) => {
    if (resource.endsWith('sns:publish')) return {};
    if (resource.endsWith('describeExecution')) return { Status: 'RUNNING' };
    if (resource.endsWith('lambda:invoke')) {
      const { Payload } = args as { Payload: ShardRequest };
      actions.add(Payload.action);
      if (oldStop && Payload.action === 'stop') {
        const { error, reason, execution } = Payload;
        const kept = JSON.stringify({ error, reason, execution });
        s3.objects.set(`data/output/${RUNS_FOLDER}r/stopped.json`, Buffer.from(kept));
        return { Payload: { error, reason } };
      }
    }
    return functionOn(s3)(resource, args);
  };
  return { ...(await run(machine, { runId: 'r' }, transform, service)), actions };
}

const outcome = (output: unknown) =>
  output instanceof StateError ? `${output.error}: ${output.cause}` : output;

describe.each(MACHINES)('%s', (_, machine) => {
  const asked = new Set<string>();
  const each = async (transform: (job: Job) => unknown, oldStop?: boolean) => {
    const { actions, output, jobs } = await runOld(machine, transform, oldStop);
    for (const action of actions) asked.add(action);
    return { output: outcome(output), jobs };
  };

  test('a run succeeds, and tells of its progress', async () => {
    const { output } = await each(writeOutputs(s3));
    expect(output).toMatchObject({
      inputs: 5,
      done: 5,
      missing: 0,
      outputUri: 's3://data/output/',
    });
  });

  test('inputs without an output are tried once more, and listed', async () => {
    const { output, jobs } = await each(writeOutputs(s3, ['d.jpg']));
    expect(output).toMatch(/^Incomplete: 1 of 5 inputs have no output; they are listed in s3:/);
    expect(jobs).toHaveLength(3);
  });

  test.each([
    ['today', false],
    ['the function of before 0.2, in stopped.json', true],
  ])('a shard that stops the run says why, kept by %s', async (_by, oldStop) => {
    const { output } = await each(() => {
      throw failed('ClientError: Failed to download model data from S3');
    }, oldStop);
    expect(output).toMatch(/^CannotRun: .*Failed to download model data/);
  });

  test('a job that the holder of the lease has left behind is seen, and ends the run at once', async () => {
    const holder = 'arn:first';
    const digits = (text: string, count: number) =>
      createHash('sha256').update(text).digest('hex').slice(0, count);
    const job = `p-${digits('r', 8)}-${digits(holder, 12)}-${digits('1', 14)}`;
    s3.objects.set('data/output/_shards/lease.json', Buffer.from(`{"execution":"${holder}"}`));
    s3.transformJobs.set(job, 'InProgress');
    const service: Service = (resource, args) => {
      if (resource === DESCRIBE) return { TransformJobStatus: 'InProgress' };
      if (resource.endsWith('sns:publish')) return {};
      if (resource.endsWith('describeExecution')) return { Status: 'ABORTED' };
      return functionOn(s3)(resource, args);
    };
    const { output, jobs } = await run(machine, { runId: 'r' }, writeOutputs(s3), service);
    expect(outcome(output)).toMatch(/^AlreadyRunning: .* the transform job p-/);
    expect(jobs).toEqual([]);
  });

  test('every action that it asks for was tried', () => {
    const all = JSON.stringify(machine).matchAll(/\\"action\\": \\"(\w+)\\"/g);
    expect([...asked].sort()).toEqual([...new Set([...all].map(([, action]) => action))].sort());
  });
});
