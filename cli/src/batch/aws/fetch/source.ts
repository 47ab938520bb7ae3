/** Outputs to fetch: below an S3 prefix or below a folder. */
import { readFile } from 'node:fs/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  type Answer,
  answersOf,
  asDirectory,
  BatchError,
  inputOfOutput,
  PARTS_FOLDER,
  parseAnswerLine,
  parseS3Uri,
  rangesOf,
  type S3Location,
  WORKER_DONE,
  type WorkerPlan,
} from '@sagemaker-tfs/batch';
import { keyRanges, listObjects, readBytes } from '@sagemaker-tfs/batch/s3';
import { usageError } from '../../../errors.ts';
import { acceptOfFolder } from '../../local/existing.ts';
import { sortedFolder, statOfInput } from '../../local/inputs.ts';
import { count } from '../count.ts';
import { readWorkerPlan } from '../worker-keys.ts';
import { named, type PackedNames } from './packed-names.ts';

/** An object with the answers to one input, or a worker's part with those to many. */
export interface OutputObject {
  /** Its own key. */
  readonly key: string;
  read(): Promise<readonly Answer[]>;
}

/** Outputs in the order of their keys. */
export interface OutputSource {
  readonly objects: AsyncIterable<OutputObject>;
  /** Objects that are read at once. */
  readonly reads: number;
}

const READS = 16;
/** A part has many megabytes. */
const PART_READS = 2;

/** Keys that begin alike. */
interface OutputRange {
  readonly prefix: string;
  /** Key of an object before them that belongs to the range. */
  readonly first?: string | undefined;
}

/** Outputs below an S3 prefix that are read in ranges of keys. */
export interface RangedOutputs {
  /** The range of all. */
  readonly whole: OutputRange;
  /** Cuts it into ranges, in no order. */
  ranges(): Promise<OutputRange[]>;
  /** The objects of a range. @param after key of the last one that is not wanted */
  open(range: OutputRange, after?: string): AsyncIterable<OutputObject>;
  readonly rangesAtOnce: number;
  /** Objects that are read at once, of each range. */
  readonly reads: number;
  /** What makes the files of a fetch in parts smaller, as advice. */
  readonly smallerParts: string;
  /** Of a worker's run, the ranges of keys that are not done, and all; undefined if there are none. */
  readonly undone?: { readonly ranges: number; readonly of: number } | undefined;
}

/** What is known of outputs beside their bytes. */
interface OutputFacts {
  /** Names of the inputs in packed files. */
  readonly packed?: PackedNames | undefined;
  /** Media type of the outputs; where it is not known, their bytes decide. */
  readonly accept?: string | undefined;
}

/** Ranges of a plan: more than are read at once, since they are not of the same size. */
const RANGES = 128;
const RANGES_AT_ONCE = 16;

/** A worker's part is an object, and never cut. */
const SMALLER = {
  fetch: 'give a smaller --part-keys',
  worker: 'run the worker into another output prefix with a smaller --part-keys',
};

/** Outputs below an S3 prefix, of a transform job or of a worker. */
export async function rangedOutputs(
  s3: S3Client,
  uri: string,
  facts: OutputFacts = {},
): Promise<RangedOutputs> {
  const place = asDirectory(parseS3Uri(uri));
  const plan = await readWorkerPlan(s3, uri);
  const isWorkers = plan !== undefined;
  const root = isWorkers ? { ...place, key: place.key + PARTS_FOLDER } : place;
  const objectOf = isWorkers ? partOf : outputOf;
  return {
    undone: plan && (await undoneOf(s3, place, plan)),
    whole: { prefix: root.key },
    async ranges() {
      const ranges = await keyRanges(s3, root, RANGES);
      return ranges.map(({ prefix, first }) => ({ prefix, ...(first && { first: first.key }) }));
    },
    async *open(range, after) {
      for await (const key of keysOf(s3, place, range, after)) {
        const object = objectOf(s3, place, key, facts);
        if (object) yield object;
      }
    },
    ...(isWorkers
      ? { rangesAtOnce: PART_READS, reads: PART_READS, smallerParts: SMALLER.worker }
      : { rangesAtOnce: RANGES_AT_ONCE, reads: READS, smallerParts: SMALLER.fetch }),
  };
}

/** Ranges without the file that says that they are done. */
async function undoneOf(s3: S3Client, { bucket, key }: S3Location, plan: WorkerPlan) {
  const of = rangesOf(plan).length;
  const done = await count([() => listObjects(s3, { bucket, key: key + WORKER_DONE })]);
  return done < of ? { ranges: of - done, of } : undefined;
}

/** All ranges as one. */
export function inOrder({ open, whole, reads }: RangedOutputs): OutputSource {
  return { objects: open(whole), reads };
}

async function* keysOf(
  s3: S3Client,
  { bucket }: S3Location,
  { prefix, first }: OutputRange,
  after: string | undefined,
): AsyncGenerator<string> {
  if (first !== undefined && after === undefined) yield first;
  for await (const { key } of listObjects(s3, { bucket, key: prefix }, after)) yield key;
}

/** Undefined for an object that is no output. */
function outputOf(
  s3: S3Client,
  place: S3Location,
  key: string,
  { packed, accept }: OutputFacts,
): OutputObject | undefined {
  const input = inputOfOutput(key.slice(place.key.length));
  if (input === undefined) return undefined;
  return {
    key,
    async read() {
      const answers = answersOf(input, await readBytes(s3, { ...place, key }), accept);
      return named(answers, await packed?.of(input));
    },
  };
}

function partOf(s3: S3Client, place: S3Location, key: string): OutputObject {
  return {
    key,
    async read() {
      const text = Buffer.from(await readBytes(s3, { ...place, key })).toString('utf8');
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => readLine(line, key));
    },
  };
}

function readLine(line: string, key: string): Answer {
  const answer = parseAnswerLine(line);
  if (answer) return answer;
  throw new BatchError(
    'WORKER_FILE_INVALID',
    `${key} has a line that no worker wrote: ${line.slice(0, 100)}. Remove the object, or run the worker into another output prefix.`,
  );
}

/** Outputs of a local job. */
export function folderOutputs(directory: string, facts: OutputFacts = {}): OutputSource {
  return { objects: files(directory, facts), reads: READS };
}

/** @throws CommandError FILE_NOT_FOUND */
async function* files(
  directory: string,
  { packed, accept: given }: OutputFacts,
): AsyncGenerator<OutputObject> {
  const accept = given ?? (await acceptOfFolder(directory));
  for await (const { key, path } of sortedFolder(directory)) {
    const input = inputOfOutput(key);
    if (input === undefined) continue;
    yield {
      key,
      read: async () => {
        await statOfInput(undefined, path).catch((cause: Error) => {
          throw usageError(`${path}: ${cause.message}`);
        });
        return named(answersOf(input, await readFile(path), accept), await packed?.of(input));
      },
    };
  }
}
