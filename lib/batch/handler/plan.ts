/** Cuts the input into manifests of N objects, as far as one run of the function gets. */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  compareKeys,
  MANIFEST_BYTES,
  PLANNED_MARKER,
  parseS3Uri,
  type S3Location,
} from '@sagemaker-tfs/batch';
import { findObject, readFacts, readInventory } from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import * as z from 'zod';
import { ConstructError } from '../../errors.ts';
import {
  inventorySource,
  type KeySource,
  listingSource,
  manifestSource,
  type SortPosition,
  type SourceRange,
  sortInventory,
  sortManifest,
} from './key-source.ts';
import { manifestName, outputDirectory, runPlace, shardsDirectory } from './run-places.ts';
import { readJson, writeJson, writeManifest } from './storage.ts';

/** Where the next call continues. */
export interface PlanPosition {
  /** Shards written so far. */
  readonly shards: number;
  /** Last key that is in a shard; keys up to it are done. */
  readonly after: string;
  /** Keys that are in a shard. */
  readonly inputs: number;
  /** Of a large listing: ranges that are listed at the same time, each with its own end. */
  readonly ranges?: readonly SourceRange[];
  /** True where one stream is enough, or where the keys cannot be cut. */
  readonly isSmall?: boolean;
  /** Of an inventory or a manifest, whose keys are sorted first. */
  readonly sorted?: SortPosition;
  /** Inputs of the shards after the first, where its rate decides. */
  readonly objectsPerShard?: number;
}

/** What the state machine gets. */
export interface PlanResult {
  readonly planned: boolean;
  readonly shards: { readonly bucket: string; readonly prefix: string };
  /** Inputs that are planned. */
  readonly inputs: number;
  /** Some keys below the prefix that are no inputs. */
  readonly passedOver?: readonly string[];
  /** True where only the first shard is planned, because its rate decides about the others. */
  readonly canaryOnly?: true;
  readonly position?: PlanPosition;
}

const markerSchema = z.object({ inputs: z.number() });

/** Marks a run whose shards are all written, so that a resumed run does not plan anew. */
export function planMarker(settings: TransformSettings): S3Location {
  return runPlace(settings, PLANNED_MARKER);
}

/** Inputs of a run whose shards are all written. */
export async function plannedInputs(s3: S3Client, settings: TransformSettings): Promise<number> {
  return (await readJson(s3, planMarker(settings), markerSchema)).inputs;
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
    return { planned: true, shards, inputs: await plannedInputs(s3, settings) };
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
  const { manifestBytes } = await readFacts(s3, outputDirectory(settings));
  const most = Math.min(MANIFEST_BYTES, manifestBytes);
  const begun = position?.shards ?? 0;
  const objectsPerShard = position?.objectsPerShard ?? settings.objectsPerShard;
  const canaryOnly = settings.minutesPerShard > 0 && position?.objectsPerShard === undefined;
  const work: Planning = {
    source,
    canaryOnly,
    streams: streamsOf(objectsPerShard),
    openShard: () => openShard(objectsPerShard, most),
    state: { shards: 0, after: '', inputs: 0, ...position, ...(sorted && { sorted }) },
    async write(keys, number) {
      if (number >= MOST_SHARDS) throw tooManyShards(settings);
      const key = `${target.key}${manifestName(number)}`;
      // Whoever compares a shard with its outputs takes the keys in their order.
      const inOrder = [...keys].sort(compareKeys);
      await writeManifest(s3, { bucket: target.bucket, key }, source.prefix, inOrder);
    },
    isLate: () => outOfTime() && work.state.shards > begun,
  };
  const ended = await runPlan(work);
  const { shards: written, inputs } = work.state;
  if (!ended) {
    const isFirst = canaryOnly && written > 0;
    return {
      planned: false,
      shards,
      inputs,
      position: work.state,
      ...(isFirst && { canaryOnly: true }),
    };
  }
  // What is put there later is found when the run is started again.
  if (inputs > 0) await writeJson(s3, marker, { shards: written, inputs });
  const passedOver = source.passedOver();
  return { planned: true, shards, inputs, ...(passedOver.length > 0 && { passedOver }) };
}

/**
 * Shards of a run. A map's result holds the output of each, `{}` and a comma, and a state takes 256 KiB.
 * @see https://docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html
 */
const MOST_SHARDS = 80_000;

/** Before they are paid for: the map would fail when all are done. */
function tooManyShards({ runId }: TransformSettings): ConstructError {
  return new ConstructError(
    'TOO_MANY_SHARDS',
    `run '${runId}' has more than ${MOST_SHARDS} shards. Start it with another runId, and with a larger objectsPerShard or minutesPerShard.`,
  );
}

/** Planning under way. */
interface Planning {
  readonly source: KeySource;
  /** Ends behind the first shard, if there is more. */
  readonly canaryOnly: boolean;
  /** Ranges at once. */
  readonly streams: number;
  openShard(): ReturnType<typeof openShard>;
  state: PlanPosition;
  write(keys: readonly string[], number: number): Promise<void>;
  /** True where this call has written a shard and its time is used up. */
  isLate(): boolean;
}

/** Pages after which a listing is worth more streams than one. */
const PAGES_IN_ORDER = 50;
/** Listings at once, and keys that all of them may hold. */
const STREAMS = { least: 4, most: 16, heldKeys: 2_000_000 };
/** Ranges whose position a state of the machine takes, with the longest keys: 256 KiB. */
const MAX_RANGES = 64;

