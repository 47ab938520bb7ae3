/** Cuts the input into manifests of N objects, as far as one run of the function gets. */
import type { S3Client } from '@aws-sdk/client-s3';
import { asDirectory, parseS3Uri, RUNS_FOLDER, type S3Location } from '@sagemaker-tfs/batch';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { readInventory } from './inventory.ts';
import {
  inventorySource,
  type KeySource,
  listingSource,
  manifestSource,
  type SortPosition,
  sortInventory,
} from './key-source.ts';
import { listPage, writeJson, writeManifest } from './storage.ts';

/** Where the next call goes on. */
export interface PlanPosition {
  /** Shards written so far. */
  readonly shards: number;
  /** Last key that is in a shard; keys up to it are done. */
  readonly after: string;
  /** Of an inventory, whose keys are sorted first. */
  readonly sorted?: SortPosition;
}

/** What the state machine gets. */
export interface PlanResult {
  readonly planned: boolean;
  readonly shards: { readonly bucket: string; readonly prefix: string };
  readonly position?: PlanPosition;
}

/** Where a run keeps its shards, manifests and reports. */
export function runDirectory({ outputUri, runId }: TransformSettings): S3Location {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  return { bucket, key: `${key}${RUNS_FOLDER}${runId}/` };
}

/** Where the planned manifests are. */
export function shardsDirectory(settings: TransformSettings): S3Location {
  const { bucket, key } = runDirectory(settings);
  return { bucket, key: `${key}planned/` };
}

/** Name of a shard; sorts as its number. */
export function shardName(number: number): string {
  return `${String(number).padStart(6, '0')}.manifest`;
}

/** Marks a run whose shards are all written, so that a resumed run does not plan anew. */
function planMarker(settings: TransformSettings): S3Location {
  const { bucket, key } = runDirectory(settings);
  return { bucket, key: `${key}planned.json` };
}

/**
 * Writes manifests until the input or the time is used up.
 * @param outOfTime asked after every page of keys
 */
export async function planShards(
  s3: S3Client,
  settings: TransformSettings,
  position: PlanPosition | undefined,
  outOfTime: () => boolean,
): Promise<PlanResult> {
  const target = shardsDirectory(settings);
  const shards = { bucket: target.bucket, prefix: target.key };
  const marker = planMarker(settings);
  const { keys: marked } = await listPage(s3, marker);
  if (marked.length > 0) return { planned: true, shards };
  const opened = await openSource(s3, settings, position?.sorted, outOfTime);
  const { source, sorted } = opened;
  if (!source) {
    return {
      planned: false,
      shards,
      position: { shards: 0, after: '', ...(sorted && { sorted }) },
    };
  }
  let written = position?.shards ?? 0;
  let after = position?.after ?? '';
  // All but the last shard are full.
  let inputs = written * settings.objectsPerShard;
  let waiting: string[] = [];
  const flush = async (all: boolean) => {
    while (waiting.length >= settings.objectsPerShard || (all && waiting.length > 0)) {
      const keys = waiting.slice(0, settings.objectsPerShard);
      waiting = waiting.slice(settings.objectsPerShard);
      const key = `${target.key}${shardName(written)}`;
      await writeManifest(s3, { bucket: target.bucket, key }, source.prefix, keys);
      written += 1;
      inputs += keys.length;
      after = keys.at(-1) ?? after;
    }
  };
  for await (const page of source.pages(after)) {
    for (const key of page) waiting.push(key);
    await flush(false);
    if (outOfTime() && written > (position?.shards ?? 0)) {
      const next = { shards: written, after, ...(sorted && { sorted }) };
      return { planned: false, shards, position: next };
    }
  }
  await flush(true);
  await writeJson(s3, marker, { shards: written, inputs });
  return { planned: true, shards };
}

/** The keys to plan; no source while an inventory still has to be sorted. */
async function openSource(
  s3: S3Client,
  settings: TransformSettings,
  position: SortPosition = { files: 0, runs: 0 },
  outOfTime: () => boolean,
): Promise<{ readonly source?: KeySource; readonly sorted?: SortPosition }> {
  if (settings.dataType === 'ManifestFile') return { source: await manifestSource(s3, settings) };
  if (settings.inventoryUri === '') return { source: listingSource(s3, settings) };
  const { bucket } = parseS3Uri(settings.inputUri);
  const inventory = await readInventory(s3, settings.inventoryUri, bucket);
  const run = runDirectory(settings);
  const runs = { bucket: run.bucket, key: `${run.key}inventory/` };
  const sorted =
    position.files < inventory.files.length
      ? await sortInventory(s3, settings, inventory, runs, position, outOfTime)
      : position;
  if (sorted.files < inventory.files.length) return { sorted };
  return { source: inventorySource(s3, settings, runs, sorted.runs), sorted };
}
