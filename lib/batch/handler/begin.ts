/**
 * The beginning of a run: it alone writes these outputs, and what makes them is written down. At its end the run returns
 * the lease.
 */
import { createHash, randomUUID } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  formatS3Uri,
  holderOf,
  inputsOf,
  JOB_TO_COME,
  jobsLeftBy,
  type LeaseJob,
  originOf,
  parseS3Uri,
  type RunLease,
  type S3Location,
} from '@sagemaker-tfs/batch';
import {
  claimOrigin,
  type FoundLease,
  findObject,
  isHeldBy,
  leasePlace,
  originPlace,
  readLease,
  receiveIfThere,
  takeLease,
  type WritingWorkers,
  writeLease,
  writingWorkers,
} from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import * as z from 'zod';
import { ConstructError } from '../../errors.ts';
import { runPlace, sharedPlace } from './run-places.ts';
import { findJson, readManifest, writeIf } from './storage.ts';

/** What the state machine gets. */
export interface BeginResult {
  /** Execution or job that holds the lease of these outputs; absent where it is this one. */
  readonly holder?: string;
  /** The holder where it is a job that `batch start` has made, or that an execution has left behind. */
  readonly job?: Pick<LeaseJob, 'type' | 'name'>;
  /** True if the job may still be made: it is asked for after the lease. */
  readonly toCome?: boolean;
  /** Names the holder's lease; the same again takes it over. */
  readonly lease?: string;
  /** The object that is the lease. */
  readonly leaseUri?: string;
  /** Why nobody here can see whether the holder, or the first execution of the event, has ended. */
  readonly hidden?: string;
  /** Execution that has the same event. While it runs, or if it has succeeded, this one has nothing to do. */
  readonly repeats?: string;
  /** Names that execution's claim of the event; the same again takes it over. */
  readonly claim?: string;
  /** Why the input of this execution cannot be run. */
  readonly refused?: string;
  /** Times from which on outputs count, milliseconds since 1970 by S3's clock. */
  readonly since?: Since;
}

/** Outputs older than these are not this run's, or not this model's. */
export interface Since {
  /** Outputs of this model and these settings. */
  readonly origin: number;
  /** Outputs of this run. */
  readonly run: number;
}

/** What begins. */
export interface BeginRequest {
  readonly settings: TransformSettings;
  readonly model: string;
  /** ARN of the execution. */
  readonly execution: string;
  /** Lease of an execution that has ended. */
  readonly takeOver?: string;
  /** Claim of an execution that did not succeed. */
  readonly takeEvent?: string;
}

/** Finds the jobs of an execution that have not ended. */
export type FindJobs = (execution: string) => Promise<readonly string[]>;

/** Takes the lease, then writes the origin. Both are left as they are where this execution has done so before. */
export async function beginRun(
  s3: S3Client,
  jobsOf: FindJobs,
  request: BeginRequest,
): Promise<BeginResult> {
  const { settings, execution } = request;
  const first = await firstOfEvent(s3, request);
  if (first) return first;
  const refused = await whyOtherInputs(s3, settings);
  if (refused !== undefined) return { refused };
  const taken = await takeOutputs(s3, jobsOf, request);
  if (taken.holder !== undefined) return taken;
  const origin = await claimOutputs(s3, request);
  // Written once for a run: a run that continues keeps what it has made.
  const begun = runPlace(settings, BEGUN);
  await writeIf(s3, begun, { execution, inputs: inputsOfRun(settings) }, { IfNoneMatch: '*' });
  const run = (await findObject(s3, begun))?.modified ?? 0;
  return { since: { origin, run } };
}

/** File of a run with what it began as. */
const BEGUN = 'begun.json';

const eventSchema = z.object({ execution: z.string() });

/**
 * The other execution that has the event of this one, if there is one. The first to ask has it, until it has failed and
 * another one takes it over: a new execution in the console has a copy of the input, with its event.
 * @see https://docs.aws.amazon.com/eventbridge/latest/ref/event-delivery-level.html
 */
async function firstOfEvent(
  s3: S3Client,
  { settings, execution, takeEvent }: Pick<BeginRequest, 'settings' | 'execution' | 'takeEvent'>,
): Promise<BeginResult | undefined> {
  const { event, inputUri } = settings;
  // An execution that an earlier release started has none.
  if (!event) return undefined;
  const name = createHash('sha256')
    .update(JSON.stringify([event, inputUri]))
    .digest('hex');
  const place = sharedPlace(settings, `events/${name}.json`);
  const condition = takeEvent ? { IfMatch: takeEvent } : { IfNoneMatch: '*' as const };
  if (await writeIf(s3, place, { execution }, condition)) return undefined;
  const found = await receiveIfThere(s3, place);
  // Deleted meanwhile: nobody has the event, so who writes it now is the first.
  if (!found) return firstOfEvent(s3, { settings, execution });
  const { bytes, ETag: claim = '' } = found;
  const { execution: first } = eventSchema.parse(JSON.parse(new TextDecoder().decode(bytes)));
  if (first === execution) return undefined;
  const hidden = hiddenFrom(execution, first);
  return { repeats: first, claim, ...(hidden !== undefined && { hidden }) };
}

