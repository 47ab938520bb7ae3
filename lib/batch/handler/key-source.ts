/** Where the keys of a run come from: a listing, an inventory or a manifest. */
import type { S3Client } from '@aws-sdk/client-s3';
import { compareKeys, inputsOf, parseS3Uri, type S3Location } from '@sagemaker-tfs/batch';
import { type Inventory, inventoryRows, keyRanges, listPages } from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import { mergeRuns, runWriter } from './sorted-runs.ts';
import { readManifest } from './storage.ts';

/** Keys that are kept for messages. */
const NAMED = 3;

/** Keys below a prefix. */
export interface KeySource {
  /** Cuts the keys after one into ranges that are listed at the same time; absent where they come from files. */
  ranges?(after: string, wanted: number): Promise<SourceRange[]>;
  /** Pages of the keys of a range. */
  pagesOf?(range: SourceRange): AsyncIterable<readonly string[]>;
  /** S3 URI that ends in `/`. */
  readonly prefix: string;
  /** Pages of keys, sorted as S3 sorts, below the prefix, each once, after a key. */
  pages(after: string): AsyncIterable<readonly string[]>;
  /** The first keys below the prefix that were not taken for inputs, for messages. */
  passedOver(): readonly string[];
}

/** Keys of a listing that begin alike, below the source's prefix as far as they are named. */
export interface SourceRange {
  /** Start of the whole keys. */
  readonly prefix: string;
  /** A key before them that belongs to the range and is not yet in a shard. */
  readonly first?: string | undefined;
  /** Keys up to this one are in shards. */
  readonly after: string;
  /** True once all its full shards are written: fewer keys are left. */
  readonly fullShardsWritten?: boolean;
  /** True once all its keys are in shards. */
  readonly isDone?: boolean;
}

/** How far the keys of an inventory are sorted. */
export interface SortPosition {
  /** Data files that are read. */
  readonly files: number;
  /** Sorted runs that are written. */
  readonly runs: number;
}

/** The inputs of a run, and their keys as a manifest has them. */
function belowInput(settings: TransformSettings) {
  const inputs = inputsOf(settings);
  const below = (names: readonly string[]) =>
    names.filter(inputs.isInput).map((name) => name.slice(inputs.root.length));
  return { ...inputs, below };
}

/** Every object below the input prefix. */
export function listingSource(s3: S3Client, settings: TransformSettings): KeySource {
  const { bucket, key, root, prefix, below, isInput } = belowInput(settings);
  const others: string[] = [];
  async function* listed(start: string, after: string): AsyncGenerator<string[]> {
    const startAfter = after && `${root}${after}`;
    for await (const { objects } of listPages(s3, { bucket, key: start }, { startAfter })) {
      yield objects.map((object) => object.key);
    }
  }
  return {
    prefix,
    passedOver: () => others,
    async ranges(after, wanted) {
      const found = await keyRanges(s3, { bucket, key }, wanted);
      return found
        .sort((a, b) => compareKeys(a.prefix, b.prefix))
        .map(({ prefix: start, first }) => {
          const name = first && isInput(first.key) ? first.key.slice(root.length) : undefined;
          const isLeft = name !== undefined && (after === '' || compareKeys(name, after) > 0);
          return { prefix: start, ...(isLeft && { first: name }), after };
        });
    },
    async *pagesOf({ prefix: start, first, after }) {
      if (first !== undefined) yield [first];
      for await (const keys of listed(start, after)) yield below(keys);
    },
    async *pages(after) {
      for await (const keys of listed(key, after)) {
        if (others.length < NAMED) {
          others.push(...keys.filter((name) => !isInput(name)).slice(0, NAMED - others.length));
        }
        yield below(keys);
      }
    },
  };
}

/**
 * Sorts the keys of SageMaker's manifest, which are in any order and may be repeated.
 * @returns how far it got: always to the end
 */
export async function sortManifest(
  s3: S3Client,
  settings: TransformSettings,
  runs: S3Location,
): Promise<SortPosition> {
  const { pages } = await readManifest(s3, parseS3Uri(settings.inputUri));
  const writer = runWriter(s3, runs, 0);
  for await (const keys of pages) {
    await writer.add(keys.filter((key) => key.endsWith(settings.keySuffix)));
  }
  return { files: 1, runs: await writer.end() };
}

/** The sorted keys of a manifest. */
export async function manifestSource(
  s3: S3Client,
  settings: TransformSettings,
  place: S3Location,
  runs: number,
): Promise<KeySource> {
  const { prefix } = await readManifest(s3, parseS3Uri(settings.inputUri));
  return { prefix, passedOver: () => [], pages: (after) => mergeRuns(s3, place, runs, after) };
}

/**
 * Sorts an inventory's keys, from where the last call stopped.
 * @param outOfTime asked after every data file
 */
export async function sortInventory(
  s3: S3Client,
  settings: TransformSettings,
  inventory: Inventory,
  runs: S3Location,
  position: SortPosition,
  outOfTime: () => boolean,
): Promise<SortPosition> {
  const { below } = belowInput(settings);
  const writer = runWriter(s3, runs, position.runs);
  let { files } = position;
  for (const file of inventory.files.slice(files)) {
    for await (const rows of inventoryRows(s3, inventory, file)) {
      await writer.add(below(rows.map(({ key }) => key)));
    }
    files += 1;
    if (outOfTime()) break;
  }
  return { files, runs: await writer.end() };
}

/** The sorted keys of an inventory. */
export function inventorySource(
  s3: S3Client,
  settings: TransformSettings,
  place: S3Location,
  runs: number,
): KeySource {
  const { prefix } = belowInput(settings);
  return { prefix, passedOver: () => [], pages: (after) => mergeRuns(s3, place, runs, after) };
}
