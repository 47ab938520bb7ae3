/** Why a run was stopped: a map tells only that one of its shards failed. */
import type { S3Client } from '@aws-sdk/client-s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import * as z from 'zod';
import type { RunError } from '../../errors.ts';
import { runPlace } from './run-places.ts';
import { findJson, writeJson } from './storage.ts';

/** Why a run ends. */
export interface StopReason {
  readonly error: string;
  readonly reason: string;
}

/** A shard that stops the run. */
export interface StopRequest extends StopReason {
  readonly settings: TransformSettings;
  readonly execution: string;
}

/** The map's failure. */
export interface WhyRequest {
  readonly settings: TransformSettings;
  readonly execution: string;
  /** What the map itself says. */
  readonly otherwise: string;
}

const schema = z.object({ error: z.string(), reason: z.string(), execution: z.string() });

/** Keeps the reason for the end of the run. */
export async function stopRun(s3: S3Client, request: StopRequest): Promise<StopReason> {
  const { settings, error, reason, execution } = request;
  await writeJson(s3, runPlace(settings, 'stopped.json'), { error, reason, execution });
  return { error, reason };
}

/** The reason that a shard of this execution kept. */
export async function whyStopped(s3: S3Client, request: WhyRequest): Promise<StopReason> {
  const place = runPlace(request.settings, 'stopped.json');
  const kept = await findJson(s3, place, schema);
  if (kept?.execution === request.execution) return { error: kept.error, reason: kept.reason };
  const error: RunError = 'ShardsFailed';
  return { error, reason: request.otherwise };
}
