/** What a batch worker works through: the objects below a prefix, those of them that an S3 inventory lists, or those that a manifest of SageMaker names. */
import { createHash } from 'node:crypto';
import type { S3Client } from '@aws-sdk/client-s3';
import { type InputPlaces, type Inputs, inputsOf } from '../inputs.ts';
import { compareKeys } from '../key-order.ts';
import { isManifest, parseManifest } from '../manifest-file.ts';
import { asDirectory, parseS3Uri } from '../s3-uri.ts';
import { readInventory } from './inventory.ts';
import {
  openSorted,
  type SortedInventory,
  type SortOptions,
  sortInventoryFiles,
} from './inventory-runs.ts';
import { type KeyRange, keyRanges } from './key-ranges.ts';
import { listObjects, type S3Object } from './listing.ts';
import { findObjects } from './lookup.ts';
import { readText } from './objects.ts';

/** Inputs in the order of their keys. */
export interface WorkerInputs extends Pick<Inputs, 'bucket' | 'root' | 'prefix'> {
  /**
   * The inputs that are there, from the one after a whole key on; sorted.
   * @param upTo end of the range that is wanted; more may come
   */
  objects(after: string | undefined, upTo?: string): AsyncIterable<S3Object>;
  /** Whole keys at which the inputs are cut into this number of ranges, or fewer; sorted. */
  cuts(ranges: number): Promise<string[]>;
  /** SHA-256 (hex) of the keys of a manifest, or of an inventory's manifest; undefined for a prefix. */
  readonly digest: string | undefined;
  /**
   * What must be done before the objects can be read, by as many processes as like; absent if nothing.
   * @param cuts of the run's plan
   * @returns false if it was stopped before its end
   */
  prepare?(cuts: readonly string[], options: PrepareOptions): Promise<boolean>;
}

type PrepareOptions = Pick<SortOptions, 'write' | 'begin' | 'stopping'>;

/** Where inputs are. */
interface WorkerPlaces extends InputPlaces {
  /** S3 URI of the `manifest.json` of an S3 inventory; default: the prefix is listed. */
  readonly inventoryUri?: string | undefined;
  /** Of the run's plan, if there is one. */
  readonly cuts?: readonly string[];
}

/** Ranges that are looked for where fewer are wanted, as some hold ten times as many keys as others. */
const FINEST = 64;
/** Keys that are looked for at once. */
const GROUP = 1_000;

/**
 * Opens the inputs. Memory holds the keys of a manifest.
 * @param places `inputUri` is a manifest where it ends in `.manifest`, else a prefix
 * @throws BatchError S3_URI_INVALID, MANIFEST_INVALID, INVENTORY_INVALID, INVENTORY_NOT_READ
 */
export async function openInputs(s3: S3Client, places: WorkerPlaces): Promise<WorkerInputs> {
  const { inventoryUri } = places;
  if (inventoryUri !== undefined) return inventoryInputs(s3, places, inventoryUri);
  return isManifest(places.inputUri) ? manifestInputs(s3, places) : below(s3, places);
}

function below(s3: S3Client, places: InputPlaces): WorkerInputs {
  const inputs = inputsOf(places);
  return {
    ...inputs,
    digest: undefined,
    async *objects(after) {
      for await (const object of listObjects(s3, inputs, after)) {
        if (inputs.isInput(object.key)) yield object;
      }
    },
    async cuts(ranges) {
      if (ranges === 1) return [];
      const found = await keyRanges(s3, inputs, Math.max(ranges, FINEST));
      return joined(found, ranges);
    },
  };
}

/** Cuts into this many ranges or fewer: the smallest neighbors are joined. Each character more is taken for a tenth of the keys. */
function joined(found: readonly KeyRange[], ranges: number): string[] {
  const longest = Math.max(...found.map(({ prefix }) => prefix.length));
  const groups = found
    // One with a `first` holds little more than that.
    .map(({ prefix, first }) => ({ prefix, size: first ? 0 : 10 ** (longest - prefix.length) }))
    .sort((a, b) => compareKeys(a.prefix, b.prefix));
  const both = (at: number) => (groups[at]?.size ?? 0) + (groups[at + 1]?.size ?? 0);
  while (groups.length > ranges) {
    let least = 0;
    for (let at = 1; at < groups.length - 1; at++) if (both(at) < both(least)) least = at;
    const prefix = groups[least]?.prefix ?? '';
    groups.splice(least, 2, { prefix, size: both(least) });
  }
  // The first range begins with the first key.
  return groups.slice(1).map(({ prefix }) => prefix);
}

/** The objects of an inventory. The keys are cut where those of a listing are: its files are in no order. */
async function inventoryInputs(
  s3: S3Client,
  places: WorkerPlaces,
  inventoryUri: string,
): Promise<WorkerInputs> {
  const listed = below(s3, places);
  const { isInput, bucket } = inputsOf(places);
  const inventory = await readInventory(s3, inventoryUri, bucket);
  const output = asDirectory(parseS3Uri(places.outputUri));
  let { cuts } = places;
  let sorted: SortedInventory | undefined;
  return {
    ...listed,
    digest: createHash('sha256').update(inventory.text).digest('hex'),
    async *objects(after, upTo) {
      sorted ??= await openSorted(s3, output, { inventory, cuts: cuts ?? [] });
      yield* sorted.objects(after, upTo);
    },
    prepare(ofPlan, options) {
      cuts = ofPlan;
      return sortInventoryFiles(s3, output, { ...options, inventory, cuts, isInput });
    },
  };
}

async function manifestInputs(s3: S3Client, places: InputPlaces): Promise<WorkerInputs> {
  const { inputUri, keySuffix = '' } = places;
  const { prefix, keys } = await parseManifest(await readText(s3, parseS3Uri(inputUri)), inputUri);
  const { bucket, key: root } = parseS3Uri(prefix);
  const sorted = keys.filter((key) => key.endsWith(keySuffix)).sort(compareKeys);
  return {
    bucket,
    root,
    prefix,
    digest: createHash('sha256').update(sorted.join('\n')).digest('hex'),
    async *objects(after) {
      const first = after === undefined ? 0 : firstAfter(sorted, after.slice(root.length));
      for (let at = first; at < sorted.length; at += GROUP) {
        const some = sorted.slice(at, at + GROUP);
        const found = await findObjects(s3, { bucket, key: root }, some);
        for (const key of some) {
          const object = found.get(key);
          if (object) yield object;
        }
      }
    },
    async cuts(ranges) {
      const size = Math.ceil(sorted.length / ranges);
      const ends = sorted.filter((_, at) => (at + 1) % size === 0 && at + 1 < sorted.length);
      return ends.map((key) => root + key);
    },
  };
}

function firstAfter(sorted: readonly string[], key: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (compareKeys(sorted[middle] as string, key) <= 0) low = middle + 1;
    else high = middle;
  }
  return low;
}
