/**
 * What `batch worker` leaves below its output prefix, so that who writes it and who reads it agree:
 *
 * - `_worker/plan.json`: what makes the answers, and where the keys are cut into ranges
 * - `parts/RRRRR-PPPPPP.ndjson`: the answers of neighboring keys. A part is written once and in the order of the keys of
 *   its range, so the last part that is there tells how far the range is.
 * - `_worker/keys/RRRRR-PPPPPP-PROCESS.ndjson.gz`: the keys of a part, written before it by each process that tries to write it
 * - `_worker/done/RRRRR.json`: the range is done
 * - `_worker/inventory/`: of a run over an S3 inventory, its objects in sorted runs; `s3/inventory-runs.ts` says how
 * - of `batch pack`, the parts are files of records instead, `parts/RRRRR-PPPPPP.tfrecord` for example
 * - `_worker/hours/PROCESS/first` and `/last`: written when a process begins and every minute, where the run has a
 *   budget; between the two lies the time that it worked
 * - `_worker/notices/PP.json`: a topic has heard that this percentage of the ranges is done
 * - `_worker/lease/NNNNNN.json`: the run that may write, where the machine names runs. The highest number counts, and
 *   `NNNNNN.alive` is written again and again while it works
 */
import * as z from 'zod';
import { BatchError } from './errors.ts';
import { PACK_ENDINGS, PACK_FORMATS, type PackFormat } from './pack-formats.ts';

/** Folder of the worker's own files. */
const WORKER_FOLDER = '_worker/';
/** Folder of the answers. */
export const PARTS_FOLDER = 'parts/';
const ANSWERS_ENDING = '.ndjson';
const PART_ENDINGS: ReadonlySet<string> = new Set([ANSWERS_ENDING, ...Object.values(PACK_ENDINGS)]);

/** Folder of the keys of parts. */
export const WORKER_KEYS = `${WORKER_FOLDER}keys/`;
/** Key of the plan, below the output prefix. */
export const PLAN_KEY = `${WORKER_FOLDER}plan.json`;

const count = z.number().int().min(0);

const plan = z.object({
  fingerprint: z.string(),
  model: z.string(),
  inputUri: z.string(),
  keySuffix: z.string(),
  cuts: z.array(z.string()),
  inventoryUri: z.string().optional(),
  pack: z.enum(PACK_FORMATS).optional(),
});

/** What a run is, fixed by the worker that comes first. */
export interface WorkerPlan {
  /** SHA-256 (hex) of all that decides the answers. */
  readonly fingerprint: string;
  /** The model, as far as a person can tell it. */
  readonly model: string;
  readonly inputUri: string;
  readonly keySuffix: string;
  /** Whole keys, sorted. Range `i` has the keys after the cut before it, up to and with cut `i`. */
  readonly cuts: readonly string[];
  /** S3 URI of the `manifest.json` of the S3 inventory that lists the inputs; undefined if the prefix is listed. */
  readonly inventoryUri?: string | undefined;
  /** Framing of the inputs in the parts; undefined if parts have answers. */
  readonly pack?: PackFormat | undefined;
}

/** Keys after `after`, up to and with `upTo`; undefined is the first, and the last. */
export interface WorkerRange {
  readonly number: number;
  readonly after: string | undefined;
  readonly upTo: string | undefined;
}

/** @throws BatchError WORKER_FILE_INVALID */
export function parsePlan(text: string, source: string): WorkerPlan {
  return parsed(text, source, plan);
}

/** The ranges of a plan, which together hold every key once. */
export function rangesOf({ cuts }: Pick<WorkerPlan, 'cuts'>): WorkerRange[] {
  return Array.from({ length: cuts.length + 1 }, (_, number) => ({
    number,
    after: cuts[number - 1],
    upTo: cuts[number],
  }));
}

/**
 * Keys of the files of a part, below the output prefix.
 * @param process names the one that writes them
 * @param pack framing of its records; undefined for answers
 */
export function partFiles(
  range: number,
  part: number,
  process: string,
  pack?: PackFormat,
): { body: string; keys: string } {
  const ending = pack ? PACK_ENDINGS[pack] : ANSWERS_ENDING;
  return {
    body: `${PARTS_FOLDER}${partName(range, part)}${ending}`,
    keys: `${keysOfPart(range, part)}${process}.ndjson.gz`,
  };
}

function partName(range: number, part: number): string {
  return `${rangeName(range)}-${String(part).padStart(6, '0')}`;
}

/** Start of the keys of a range's parts. */
export function partsOfRange(range: number): string {
  return `${PARTS_FOLDER}${rangeName(range)}-`;
}

/** Start of the keys of a range's files of keys. */
export function keysOfRange(range: number): string {
  return `${WORKER_KEYS}${rangeName(range)}-`;
}

/** Start of the keys of a part's files of keys. */
export function keysOfPart(range: number, part: number): string {
  return `${WORKER_KEYS}${partName(range, part)}-`;
}

/** Numbers of a part and of its range, by its whole key or the end of it; undefined for any other object. */
export function partOfKey(key: string): { range: number; part: number } | undefined {
  const [, range, part, ending] = /(?:^|\/)(\d{5,})-(\d{6,})(\.[a-z]+)$/.exec(key) ?? [];
  if (ending === undefined || !PART_ENDINGS.has(ending)) return undefined;
  return { range: Number(range), part: Number(part) };
}