/** The settings that decide which inputs a run has. */
const INPUT_SETTINGS = ['inputUri', 'dataType', 'keySuffix', 'inventoryUri'] as const;

const begunSchema = z.object({ inputs: z.record(z.string(), z.string()).optional() });

function inputsOfRun(settings: TransformSettings): Readonly<Record<string, string>> {
  return Object.fromEntries(INPUT_SETTINGS.map((name) => [name, settings[name]]));
}

/** Why a sharded run of this name cannot have these inputs: it would run its old plan, and say that all is done. */
async function whyOtherInputs(
  s3: S3Client,
  settings: TransformSettings,
): Promise<string | undefined> {
  if (settings.objectsPerShard === 0) return undefined;
  const begun = await findJson(s3, runPlace(settings, BEGUN), begunSchema);
  const own = inputsOfRun(settings);
  const other = Object.entries(begun?.inputs ?? {}).find(([name, value]) => own[name] !== value);
  if (!other) return undefined;
  const [name, value] = other;
  return `runId: '${settings.runId}' is that of a run with other inputs, whose ${name} is '${value}'. Set another runId, or the same inputs to continue that run`;
}

/**
 * Takes the lease if it is free: it was returned, or its holder has ended and left no job behind. A job that it did leave
 * writes until it ends, long after this run has begun; the state machine waits for it as for one of `batch start`.
 */
async function takeOutputs(
  s3: S3Client,
  jobsOf: FindJobs,
  { settings, execution, takeOver }: BeginRequest,
): Promise<BeginResult> {
  const workers = await writingWorkers(s3, settings.outputUri);
  if (workers) return heldByWorkers(workers);
  const place = leasePlace(settings.outputUri);
  let left: readonly string[] = [];
  const taken = await takeLease(s3, place, leaseOf(execution), async (found) => {
    if (isReturned(found) || isOf(found, execution)) return true;
    if (found.etag !== takeOver) return false;
    left = found.lease?.execution === undefined ? [] : await jobsOf(found.lease.execution);
    return left.length === 0;
  });
  if (taken.written) return {};
  if (!taken.found) throw deletedAgain(place);
  return heldBy(taken.found, place, execution, left);
}

/** @param left jobs of a holder that has ended */
function heldBy(
  found: FoundLease,
  place: S3Location,
  execution: string,
  left: readonly string[],
): BeginResult {
  const { lease: { job, ...written } = NO_LEASE, etag: lease, modified } = found;
  const leaseUri = formatS3Uri(place);
  const [first] = left;
  if (first !== undefined) {
    const holder = jobsLeftBy(holderOf(written), left);
    return { holder, lease, leaseUri, job: { type: 'transform', name: first } };
  }
  const holder = holderOf({ ...written, job });
  const hidden = job ? hiddenRegion(execution, job.region) : hiddenFrom(execution, holder);
  return {
    ...{ holder, lease, leaseUri },
    ...(hidden !== undefined && { hidden }),
    ...(job && {
      job: { type: job.type, name: job.name },
      toCome: Date.now() - modified < JOB_TO_COME,
    }),
  };
}

/** The machine waits for workers of AWS Batch without a look at their job: their signs of life are in S3. */
function heldByWorkers({ run, leaseUri, silent }: WritingWorkers): BeginResult {
  const hidden = `they gave a sign of life ${silent} s ago, and three minutes after their last one the outputs are free`;
  return { holder: `the workers of the AWS Batch job ${run}`, leaseUri, hidden };
}

/** A file that is no lease keeps nobody out. */
const NO_LEASE: RunLease = { execution: 'unknown', returned: true };

function isReturned({ lease = NO_LEASE }: FoundLease): boolean {
  return lease.returned;
}

/**
 * A lease that is like no other. An execution that was stopped writes it again when it is redriven: another one may have seen
 * it stopped, and takes the lease over by its ETag, which in S3 is the MD5 of the bytes.
 * @see https://docs.aws.amazon.com/AmazonS3/latest/API/API_Object.html
 */
function leaseOf(execution: string): RunLease {
  return { execution, returned: false, write: randomUUID() };
}

