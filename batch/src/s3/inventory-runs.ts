/**
 * The objects of an S3 inventory in the order of their keys, though its files are in no order and memory holds few of them. Each
 * file is read once and written as sorted runs, below the output of a worker:
 *
 * - `_worker/inventory/FFFFF-RRR.gz`: a run, with a gzip member for each range of the plan that has keys in it
 * - `_worker/inventory/FFFFF.json`: where the members of the file's runs end. With it the file is done.
 *
 * The same file and cuts make the same runs, so it does no harm if two processes sort a file.
 */
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { createGunzip, gzip } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import * as z from 'zod';
import { BatchError } from '../errors.ts';
import { compareKeys, fromSortable, toSortable } from '../key-order.ts';
import { mergeSorted } from '../merge-sorted.ts';
import type { S3Location } from '../s3-uri.ts';
import { textLines } from '../text-lines.ts';
import { isAbsent, isPassing } from './errors.ts';
import {
  type Inventory,
  type InventoryFile,
  type InventoryRow,
  inventoryRows,
} from './inventory.ts';
import type { S3Object } from './listing.ts';
import { receive } from './objects.ts';
import { attempts } from './patient-retries.ts';

const compress = promisify(gzip);

/** Folder of the runs, below a worker's output. */
const FOLDER = '_worker/inventory/';
/** Characters of the keys of a run: what is in memory at once. */
const RUN_CHARACTERS = 16 * 1024 ** 2;
/** Objects in a page of a run. */
const PAGE = 100;
/** Members of runs that are read at once. */
const READS = 16;

/** Writes an object below the worker's output. */
type WriteRun = (key: string, body: Uint8Array, contentType: string) => Promise<void>;

/** A row of a run: sortable key, size, time. */
type Row = readonly [key: string, size: number, modified: number];

const row = z.tuple([z.string(), z.number(), z.number()]);
const marker = z.object({ runs: z.array(z.array(z.number().int().min(0))) });

/** For each run of a file, the byte at which the member of each range ends. */
type Ends = readonly (readonly number[])[];

/** What of an inventory is to be sorted. */
export interface SortOptions {
  readonly inventory: Inventory;
  /** Whole keys, sorted, at which ranges end. */
  readonly cuts: readonly string[];
  readonly isInput: (key: string) => boolean;
  readonly write: WriteRun;
  /** Part of the files, from 0 to 1, behind which this process begins, so that several do not all take the same. */
  readonly begin: number;
  /** Aborted once the process is to end. The file that it is at begins anew then. */
  readonly stopping: AbortSignal;
}

/**
 * Sorts every file that no process has sorted yet.
 * @param output where the worker writes
 * @returns false if it was stopped before the last
 * @throws BatchError INVENTORY_NOT_READ, INVENTORY_INVALID
 */
export async function sortInventoryFiles(
  s3: S3Client,
  output: S3Location,
  options: SortOptions,
): Promise<boolean> {
  const { files } = options.inventory;
  const first = Math.floor(options.begin * files.length);
  for (let at = 0; at < files.length; at++) {
    if (options.stopping.aborted) return false;
    const file = (first + at) % files.length;
    if ((await readEnds(s3, output, file)) !== undefined) continue;
    if (!(await sortFile(s3, file, options))) return false;
  }
  return true;
}

/** A connection that breaks costs the file once more. @returns false if it was stopped */
async function sortFile(s3: S3Client, file: number, options: SortOptions): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      return await sortOnce(s3, file, options);
    } catch (error) {
      if (!isPassing(error) || tries >= attempts()) throw error;
    }
  }
}

async function sortOnce(s3: S3Client, file: number, options: SortOptions): Promise<boolean> {
  const { inventory, isInput, write, stopping } = options;
  const ends: number[][] = [];
  let rows: Row[] = [];
  let characters = 0;
  const flush = async () => {
    if (rows.length === 0) return;
    const run = await runOf(rows, options.cuts);
    await write(runKey(file, ends.length), run.body, 'application/octet-stream');
    ends.push(run.ends);
    rows = [];
    characters = 0;
  };
  for await (const some of inventoryRows(s3, inventory, inventory.files[file] as InventoryFile)) {
    if (stopping.aborted) return false;
    for (const found of some) {
      if (!isInput(found.key)) continue;
      rows.push(rowOf(found));
      characters += found.key.length;
    }
    if (characters >= RUN_CHARACTERS) await flush();
  }
  await flush();
  await write(markerKey(file), Buffer.from(JSON.stringify({ runs: ends })), 'application/json');
  return true;
}

function rowOf({ key, size, modified = 0 }: InventoryRow): Row {
  // Memory is counted by the sizes.
  if (size === undefined || !(size >= 0)) {
    throw new BatchError(
      'INVENTORY_INVALID',
      `the inventory has no Size of ${key}. Configure it with the field Size.`,
    );
  }
  return [toSortable(key), size, modified || 0];
}

