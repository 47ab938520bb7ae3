/** How far a sharded run is: an empty object for each shard that is done, whose name says how many inputs it had. */
import type { S3Client } from '@aws-sdk/client-s3';
import { noticesReached } from '@sagemaker-tfs/batch';
import { findObject, listObjects } from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { readReport } from './pending.ts';
import { planMarker, plannedInputs } from './plan.ts';
import { runPlace, shardOf } from './run-places.ts';
import { writeIf, writeObject } from './storage.ts';

/** A shard that is done. */
export interface ProgressRequest {
  readonly settings: TransformSettings;
  /** Key of the shard's manifest. */
  readonly shard: string;
  /** Percentages to tell of, once each. */
  readonly noticesAt: readonly number[];
}

/** What the state machine gets: empty unless a percentage was reached for the first time. */
export interface ProgressResult {
  /** The highest percentage that was reached. */
  readonly percent?: number;
  /** Inputs of the shards that are done, whether they have an output or not. */
  readonly inputs?: number;
  /** Inputs of the run. */
  readonly of?: number;
  readonly runId?: string;
}

/** Keeps that a shard is done, and counts. */
export async function countProgress(
  s3: S3Client,
  { settings, shard, noticesAt }: ProgressRequest,
): Promise<ProgressResult> {
  const name = shardOf(shard);
  const report = await readReport(s3, settings, name);
  if (!report) return {};
  await writeObject(s3, runPlace(settings, `progress/${name}=${report.inputs}`), new Uint8Array());
  // Before all shards are planned nobody knows how many inputs there are.
  if (!(await findObject(s3, planMarker(settings)))) return {};
  const [of, inputs] = [await plannedInputs(s3, settings), await inputsDone(s3, settings)];
  const reached: number[] = [];
  for (const percent of noticesReached(noticesAt, inputs, of)) {
    const place = runPlace(settings, `notices/${percent}`);
    if (await writeIf(s3, place, { inputs, of }, { IfNoneMatch: '*' })) reached.push(percent);
  }
  if (reached.length === 0) return {};
  return { percent: Math.max(...reached), inputs, of, runId: settings.runId };
}

async function inputsDone(s3: S3Client, settings: TransformSettings): Promise<number> {
  let inputs = 0;
  for await (const { key } of listObjects(s3, runPlace(settings, 'progress/'))) {
    inputs += Number(key.slice(key.lastIndexOf('=') + 1));
  }
  return inputs;
}
