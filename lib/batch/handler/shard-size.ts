/** How many inputs make a shard of the wanted time, by the times at which the outputs of the first shard were written. */
import type { S3Client } from '@aws-sdk/client-s3';
import { outputKey, outputRoot, parseS3Uri } from '@sagemaker-tfs/batch';
import { findObjects, readFacts } from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import * as z from 'zod';
import type { Since } from './begin.ts';
import type { PlanPosition } from './plan.ts';
import { CANARY_MANIFEST, outputDirectory, runPlace, shardsDirectory } from './run-places.ts';
import { findJson, readManifest, writeJson } from './storage.ts';

/** Outputs that a rate needs. */
const FEWEST_OUTPUTS = 100;
/** Fewer inputs make no job, however slow the model is. */
const FEWEST_INPUTS = 1_000;

const schema = z.object({
  objectsPerShard: z.number().int().positive(),
  /** Absent if the first shard had too few outputs. */
  objectsPerSecond: z.number().optional(),
  outputs: z.number(),
});
type ShardSize = z.output<typeof schema>;

/**
 * The position with the size of the shards that follow the first. It is measured once for a run: one that continues cuts its
 * keys as before.
 */
export async function withShardSize(
  s3: S3Client,
  settings: TransformSettings,
  since: Since,
  position: PlanPosition | undefined,
): Promise<PlanPosition | undefined> {
  const isDue = settings.minutesPerShard > 0 && position !== undefined && position.shards > 0;
  if (!isDue || position.objectsPerShard !== undefined) return position;
  const place = runPlace(settings, 'shard-size.json');
  const kept = await findJson(s3, place, schema);
  const size = kept ?? sizeOf(settings, await outputTimes(s3, settings, since));
  if (!kept) await writeJson(s3, place, size);
  return { ...position, objectsPerShard: size.objectsPerShard };
}

/** When the outputs of the first shard were written in this run, milliseconds since 1970. */
async function outputTimes(
  s3: S3Client,
  settings: TransformSettings,
  since: Since,
): Promise<number[]> {
  const output = outputDirectory(settings);
  const { bucket, key } = shardsDirectory(settings);
  const { prefix, pages } = await readManifest(s3, { bucket, key: key + CANARY_MANIFEST });
  const outputs = outputRoot(output, parseS3Uri(prefix), await readFacts(s3, output));
  const times: number[] = [];
  for await (const keys of pages) {
    const found = await findObjects(s3, outputs, keys.map(outputKey));
    times.push(...[...found.values()].map(({ modified }) => modified));
  }
  return times.filter((time) => time >= since.run);
}

/**
 * S3 tells whole seconds, so the span between the first output and the last may be a second longer: the rate is rather too
 * low, and the shards rather too short.
 */
function sizeOf(settings: TransformSettings, times: readonly number[]): ShardSize {
  const { minutesPerShard, objectsPerShard: most } = settings;
  const outputs = times.length;
  if (outputs < FEWEST_OUTPUTS) return { objectsPerShard: most, outputs };
  const [first, last] = times.reduce(
    ([low, high], time) => [Math.min(low, time), Math.max(high, time)],
    [Number.POSITIVE_INFINITY, 0],
  );
  const objectsPerSecond = outputs / ((last - first) / 1_000 + 1);
  const wanted = Math.round(objectsPerSecond * 60 * minutesPerShard);
  const objectsPerShard = Math.min(most, Math.max(FEWEST_INPUTS, wanted));
  return { objectsPerShard, objectsPerSecond, outputs };
}