function streamsOf(objectsPerShard: number): number {
  const { least, most, heldKeys } = STREAMS;
  return Math.min(most, Math.max(least, Math.floor(heldKeys / objectsPerShard)));
}

/**
 * A small input is listed from its start to its end. Of a large one several ranges are listed at once, and each writes full
 * shards; what is left of them is listed again and put together, so that no range ends in a job for a few keys.
 * @returns false if time ran out
 */
async function runPlan(work: Planning): Promise<boolean> {
  const { source } = work;
  if (work.state.ranges === undefined) {
    const isOne = source.ranges === undefined || work.state.isSmall === true;
    const most = isOne ? undefined : PAGES_IN_ORDER;
    const end = await planInOrder(work, source.pages(work.state.after), most);
    if (end !== 'large') return end === 'ended';
    const ranges = (await source.ranges?.(work.state.after, work.streams)) ?? [];
    const isMany = ranges.length > 1 && ranges.length <= MAX_RANGES;
    work.state = { ...work.state, ...(isMany ? { ranges } : { isSmall: true }) };
    return isMany ? planRanges(work) : runPlan(work);
  }
  return planRanges(work);
}

async function planRanges(work: Planning): Promise<boolean> {
  const numbers = [...(work.state.ranges ?? []).keys()];
  const ended: boolean[] = await Readable.from(numbers)
    .map((number: number) => planRange(work, number), { concurrency: work.streams })
    .toArray();
  return !ended.includes(false) && planRest(work);
}

/** Writes the full shards of one range. @returns false if time ran out */
async function planRange(work: Planning, number: number): Promise<boolean> {
  const range = work.state.ranges?.[number];
  if (range === undefined || range.fullShardsWritten || work.isLate())
    return range?.fullShardsWritten ?? false;
  const shard = work.openShard();
  for await (const page of work.source.pagesOf?.(range) ?? []) {
    for (const key of page) {
      if (shard.isFull(work.state.shards, key)) await writeOfRange(work, number, shard.take());
      shard.add(key);
    }
    if (work.isLate()) return false;
  }
  changeRange(work, number, { fullShardsWritten: true });
  return true;
}

async function writeOfRange(work: Planning, number: number, keys: readonly string[]) {
  const { shards } = work.state;
  // Taken at once: other ranges write meanwhile.
  work.state = { ...work.state, shards: shards + 1 };
  await work.write(keys, shards);
  work.state = { ...work.state, inputs: work.state.inputs + keys.length };
  changeRange(work, number, { first: undefined, after: keys.at(-1) ?? '' });
}

function changeRange(work: Planning, number: number, change: Partial<SourceRange>): void {
  const ranges = work.state.ranges?.map((range, at) =>
    at === number ? { ...range, ...change } : range,
  );
  work.state = { ...work.state, ...(ranges && { ranges }) };
}

/** Puts together what is left of all ranges. @returns false if time ran out */
async function planRest(work: Planning): Promise<boolean> {
  const shard = work.openShard();
  const write = async (number: number) => {
    await writeOfRange(work, number, shard.take());
    for (let before = 0; before < number; before++) changeRange(work, before, { isDone: true });
  };
  let last = 0;
  for (const [number, range] of (work.state.ranges ?? []).entries()) {
    if (range.isDone) continue;
    for await (const page of work.source.pagesOf?.(range) ?? []) {
      for (const key of page) {
        if (shard.isFull(work.state.shards, key)) await write(last);
        shard.add(key);
        last = number;
      }
      if (work.isLate()) return false;
    }
  }
  if (shard.size() > 0) await write(last);
  return true;
}

/**
 * Puts all keys into shards, one after the other.
 * @param most pages after which it stops, because there are many
 * @returns `paused` if time ran out, and behind the first shard if no more is wanted
 */
async function planInOrder(
  work: Planning,
  pages: AsyncIterable<readonly string[]>,
  most?: number,
): Promise<'ended' | 'paused' | 'large'> {
  const shard = work.openShard();
  const write = async () => {
    const keys = shard.take();
    const { shards, inputs, after } = work.state;
    await work.write(keys, shards);
    const counts = { shards: shards + 1, inputs: inputs + keys.length };
    work.state = { ...work.state, ...counts, after: keys.at(-1) ?? after };
  };
  let seen = 0;
  for await (const page of pages) {
    for (const key of page) {
      if (shard.isFull(work.state.shards, key)) {
        await write();
        if (work.canaryOnly) return 'paused';
      }
      shard.add(key);
    }
    if (work.isLate()) return 'paused';
    if (++seen === most) return 'large';
  }
  if (shard.size() > 0) await write();
  return 'ended';
}

/** The first shard is small, so that a model or handler that fails costs one short job. */
const CANARY_INPUTS = 1_000;

/** A manifest without keys. */
const HEAD_BYTES = 1_200;

/** Gathers the keys of a shard. @param most bytes of its manifest */
function openShard(objectsPerShard: number, most: number) {
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

/** ASCII that JSON does not escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Bytes of a key in a manifest, which has it as JSON on a line of its own. */
function lineBytes(key: string): number {
  if (PLAIN.test(key)) return key.length + 4;
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
