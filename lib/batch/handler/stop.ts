/** Why a run was stopped: a map tells only that one of its shards failed. */
import { createHash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import * as z from 'zod';
import type { RunError } from '../../errors.ts';
import { type HoldRequest, whyLost } from './begin.ts';
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
  const { error, reason, execution } = request;
  await writeJson(s3, stoppedPlace(request), { error, reason, execution });
  return { error, reason };
}

/** The reason why this execution ends: others with its `runId` keep theirs elsewhere. */
export async function whyStopped(s3: S3Client, request: WhyRequest): Promise<StopReason> {
  const { settings, execution, otherwise } = request;
  const lost = await whyLost(s3, request);
  if (lost !== undefined) return ended('AlreadyRunning', lost);
  // Releases before 0.2 kept one file for all executions of a run.
  for (const place of [stoppedPlace(request), runPlace(settings, 'stopped.json')]) {
    const kept = await findJson(s3, place, schema);
    if (kept?.execution === execution) return { error: kept.error, reason: kept.reason };
  }
  return ended('ShardsFailed', otherwise);
}

function ended(error: RunError, reason: string): StopReason {
  return { error, reason };
}

function stoppedPlace({ settings, execution }: HoldRequest) {
  const name = createHash('sha256').update(execution).digest('hex').slice(0, 32);
  return runPlace(settings, `stopped/${name}.json`);
}
