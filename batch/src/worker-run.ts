/**
 * What `batch worker` leaves below its output prefix, so that who writes it and who reads it agree:
 *
 * - `_worker/plan.json`: what makes the answers, and where the keys are cut into ranges
 * - `parts/RRRRR-PPPPPP.ndjson`: the answers of neighboring keys. A part is written once and in the order of the keys of
 *   its range, so the last part that is there tells how far the range is.
 * - `_worker/keys/RRRRR-PPPPPP.ndjson.gz`: the keys of a part, written before it
 * - `_worker/done/RRRRR.json`: the range is at its end
 * - `_worker/notices/PP.json`: a topic has heard that this percentage of the ranges is done
 */
import * as z from 'zod';
import { BatchError } from './errors.ts';
import { compareKeys } from './key-order.ts';

/** Folder of the worker's own files. */
export const WORKER_FOLDER = '_worker/';
/** Folder of the answers. */
export const PARTS_FOLDER = 'parts/';
/** Key of the plan, below the output prefix. */
export const PLAN_KEY = `${WORKER_FOLDER}plan.json`;

const plan = z.object({
  fingerprint: z.string(),
  model: z.string(),
  inputUri: z.string(),
  keySuffix: z.string(),
  cuts: z.array(z.string()),
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

/** Cuts without repetitions, sorted as S3 sorts. */
export function sortedCuts(keys: Iterable<string>): string[] {
  return [...new Set(keys)].sort(compareKeys);
}

/** Keys of the files of a part, below the output prefix. */
export function partFiles(range: number, part: number): { answers: string; keys: string } {
  const name = `${rangeName(range)}-${String(part).padStart(6, '0')}`;
  return {
    answers: `${PARTS_FOLDER}${name}.ndjson`,
    keys: `${WORKER_FOLDER}keys/${name}.ndjson.gz`,
  };
}

/** Start of the keys of a range's parts. */
export function partsOfRange(range: number): string {
  return `${PARTS_FOLDER}${rangeName(range)}-`;
}

/** Number of a part; undefined for any other object. */
export function partNumber(key: string): number | undefined {
  const digits = /-(\d{6,})\.ndjson$/.exec(key)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** Folder of the files that say that a range is at its end. */
export const WORKER_DONE = `${WORKER_FOLDER}done/`;

/** Key of the file that says that a range is at its end. */
export function doneKey(range: number): string {
  return `${WORKER_DONE}${rangeName(range)}.json`;
}

/** Key of the file that says that a topic has heard of a percentage. */
export function noticeKey(percent: number): string {
  return `${WORKER_FOLDER}notices/${percent}.json`;
}

function rangeName(range: number): string {
  return String(range).padStart(5, '0');
}

const count = z.number().int().min(0);
const counts = z.object({ answers: count, failures: count, gone: count });

/** Inputs by what became of them. */
export interface WorkerCounts {
  readonly answers: number;
  /** Inputs with an error in the place of their answer. */
  readonly failures: number;
  /** Inputs that were deleted between listing and reading. */
  readonly gone: number;
}

const header = counts.extend({ last: z.string() });

/** First line of a file of keys. */
export interface KeysHeader extends WorkerCounts {
  /** Last key that the part has dealt with, whole: the range goes on after it. */
  readonly last: string;
}

/** Any other line: a key below the root, alone if it has an answer, else with the reason. */
export type KeyLine = string | readonly [key: string, code: string, message: string];

const keyLine = z.union([z.string(), z.tuple([z.string(), z.string(), z.string()])]);

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
