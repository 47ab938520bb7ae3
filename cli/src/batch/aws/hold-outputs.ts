/** One job at a time writes below an output prefix: it holds the lease that runs of a state machine hold, too. */
import { randomUUID } from 'node:crypto';
import { formatS3Uri, type LeaseJob } from '@sagemaker-tfs/batch';
import type { AwsClients } from './clients.ts';
import { isRefusal } from './create-job.ts';
import { inUse, refuseHeld } from './lease-holder.ts';
import { leasePlace, readLease, writeLease } from './output-lease.ts';

type Clients = Pick<AwsClients, 's3' | 'sagemaker' | 'sfn'>;

/** The outputs, and the job that is to write them. */
interface HoldRequest extends Pick<LeaseJob, 'type' | 'name'> {
  readonly outputUri: string;
}

/**
 * Names a job in the lease right before it is asked for: one that follows a failed one has another name.
 * @throws CommandError OUTPUTS_IN_USE if another start has taken the lease over
 */
export type NameJob = (name: string) => Promise<void>;

/**
 * Works with the lease of the outputs. It stays with the job, whose end others see; if the work has made none, it is returned.
 * @param work names each job
 * @throws CommandError OUTPUTS_IN_USE while another job or run holds the lease, or if that cannot be seen
 */
export async function whileHeld<Result>(
  clients: Clients,
  request: HoldRequest,
  work: (nameJob: NameJob) => Promise<Result>,
): Promise<Result> {
  const lease = await takeLease(clients, request);
  let isAskedFor = false;
  try {
    const result = await work(async (name) => {
      isAskedFor = true;
      await lease.name(name);
    });
    if (!isAskedFor) await lease.giveBack();
    return result;
  } catch (error) {
    // A lease that is not returned is free in a few minutes: there is no job of its name.
    if (!isAskedFor || isRefusal(error)) await lease.giveBack().catch(() => undefined);
    throw error;
  }
}

/** Others that are faster, one after another, before this start ends. */
const MAX_TRIES = 5;

async function takeLease(clients: Clients, { outputUri, type, name: first }: HoldRequest) {
  const { s3, sagemaker } = clients;
  const place = leasePlace(outputUri);
  const region = await sagemaker.config.region();
  let job: LeaseJob = { type, name: first, region, start: randomUUID() };
  let etag: string | undefined;
  const write = async (replaced: string | undefined, returned = false) => {
    const written = await writeLease(s3, place, { job, returned }, replaced);
    etag = written ?? etag;
    return written !== undefined;
  };
  const take = async () => {
    if (await write(undefined)) return;
    for (let tries = 1; tries <= MAX_TRIES; tries++) {
      const found = await readLease(s3, place);
      const names = { outputUri, leaseUri: formatS3Uri(place), region };
      if (found) await refuseHeld(clients, found, names);
      if (await write(found?.etag)) return;
    }
    throw inUse(undefined, { outputUri });
  };
  await take();
  return {
    async name(name: string) {
      job = { ...job, name };
      if (!(await write(etag))) throw inUse((await readLease(s3, place))?.lease, { outputUri });
    },
    /** Another start that has taken it over keeps it. */
    giveBack: () => write(etag, true),
  };
}
