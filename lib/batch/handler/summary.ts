/** The completeness check of a run. */
import type { S3Client } from '@aws-sdk/client-s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import * as z from 'zod';
import { reportsDirectory } from './pending.ts';
import { runDirectory, shardsDirectory } from './plan.ts';
import { listKeys, readJson, writeJson, writeManifest } from './storage.ts';

/** What the state machine gets. */
export interface Summary {
  readonly inputs: number;
  readonly missing: number;
  /** What is to be done, and where the reasons are; absent where nothing is missing. */
  readonly advice?: string;
  /** Manifest of all inputs without an output, which a new run takes; absent where there is none, or far too many. */
  readonly redriveUri?: string;
  readonly outputUri: string;
}

/** Keys that one manifest takes: more are for the same run again, shard by shard. */
const MOST_LISTED = 1_000_000;

const reportSchema = z.object({
  inputs: z.number(),
  missing: z.array(z.string()),
  prefix: z.string(),
  reason: z.string().optional(),
});

/** Adds up the shards' reports; writes the re-drive manifest, and the reasons beside it. */
export async function summarizeRun(s3: S3Client, settings: TransformSettings): Promise<Summary> {
  const run = runDirectory(settings);
  const reports = reportsDirectory(settings);
  let inputs = 0;
  let prefix = '';
  let count = 0;
  const missing: string[] = [];
  const reasons: { shard: string; missing: number; reason: string }[] = [];
  const reported = new Set<string>();
  for await (const key of listKeys(s3, reports)) {
    const report = reportSchema.parse(await readJson(s3, { bucket: reports.bucket, key }));
    inputs += report.inputs;
    prefix = report.prefix;
    count += report.missing.length;
    if (count <= MOST_LISTED) for (const name of report.missing) missing.push(name);
    const shard = key.slice(reports.key.length).replace('.json', '');
    reported.add(shard);
    if (report.missing.length > 0) {
      const reason = report.reason ?? 'the shard was not run';
      reasons.push({ shard, missing: report.missing.length, reason });
    }
  }
  await checkAllReported(s3, settings, reported);
  const { outputUri } = settings;
  if (count === 0) return { inputs, missing: 0, outputUri };
  const reasonsKey = `${run.key}redrive-reasons.json`;
  await writeJson(s3, { bucket: run.bucket, key: reasonsKey }, reasons);
  if (count > MOST_LISTED) {
    const advice = `start again with runId '${settings.runId}' to continue; reasons are in s3://${run.bucket}/${reasonsKey}`;
    return { inputs, missing: count, advice, outputUri };
  }
  const key = `${run.key}redrive.manifest`;
  await writeManifest(s3, { bucket: run.bucket, key }, prefix, missing);
  const redriveUri = `s3://${run.bucket}/${key}`;
  const advice = `they are listed, with reasons, in ${redriveUri}`;
  return { inputs, missing: count, advice, redriveUri, outputUri };
}

/** @throws where a planned shard has no report: its execution failed before it could write one */
async function checkAllReported(
  s3: S3Client,
  settings: TransformSettings,
  reported: ReadonlySet<string>,
): Promise<void> {
  const shards = shardsDirectory(settings);
  for await (const key of listKeys(s3, shards)) {
    const shard = key.slice(shards.key.length).replace('.manifest', '');
    if (reported.has(shard)) continue;
    throw new Error(
      `shard ${shard} was never looked at. Start again with runId '${settings.runId}' to continue`,
    );
  }
}