function isOf({ lease = NO_LEASE }: FoundLease, execution: string): boolean {
  return isHeldBy(lease, { execution });
}

function deletedAgain(place: S3Location): ConstructError {
  return new ConstructError(
    'LEASE_DELETED',
    `the lease ${formatS3Uri(place)} is written and deleted again and again. Find out who deletes it.`,
  );
}

/** Which outputs are still to be those of an execution. */
export interface HoldRequest {
  readonly settings: TransformSettings;
  /** ARN of the execution. */
  readonly execution: string;
}

/** Whether they are. */
export interface HoldResult {
  /** Why this execution may make nothing more; absent where it holds the lease. */
  readonly lost?: string;
}

/**
 * Whether an execution still holds the lease that it took when it began. A redriven one continues behind that state, and
 * another may have had the outputs since: its jobs, of another model perhaps, are not to be mixed with this one's.
 */
export async function holdLease(
  s3: S3Client,
  { settings, execution }: HoldRequest,
): Promise<HoldResult> {
  const place = leasePlace(settings.outputUri);
  let found = await readLease(s3, place);
  if (!found || isOf(found, execution)) {
    const taken = await writeLease(s3, place, leaseOf(execution), found?.etag);
    if (taken.written) return {};
    found = taken.found;
  }
  if (!found) throw deletedAgain(place);
  const lost = lostTo(found, execution, settings.runId);
  return lost === undefined ? {} : { lost };
}

/** Why an execution has lost its outputs; undefined if it has not. */
export async function whyLost(s3: S3Client, request: HoldRequest): Promise<string | undefined> {
  const found = await readLease(s3, leasePlace(request.settings.outputUri));
  return found && lostTo(found, request.execution, request.settings.runId);
}

function lostTo(found: FoundLease, execution: string, runId: string): string | undefined {
  if (isOf(found, execution)) return undefined;
  const { lease = NO_LEASE } = found;
  return `while this run was stopped another one took over its outputs: ${holderOf(lease)}. Start it again after that one's end, with runId '${runId}'`;
}

/** What returns the lease. */
export interface ReleaseRequest {
  readonly outputUri: string;
  /** ARN of the execution. */
  readonly execution: string;
  /** Absent in runs of earlier definitions, which do not ask whether they have lost the lease. */
  readonly runId?: string;
}

/** Whether this execution held the lease. */
export interface ReleaseResult {
  readonly returned: boolean;
  /** Why the outputs are another's; absent where nobody has taken the lease. */
  readonly lost?: string;
}

/**
 * Returns the lease if this execution still holds it, and none of its jobs is left: with one, the next run finds that the
 * execution has ended, and waits for the job. The object stays, so that the function needs no leave to delete.
 */
export async function releaseLease(
  s3: S3Client,
  jobsOf: FindJobs,
  request: ReleaseRequest,
): Promise<ReleaseResult> {
  const { execution, runId } = request;
  const place = leasePlace(request.outputUri);
  let found = await readLease(s3, place);
  if (found?.lease && isOf(found, execution)) {
    if ((await jobsOf(execution)).length > 0) return { returned: false };
    const taken = await writeLease(s3, place, { execution, returned: true }, found.etag);
    if (taken.written) return { returned: true };
    found = taken.found;
  }
  const lost = found?.lease && runId !== undefined && lostTo(found, execution, runId);
  return { returned: false, ...(lost && { lost }) };
}

/** Why executions of another account or region cannot be looked at; undefined for one of the same. */
function hiddenFrom(execution: string, holder: string): string | undefined {
  const [, account] = execution.split(':').slice(3);
  const [otherRegion, otherAccount] = holder.split(':').slice(3);
  if (!otherRegion || !otherAccount) return undefined;
  if (otherAccount !== account) return `account ${otherAccount} is another one`;
  return hiddenRegion(execution, otherRegion);
}

function hiddenRegion(execution: string, other: string): string | undefined {
  return execution.split(':')[3] === other ? undefined : `region ${other} is another one`;
}

/** @returns since when outputs are of this model and these settings */
async function claimOutputs(s3: S3Client, { settings, model }: BeginRequest): Promise<number> {
  const root =
    settings.dataType === 'ManifestFile'
      ? (await readManifest(s3, parseS3Uri(settings.inputUri))).prefix
      : inputsOf(settings).prefix;
  const place = originPlace(settings.outputUri, root);
  // A single job makes every output again.
  const existing = settings.objectsPerShard === 0 ? 'replace' : settings.existing;
  return (await claimOrigin(s3, place, originOf(model, root, settings), existing)).since;
}
