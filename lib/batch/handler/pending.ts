/** Which inputs of a shard have no output yet. */
import type { S3Client } from '@aws-sdk/client-s3';
import {
  asDirectory,
  inputOfOutput,
  outputKey,
  parseS3Uri,
  type S3Location,
} from '@sagemaker-tfs/batch';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { runDirectory } from './plan.ts';
import { listPage, readManifest, writeJson, writeManifest } from './storage.ts';

/** What the state machine gets. */
export interface PendingResult {
  /** Inputs without an output. */
  readonly missing: number;
  /** Manifest of these inputs; absent where there is none. */
  readonly manifestUri?: string;
}

/** State of a shard, kept for the summary. */
export interface ShardReport {
  readonly inputs: number;
  readonly missing: readonly string[];
  readonly prefix: string;
  /** Why the last job left them; absent before the first. */
  readonly reason?: string;
}

/** Reports of a run's shards. */
export function reportsDirectory(settings: TransformSettings): S3Location {
  const { bucket, key } = runDirectory(settings);
  return { bucket, key: `${key}reports/` };
}

/** Compares a shard with the outputs, and writes a manifest of what is missing. */
export async function findPending(
  s3: S3Client,
  settings: TransformSettings,
  shard: string,
  reason: string | undefined,
): Promise<PendingResult> {
  const run = runDirectory(settings);
  const { prefix, keys } = await readManifest(s3, { bucket: run.bucket, key: shard });
  const outputs = asDirectory(parseS3Uri(settings.outputUri));
  const missing = await withoutOutput(s3, outputs, keys);
  const name = shard.slice(shard.lastIndexOf('/') + 1).replace('.manifest', '');
  const report: ShardReport = { inputs: keys.length, missing, prefix, ...(reason && { reason }) };
  const reports = reportsDirectory(settings);
  await writeJson(s3, { bucket: reports.bucket, key: `${reports.key}${name}.json` }, report);
  if (missing.length === 0) return { missing: 0 };
  const key = `${run.key}pending/${name}.manifest`;
  await writeManifest(s3, { bucket: run.bucket, key }, prefix, missing);
  return { missing: missing.length, manifestUri: `s3://${run.bucket}/${key}` };
}

/** Keys without an output. Only the part of the listing that can hold this shard's outputs is read. */
async function withoutOutput(
  s3: S3Client,
  outputs: S3Location,
  keys: readonly string[],
): Promise<string[]> {
  const wanted = new Set(keys);
  const sorted = keys.map((key) => Buffer.from(outputKey(key))).sort(Buffer.compare);
  const last = sorted.at(-1) ?? Buffer.alloc(0);
  // Without its last character, the first output's key sorts just before it.
  const startAfter = `${outputs.key}${sorted[0]?.toString().slice(0, -1) ?? ''}`;
  let token: string | undefined;
  do {
    const page = await listPage(s3, outputs, { token, startAfter });
    for (const key of page.keys) {
      const input = inputOfOutput(key.slice(outputs.key.length));
      if (input !== undefined) wanted.delete(input);
    }
    const reached = Buffer.from(page.keys.at(-1)?.slice(outputs.key.length) ?? '');
    token = Buffer.compare(reached, last) > 0 ? undefined : page.token;
  } while (token && wanted.size > 0);
  return keys.filter((key) => wanted.has(key));
}
