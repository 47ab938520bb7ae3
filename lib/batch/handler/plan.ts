/** Cuts the input into manifests of N objects, as far as one run of the function gets. */
import type { S3Client } from '@aws-sdk/client-s3';
import { MANIFEST_BYTES, parseS3Uri, type S3Location } from '@sagemaker-tfs/batch';
import { findObject, readFacts } from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import * as z from 'zod';
import { readInventory } from './inventory.ts';
import {
  inventorySource,
  type KeySource,
  listingSource,
  manifestSource,
  type SortPosition,
  sortInventory,
  sortManifest,
} from './key-source.ts';
import { manifestName, outputDirectory, runPlace, shardsDirectory } from './run-places.ts';
import { readJson, writeJson, writeManifest } from './storage.ts';

/** Where the next call goes on. */
export interface PlanPosition {
  /** Shards written so far. */
  readonly shards: number;
  /** Last key that is in a shard; keys up to it are done. */
  readonly after: string;
  /** Keys that are in a shard. */
  readonly inputs: number;
  /** Of an inventory or a manifest, whose keys are sorted first. */
  readonly sorted?: SortPosition;
}

/** What the state machine gets. */
export interface PlanResult {
  readonly planned: boolean;
  readonly shards: { readonly bucket: string; readonly prefix: string };
  /** Inputs that are planned. */
  readonly inputs: number;
  /** Some keys below the prefix that are no inputs. */
  readonly passedOver?: readonly string[];
  readonly position?: PlanPosition;
}

const markerSchema = z.object({ inputs: z.number() });

/** Marks a run whose shards are all written, so that a resumed run does not plan anew. */
function planMarker(settings: TransformSettings): S3Location {
  return runPlace(settings, 'planned.json');
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
  if (await findObject(s3, marker)) {
    const { inputs } = markerSchema.parse(await readJson(s3, marker));
    return { planned: true, shards, inputs };
  }
  const opened = await openSource(s3, settings, position?.sorted, outOfTime);
  const { source, sorted } = opened;
  if (!source) {
    return {
      planned: false,
      shards,
      inputs: 0,
      position: { shards: 0, after: '', inputs: 0, ...(sorted && { sorted }) },
    };
  }
  let written = position?.shards ?? 0;
  let after = position?.after ?? '';
  let inputs = position?.inputs ?? 0;
  const { manifestBytes } = await readFacts(s3, outputDirectory(settings));
  const shard = openShard(settings, Math.min(MANIFEST_BYTES, manifestBytes));
  const write = async () => {
    const keys = shard.take();
    const key = `${target.key}${manifestName(written)}`;
    await writeManifest(s3, { bucket: target.bucket, key }, source.prefix, keys);
    written += 1;
    inputs += keys.length;
    after = keys.at(-1) ?? after;
  };
  for await (const page of source.pages(after)) {
    for (const key of page) {
      if (shard.isFull(written, key)) await write();
      shard.add(key);
    }
    if (outOfTime() && written > (position?.shards ?? 0)) {
      const next = { shards: written, after, inputs, ...(sorted && { sorted }) };
      return { planned: false, shards, inputs, position: next };
    }
  }
  if (shard.size() > 0) await write();
  // What is put there later is found when the run is started again.
  if (inputs > 0) await writeJson(s3, marker, { shards: written, inputs });
  const passedOver = source.passedOver();
  return { planned: true, shards, inputs, ...(passedOver.length > 0 && { passedOver }) };
}

/** The first shard is small, so that a model or handler that fails costs one short job. */
const CANARY_INPUTS = 1_000;

/** A manifest without keys. */
const HEAD_BYTES = 1_200;

/** Gathers the keys of a shard. @param most bytes of its manifest */
function openShard({ objectsPerShard }: TransformSettings, most: number) {
  let keys: string[] = [];
  // The first entry, the prefix, has at most the bytes of a key and of a bucket's name.
  let bytes = HEAD_BYTES;
  return {
    size: () => keys.length,
    /** @param number of the shard, from 0 @param next the key that would be added */
    isFull: (number: number, next: string) =>
      keys.length >= (number === 0 ? Math.min(CANARY_INPUTS, objectsPerShard) : objectsPerShard) ||
      (keys.length > 0 && bytes + lineBytes(next) > most),
    add(key: string) {
      keys.push(key);
      bytes += lineBytes(key);
    },
    take() {
      const taken = keys;
      keys = [];
      bytes = HEAD_BYTES;
      return taken;
    },
  };
}

/** Bytes of a key in a manifest, which has it as JSON on a line of its own. */
function lineBytes(key: string): number {
  return Buffer.byteLength(JSON.stringify(key)) + 2;
}

/** The keys to plan; no source while an inventory still has to be sorted. */
async function openSource(
  s3: S3Client,
  settings: TransformSettings,
  position: SortPosition = { files: 0, runs: 0 },
  outOfTime: () => boolean,
): Promise<{ readonly source?: KeySource; readonly sorted?: SortPosition }> {
  const runs = runPlace(settings, 'inventory/');
  if (settings.dataType === 'ManifestFile') {
    const sorted = position.files > 0 ? position : await sortManifest(s3, settings, runs);
    return { source: await manifestSource(s3, settings, runs, sorted.runs), sorted };
  }
  if (settings.inventoryUri === '') return { source: listingSource(s3, settings) };
  const { bucket } = parseS3Uri(settings.inputUri);
  const inventory = await readInventory(s3, settings.inventoryUri, bucket);
  const sorted =
    position.files < inventory.files.length
      ? await sortInventory(s3, settings, inventory, runs, position, outOfTime)
      : position;
  if (sorted.files < inventory.files.length) return { sorted };
  return { source: inventorySource(s3, settings, runs, sorted.runs), sorted };
}
