/** Completeness of a job on S3: every input has an output, or is listed for another job. */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  compareKeys,
  countsAsDone,
  inOutputOrder,
  isJson,
  matchOutputs,
  outputKey,
  type S3Location,
} from '@sagemaker-tfs/batch';
import { receive, type S3Object } from '@sagemaker-tfs/batch/s3';
import { parseJson } from '@sagemaker-tfs/tensors';
import { type JsonArrayFile, openJsonArray } from '../json-array-file.ts';
import {
  type JobInput,
  type KeyPart,
  LISTINGS,
  openKeys,
  type TransformKeys,
  type TransformPlaces,
} from './transform-places.ts';
import { readWorkerPlan, workerKeys } from './worker-keys.ts';

/** One output that was looked into. */
export interface Sample {
  readonly key: string;
  readonly bytes: number;
  /** Its first characters. */
  readonly start: string;
  /** What is wrong with it; undefined if it is right. */
  readonly problem?: string;
}

/** What was found. */
export interface VerifyReport {
  readonly inputs: number;
  readonly done: number;
  readonly missing: number;
  /** Of the missing, inputs whose output is of another model or other settings, or older than its input where that counts. */
  readonly stale: number;
  /** Of the missing, inputs for which a worker has written an error, by its code. */
  readonly failures?: Readonly<Record<string, number>>;
  /** Outputs of 0 bytes; they are counted as done, too. */
  readonly empty: number;
  /** Outputs that count although they are older than their input, which was replaced since; they are counted as done, too. */
  readonly older: number;
  /** Objects that a worker found deleted when it came to them; they are no inputs. */
  readonly gone: number;
  /** Manifest of the missing inputs; absent if there is none. */
  readonly redriveManifest?: string;
  /** The first of them. */
  readonly firstMissing: readonly string[];
  /**
   * Outputs without an input, by the key that the input would have: it was deleted or renamed, or another job wrote
   * them. Undefined for a manifest, which names only a part of the inputs.
   */
  readonly orphans?: number;
  /** The first of them. */
  readonly firstOrphans?: readonly string[];
  readonly samples: readonly Sample[];
}

/** How to verify. */
export interface VerifyOptions {
  /** File for the manifest of missing inputs. */
  readonly redriveManifest: string;
  /** Outputs to look into, taken at random. */
  readonly samples: number;
  readonly accept?: string | undefined;
  /** Called with the inputs seen so far. */
  readonly onProgress?: (inputs: number) => void;
}

/** Missing keys, and orphans, that the report names. */
const NAMED = 20;
/** Inputs between two reports of progress. */
const STEP = 1_000;
/** Largest output that is parsed as a sample. */
const PARSED = 16 * 1024 * 1024;
const START = 100;

/** Compares inputs and outputs, both as streams: memory does not grow with their number. */
export async function verifyOutputs(
  s3: S3Client,
  places: TransformPlaces,
  options: VerifyOptions,
): Promise<VerifyReport> {
  const plan = await readWorkerPlan(s3, places.outputUri);
  const keys = plan ? await workerKeys(s3, plan, places) : await openKeys(s3, places);
  const { root, outputs, parts, outside, failures } = keys;
  // A worker's answers are many to an object.
  const wanted = plan ? 0 : options.samples;
  const manifest = await openJsonArray(options.redriveManifest);
  await manifest.add({ prefix: root });
  const comparison = compare(places, keys, manifest, { ...options, samples: wanted });
  const { found, orphans } = comparison;
  try {
    await Readable.from(parts).map(comparison.verifyPart, { concurrency: LISTINGS }).toArray();
    const addOutside = async (outputs: () => AsyncIterable<S3Object>) => {
      for await (const { key } of outputs()) comparison.addOrphan(key);
    };
    await Readable.from(outside ?? [])
      .map(addOutside, { concurrency: LISTINGS })
      .toArray();
  } catch (error) {
    await manifest.discard();
    throw error;
  }
  options.onProgress?.(found.inputs);
  await (found.missing > 0 ? manifest.commit() : manifest.discard());
  return {
    ...found,
    ...(found.missing > 0 && { redriveManifest: options.redriveManifest }),
    firstMissing: comparison.firstMissing,
    ...(failures && { failures: Object.fromEntries(failures) }),
    ...(outside && { orphans: orphans.count, firstOrphans: orphans.first.sort(compareKeys) }),
    samples: await Promise.all(
      comparison.chosen.map((output) => look(s3, outputs, output, options.accept)),
    ),
  };
}