async function runOf(
  rows: Row[],
  cuts: readonly string[],
): Promise<{ body: Uint8Array; ends: number[] }> {
  rows.sort(([a], [b]) => (a < b ? -1 : 1));
  const members: Uint8Array[] = [];
  const ends: number[] = [];
  let from = 0;
  let size = 0;
  for (let range = 0; range <= cuts.length; range++) {
    const cut = cuts[range];
    const last = cut === undefined ? undefined : toSortable(cut);
    let to = from;
    while (to < rows.length && (last === undefined || (rows[to] as Row)[0] <= last)) to++;
    if (to > from) {
      const member = await compress(Buffer.from(linesOf(rows.slice(from, to))), { level: 1 });
      members.push(member);
      size += member.byteLength;
    }
    ends.push(size);
    from = to;
  }
  return { body: Buffer.concat(members), ends };
}

function linesOf(rows: readonly Row[]): string {
  return rows.map((one) => `${JSON.stringify(one)}\n`).join('');
}

function runKey(file: number, run: number): string {
  return `${FOLDER}${numbered(file, 5)}-${numbered(run, 3)}.gz`;
}

function markerKey(file: number): string {
  return `${FOLDER}${numbered(file, 5)}.json`;
}

function numbered(number: number, digits: number): string {
  return String(number).padStart(digits, '0');
}

/** Undefined if the file is not sorted yet. */
async function readEnds(
  s3: S3Client,
  { bucket, key }: S3Location,
  file: number,
): Promise<Ends | undefined> {
  const place = { bucket, key: key + markerKey(file) };
  try {
    const { bytes } = await receive(s3, place);
    return marker.parse(JSON.parse(new TextDecoder().decode(bytes))).runs;
  } catch (error) {
    if (isAbsent(error)) return undefined;
    throw error;
  }
}

/** An inventory whose files are all sorted. */
export interface SortedInventory {
  /** Its objects after a key, up to the end of the range that has it or, if `upTo` is not given, up to the last; sorted. */
  objects(after: string | undefined, upTo: string | undefined): AsyncIterable<S3Object>;
}

/**
 * Opens the runs. Memory holds the compressed keys of the range that is read, and where each range's keys lie.
 * @throws BatchError INVENTORY_NOT_READ if a file is not sorted
 */
export async function openSorted(
  s3: S3Client,
  output: S3Location,
  { inventory, cuts }: Pick<SortOptions, 'inventory' | 'cuts'>,
): Promise<SortedInventory> {
  const runs: { readonly key: string; readonly ends: readonly number[] }[] = [];
  for (const file of inventory.files.keys()) {
    const ends = await readEnds(s3, output, file);
    if (!ends) {
      throw new BatchError(
        'INVENTORY_NOT_READ',
        `the worker has not read the inventory to its end. Run it again.`,
      );
    }
    for (const [run, of] of ends.entries()) runs.push({ key: runKey(file, run), ends: of });
  }
  return {
    async *objects(after, upTo) {
      let range = after === undefined ? 0 : rangeAfter(cuts, after);
      const skipped = after === undefined ? undefined : toSortable(after);
      for (; range <= cuts.length; range++) {
        for await (const page of rangeOf(s3, output, runs, range)) {
          for (const [key, size, modified] of page) {
            if (skipped !== undefined && key <= skipped) continue;
            yield { key: fromSortable(key), size, modified };
          }
        }
        const end = cuts[range];
        if (upTo !== undefined && end !== undefined && compareKeys(end, upTo) >= 0) return;
      }
    },
  };
}

/** The first range that may hold keys after one. */
function rangeAfter(cuts: readonly string[], after: string): number {
  const found = cuts.findIndex((cut) => compareKeys(cut, after) > 0);
  return found < 0 ? cuts.length : found;
}

async function* rangeOf(
  s3: S3Client,
  output: S3Location,
  runs: readonly { readonly key: string; readonly ends: readonly number[] }[],
  range: number,
): AsyncGenerator<readonly Row[]> {
  const places = runs.flatMap(({ key, ends }) => {
    const [from, to] = [range === 0 ? 0 : (ends[range - 1] as number), ends[range] as number];
    return from === to ? [] : [{ key, bytes: `bytes=${from}-${to - 1}` }];
  });
  const members: Uint8Array[] = [];
  for (let at = 0; at < places.length; at += READS) {
    const some = places.slice(at, at + READS).map(async ({ key, bytes }) => {
      const place = { bucket: output.bucket, key: output.key + key };
      return (await receive(s3, place, bytes)).bytes;
    });
    members.push(...(await Promise.all(some)));
  }
  yield* mergeSorted(members.map(pagesOf), ([key]) => key);
}

async function* pagesOf(member: Uint8Array): AsyncGenerator<readonly Row[], undefined> {
  const text = Readable.from([member]).pipe(createGunzip());
  let page: Row[] = [];
  for await (const line of textLines(text)) {
    page.push(row.parse(JSON.parse(line)));
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
  return undefined;
}