/** Numbers of the part that a file of keys is for, and of its range; undefined for any other object. */
export function partOfKeysFile(key: string): { range: number; part: number } | undefined {
  const [, range, part] = /(?:^|\/)(\d{5,})-(\d{6,})-[^/]+\.ndjson\.gz$/.exec(key) ?? [];
  return range === undefined ? undefined : { range: Number(range), part: Number(part) };
}

/** Folder of the files that say that a range is done. */
export const WORKER_DONE = `${WORKER_FOLDER}done/`;

/** Key of the file that says that a range is done. */
export function doneKey(range: number): string {
  return `${WORKER_DONE}${rangeName(range)}.json`;
}

/** Key of the file that says that a topic has heard of a percentage. */
export function noticeKey(percent: number): string {
  return `${WORKER_FOLDER}notices/${percent}.json`;
}

/** Folder of the files between whose times each process has worked. */
export const HOURS_FOLDER = `${WORKER_FOLDER}hours/`;

/** Keys of a process's two files: written when it begins, and again and again while it works. */
export function hoursKeys(process: string): { first: string; last: string } {
  const folder = `${HOURS_FOLDER}${process}/`;
  return { first: `${folder}first`, last: `${folder}last` };
}

/** Folder of the leases. */
export const LEASE_FOLDER = `${WORKER_FOLDER}lease/`;

/** Milliseconds after the last sign of life of a run of workers from which on it counts as ended. */
export const WORKERS_SILENT = 180_000;

/** Keys of a lease's two files: whose it is, and when its holder was last seen. All keys of older leases come before `start`. */
export function leaseKeys(number: number): { start: string; holder: string; alive: string } {
  const start = `${LEASE_FOLDER}${String(number).padStart(6, '0')}`;
  return { start, holder: `${start}.json`, alive: `${start}.alive` };
}

/** Number of the newest lease of a listing of `LEASE_FOLDER`; undefined if there is none. */
export function newestLease(files: readonly { key: string }[]): number | undefined {
  const numbers = files.flatMap(({ key }) => /\/(\d{6,})\.json$/.exec(key)?.[1] ?? []);
  return numbers.length === 0 ? undefined : Math.max(...numbers.map(Number));
}

const lease = z.object({ run: z.string() });

/** @returns the run that holds a lease @throws BatchError WORKER_FILE_INVALID */
export function parseLease(text: string, source: string): string {
  return parsed(text, source, lease).run;
}

/** Milliseconds that all processes of a listing of `HOURS_FOLDER` have worked. */
export function workedBy(files: readonly { key: string; modified: number }[]): number {
  const times = new Map(files.map(({ key, modified }) => [key, modified]));
  let sum = 0;
  for (const [key, last] of times) {
    const [, process] = /\/([^/]+)\/last$/.exec(key) ?? [];
    const first = process === undefined ? undefined : times.get(hoursKeys(process).first);
    if (first !== undefined) sum += Math.max(0, last - first);
  }
  return sum;
}

function rangeName(range: number): string {
  return String(range).padStart(5, '0');
}

const counts = z.object({ answers: count, failures: count, gone: count });

/** Inputs by what became of them. */
export interface WorkerCounts {
  readonly answers: number;
  /** Inputs with an error instead of an answer. */
  readonly failures: number;
  /** Inputs that were deleted between listing and reading. */
  readonly gone: number;
}

const header = counts.extend({ last: z.string(), sha256: z.string() });

/** First line of a file of keys. */
export interface KeysHeader extends WorkerCounts {
  /** Last key that the part has dealt with, whole: the range continues after it. */
  readonly last: string;
  /** Of the part that it belongs to, hex. */
  readonly sha256: string;
}

/**
 * Any other line: a key below the root, alone if it has an answer, with the place of its record in a packed part (bytes), or
 * with the reason why it has neither; in a list of its own if the object was deleted before it was read.
 */
export type KeyLine =
  | string
  | readonly [key: string]
  | readonly [key: string, offset: number, size: number]
  | readonly [key: string, code: string, message: string];

const keyLine = z.union([
  z.string(),
  z.tuple([z.string()]),
  z.tuple([z.string(), z.string(), z.string()]),
  z.tuple([z.string(), count, count]),
]);

/** The key of an input that is in the part; undefined for one with an error. */
export function keyInPart(line: KeyLine): string | undefined {
  if (typeof line === 'string') return line;
  return typeof line[1] === 'number' ? line[0] : undefined;
}

/** The key of an object that was deleted before it was read; undefined for any other. */
export function deletedKey(line: KeyLine): string | undefined {
  return typeof line !== 'string' && line.length === 1 ? line[0] : undefined;
}

/** The code of the error that an input has; undefined without. */
export function codeInPart(line: KeyLine): string | undefined {
  return typeof line !== 'string' && typeof line[1] === 'string' ? line[1] : undefined;
}

/** @throws BatchError WORKER_FILE_INVALID */
export function parseKeysHeader(line: string, source: string): KeysHeader {
  return parsed(line, source, header);
}

/** @throws BatchError WORKER_FILE_INVALID */
export function parseKeyLine(line: string, source: string): KeyLine {
  return parsed(line, source, keyLine);
}

/** @throws BatchError WORKER_FILE_INVALID */
export function parseCounts(text: string, source: string): WorkerCounts {
  return parsed(text, source, counts);
}

function parsed<T>(text: string, source: string, schema: z.ZodType<T>): T {
  try {
    return schema.parse(JSON.parse(text));
  } catch (cause) {
    throw new BatchError(
      'WORKER_FILE_INVALID',
      `${source} is not a file of batch worker. Choose an output prefix that nothing else writes to.`,
      { cause },
    );
  }
}