/** Counts part after part; adds what is missing to the manifest. */
function compare(
  places: TransformPlaces,
  { listsDeleted = false }: Pick<TransformKeys, 'listsDeleted'>,
  manifest: JsonArrayFile,
  { samples, onProgress }: Pick<VerifyOptions, 'samples' | 'onProgress'>,
) {
  const found = { inputs: 0, done: 0, missing: 0, stale: 0, empty: 0, older: 0, gone: 0 };
  const firstMissing: string[] = [];
  const orphans = { count: 0, first: [] as string[] };
  const chosen: S3Object[] = [];
  const addOrphan = (key: string) => {
    orphans.count++;
    if (orphans.first.length < NAMED) orphans.first.push(key);
  };
  const verifyPart = async (part: KeyPart) => {
    const matches = matchOutputs(inOutputOrder(part.inputs()), part.outputs());
    for await (const match of matches) {
      const isGone = match.kind !== 'missing' && match.output.isGone === true;
      if (isGone && (match.kind === 'extra' || listsDeleted)) {
        found.gone++;
        continue;
      }
      if (match.kind === 'extra') {
        addOrphan(match.key);
        continue;
      }
      const stale = match.kind === 'done' && !isGone && isStale(match.input, match.output, places);
      if (stale) found.stale++;
      if (++found.inputs % STEP === 0) onProgress?.(found.inputs);
      if (match.kind === 'missing' || stale || isGone) {
        found.missing++;
        if (firstMissing.length < NAMED) firstMissing.push(match.key);
        await manifest.add(match.key);
      } else {
        found.done++;
        if (match.output.size === 0) found.empty++;
        if (match.output.modified < match.input.modified) found.older++;
        choose(chosen, match.output, found.done, samples);
      }
    }
  };
  return { found, firstMissing, orphans, chosen, addOrphan, verifyPart };
}

function isStale(input: JobInput, output: S3Object, places: TransformPlaces): boolean {
  const { existing = 'skip', since = 0 } = places;
  return !countsAsDone(existing, since, output, input);
}

/** Keeps every output with the same chance, whatever their number (reservoir sampling). */
function choose(chosen: S3Object[], output: S3Object, seen: number, wanted: number): void {
  if (chosen.length < wanted) {
    chosen.push(output);
    return;
  }
  const at = Math.floor(Math.random() * seen);
  if (at < wanted) chosen[at] = output;
}

async function look(
  s3: S3Client,
  outputs: S3Location,
  { key, size }: S3Object,
  accept: string | undefined,
): Promise<Sample> {
  const whole = size <= PARSED;
  const place = { bucket: outputs.bucket, key: outputs.key + outputKey(key) };
  const { bytes } = await receive(s3, place, whole ? undefined : `bytes=0-${START}`);
  const text = new TextDecoder().decode(bytes);
  const problem = problemOf(text, whole && accept !== undefined && /\bjson$/.test(accept));
  return { key, bytes: size, start: text.slice(0, START), ...(problem && { problem }) };
}

function problemOf(text: string, mustBeJson: boolean): string | undefined {
  if (text === '') return 'it is empty';
  if (!mustBeJson) return undefined;
  try {
    parseJson(text);
    return undefined;
  } catch (error) {
    // Answers to the records of one object stand behind one another.
    const lines = text.split('\n').filter((line) => line !== '');
    if (lines.length > 1 && lines.every(isJson)) return undefined;
    return `it is ${(error as Error).message}`;
  }
}
