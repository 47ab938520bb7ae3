/** The beginning of a run: it alone writes these outputs, and what makes them is written down. */
import type { S3Client } from '@aws-sdk/client-s3';
import { inputsOf, originOf, parseS3Uri } from '@sagemaker-tfs/batch';
import { claimOrigin, findObject, originPlace, receive } from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { runPlace, sharedPlace } from './run-places.ts';
import { readManifest, writeIf } from './storage.ts';

/** What the state machine gets. */
export interface BeginResult {
  /** Execution that holds the lease of these outputs; absent where it is this one. */
  readonly holder?: string;
  /** Names the holder's lease; the same again takes it over. */
  readonly lease?: string;
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
}

/** Takes the lease, then writes the origin. Both are left as they are where this execution has done so before. */
export async function beginRun(s3: S3Client, request: BeginRequest): Promise<BeginResult> {
  const taken = await takeLease(s3, request);
  if (taken.holder !== undefined) return taken;
  const { settings } = request;
  const origin = await claimOutputs(s3, request);
  // Written once for a run: a run that continues keeps what it has made.
  const begun = runPlace(settings, 'begun.json');
  await writeIf(s3, begun, { execution: request.execution }, { IfNoneMatch: '*' });
  const run = (await findObject(s3, begun))?.modified ?? 0;
  return { since: { origin, run } };
}

async function takeLease(
  s3: S3Client,
  { settings, execution, takeOver }: BeginRequest,
): Promise<BeginResult> {
  const place = sharedPlace(settings, 'lease.json');
  const condition = takeOver ? { IfMatch: takeOver } : { IfNoneMatch: '*' as const };
  if (await writeIf(s3, place, { execution }, condition)) return {};
  const { bytes, ETag = '' } = await receive(s3, place);
  const holder = holderOf(new TextDecoder().decode(bytes));
  return holder === execution ? {} : { holder, lease: ETag };
}

function holderOf(text: string): string {
  try {
    return String((JSON.parse(text) as { execution?: unknown }).execution);
  } catch {
    return 'unknown';
  }
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
