/** One job at a time writes below an output prefix: it holds the lease that runs of a state machine hold, too. */
import { randomUUID } from 'node:crypto';
import { formatS3Uri, type LeaseJob } from '@sagemaker-tfs/batch';
import {
  type FoundLease,
  leasePlace,
  neighborLeases,
  readLease,
  takeLease,
  writeLease,
  writingWorkers,
} from '@sagemaker-tfs/batch/s3';
import type { AwsClients } from './clients.ts';
import { isRefusal } from './create-job.ts';
import { inUse, inUseByWorkers, refuseHeld, refuseNeighbor } from './lease-holder.ts';

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
  const workers = await writingWorkers(clients.s3, request.outputUri);
  if (workers) throw inUseByWorkers(workers, request.outputUri);
  const lease = await holdLease(clients, request);
  let isAskedFor = false;
  try {
    // With the own lease written: of two that begin at once, one above the other, at least one sees the other.
    await refuseNeighbors(clients, request.outputUri, await clients.sagemaker.config.region());
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

/**
 * For workers of AWS Batch, whose job holds a lease of its own kind once they run, and costs before.
 * @returns a remark if nobody may look at the lease
 * @throws CommandError OUTPUTS_IN_USE as {@link whileHeld} does
 */
export async function requireFreeOutputs(
  clients: Clients,
  outputUri: string,
): Promise<string | undefined> {
  const place = leasePlace(outputUri);
  const leaseUri = formatS3Uri(place);
  let found: FoundLease | undefined;
  try {
    found = await readLease(clients.s3, place);
  } catch (error) {
    if ((error as Error).name !== 'AccessDenied') throw error;
    return `${leaseUri} cannot be read, so another job may write to ${outputUri}. It needs s3:GetObject and s3:ListBucket.`;
  }
  const region = await clients.sagemaker.config.region();
  if (found) await refuseHeld(clients, found, { outputs: outputUri, leaseUri, region });
  await refuseNeighbors(clients, outputUri, region);
  return undefined;
}

/** @throws CommandError OUTPUTS_IN_USE while somebody writes above or below these outputs, as far as that is seen */
async function refuseNeighbors(clients: Clients, outputUri: string, region: string): Promise<void> {
  for (const lease of await neighborLeases(clients.s3, outputUri)) {
    await refuseNeighbor(clients, lease, { outputUri, region });
  }
}

async function holdLease(clients: Clients, { outputUri, type, name: first }: HoldRequest) {
  const { s3, sagemaker } = clients;
  const place = leasePlace(outputUri);
  const region = await sagemaker.config.region();
  const names = { outputs: outputUri, leaseUri: formatS3Uri(place), region };
  let job: LeaseJob = { type, name: first, region, start: randomUUID() };
  const taken = await takeLease(s3, place, { job, returned: false }, async (found) =>
    refuseHeld(clients, found, names).then(() => true),
  );
  // Others are as fast as this start, again and again.
  if (!taken.written) throw inUse(undefined, names);
  let { etag } = taken;
  return {
    async name(name: string) {
      job = { ...job, name };
      const written = await writeLease(s3, place, { job, returned: false }, etag);
      if (!written.written) throw inUse(written.found?.lease, names);
      ({ etag } = written);
    },
    /** Another start that has taken it over keeps it. */
    async giveBack() {
      await writeLease(s3, place, { job, returned: true }, etag);
    },
  };
}
