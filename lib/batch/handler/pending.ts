/** Which inputs of a shard still need an answer, and which can have none. */
import type { S3Client } from '@aws-sdk/client-s3';
import {
  countsAsDone,
  formatS3Uri,
  MEGABYTE,
  manifestOfLines,
  outputKey,
  outputRoot,
  parseS3Uri,
  type S3Location,
  type ShardCounts,
  type ShardReport,
  shardReportSchema,
  type TransformFacts,
  whyNotFound,
} from '@sagemaker-tfs/batch';
import {
  findObject,
  findObjects,
  readFacts,
  readText,
  type S3Object,
} from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import type { Since } from './begin.ts';
import { type Left, type LogReader, lettersOf } from './dead-letters.ts';
import { outputDirectory, reportsDirectory, runPlace, shardOf } from './run-places.ts';
import { overBudget, type Spent, writeSpent } from './spent.ts';
import { findJson, readManifest, writeJson, writeObject } from './storage.ts';

/** What is asked about a shard. */
export interface PendingRequest {
  readonly settings: TransformSettings;
  readonly since: Since;
  /** Key of the shard's manifest. */
  readonly shard: string;
  /** Why the last job left inputs without an output; absent before the first. */
  readonly reason?: string;
  /** True where no further job is started for what is missing. */
  readonly last?: boolean;
  /** The job that has just ended. */
  readonly spent?: Spent;
  /** The job that has run over what all shards left. */
  readonly mopUp?: string;
  readonly position?: PendingPosition;
}

/** Where the next call continues. */
export interface PendingPosition {
  /** Groups of keys that are looked at. */
  readonly groups: number;
  /** Files with what was found. */
  readonly parts: number;
  readonly counts: ShardCounts;
}

/** What the state machine gets. */
export interface PendingResult extends ShardCounts {
  /** False where time ran out: to be called again with the position. */
  readonly counted: boolean;
  readonly position?: PendingPosition;
  /** Manifest of the missing inputs; absent if there is none. */
  readonly manifestUri?: string;
  /** Share of inputs without an output among those that a job can answer, percent. */
  readonly failedPercent: number;
  /** True where the run has used up its budget. */
  readonly overBudget: boolean;
  /** True where the last job made nothing because an input was deleted before it began. */
  readonly again: boolean;
}

/** Keys that are in memory at once. */
const GROUP = 10_000;
const NOT_COUNTED = { counted: false, failedPercent: 0, overBudget: false, again: false };
const NO_COUNTS: ShardCounts = { inputs: 0, done: 0, missing: 0, refused: 0, deleted: 0 };
/** Longest key of S3, bytes. */
const MAX_KEY = 1_024;

/**
 * Compares a shard with inputs and outputs, and writes a manifest of what is missing. Memory holds the keys of one
 * group and the missing keys' text.
 * @param outOfTime asked after every group
 * @param logOf reads the log of a job that left inputs; by default nothing is known of it
 */
export async function findPending(
  s3: S3Client,
  request: PendingRequest,
  outOfTime: () => boolean = () => false,
  logOf: LogReader = async () => ({ lines: [] }),
): Promise<PendingResult> {
  const { settings, shard } = request;
  if (request.spent && !request.position) await writeSpent(s3, settings, shard, request.spent);
  const output = outputDirectory(settings);
  const { bucket } = output;
  const facts = await readFacts(s3, output);
  const name = shardOf(shard);
  const { prefix, pages } = await readManifest(s3, { bucket, key: shard });
  const root = parseS3Uri(prefix);
  const places = { root, outputs: outputRoot(output, root, facts), facts };
  const part = (number: number) => runPlace(settings, `pending/${name}.${number}.part`);
  let { groups, parts, counts } = request.position ?? { groups: 0, parts: 0, counts: NO_COUNTS };
  const found: string[] = [];
  let group = 0;
  for await (const keys of inGroups(pages)) {
    if (group++ < groups) continue;
    groups++;
    counts = await lookAt(s3, request, places, keys, counts, found);
    if (!outOfTime()) continue;
    await writeObject(s3, part(parts++), Buffer.from(found.join('')));
    const position = { groups, parts, counts };
    return { ...counts, ...NOT_COUNTED, position };
  }
  const earlier = await Promise.all(
    Array.from({ length: parts }, (_, number) => readText(s3, part(number))),
  );
  return report(s3, request, { name, prefix, facts, logOf }, counts, [...earlier, ...found]);
}

async function* inGroups(pages: AsyncIterable<readonly string[]>): AsyncGenerator<string[]> {
  let waiting: string[] = [];
  for await (const page of pages) {
    for (const key of page) waiting.push(key);
    while (waiting.length >= GROUP) {
      yield waiting.slice(0, GROUP);
      waiting = waiting.slice(GROUP);
    }
  }
  if (waiting.length > 0) yield waiting;
}

/** Where a shard's inputs and outputs lie. */
interface Places {
  readonly root: S3Location;
  readonly outputs: S3Location;
  readonly facts: TransformFacts;
}

/** Lines of what a group lacks: a JSON text for a missing key, a JSON object for a refused one. */
async function lookAt(
  s3: S3Client,
  { settings, since }: PendingRequest,
  { root, outputs, facts }: Places,
  keys: readonly string[],
  before: ShardCounts,
  found: string[],
): Promise<ShardCounts> {
  const [inputs, answers] = await Promise.all([
    findObjects(s3, root, keys),
    findObjects(s3, outputs, keys.map(outputKey)),
  ]);
  const counts = { ...before, inputs: before.inputs + keys.length };
  const { existing } = settings;
  const earliest = existing === 'replace' ? since.run : since.origin;
  for (const key of keys) {
    const input = inputs.get(key);
    const reason =
      input && (refusal(settings, outputs.key + outputKey(key), input) ?? whyNotFound(key, facts));
    const answer = answers.get(outputKey(key));
    if (input && answer && countsAsDone(existing, earliest, answer, input)) {
      counts.done++;
    } else if (!input) {
      counts.deleted++;
    } else if (reason !== undefined) {
      counts.refused++;
      found.push(`${JSON.stringify({ key, reason })}\n`);
    } else {
      counts.missing++;
      found.push(`${JSON.stringify(key)}\n`);
    }
  }
  return counts;
}

/** Why no job can answer an input. */
function refusal(
  { maxPayloadInMB, splitType }: TransformSettings,
  output: string,
  { size }: S3Object,
): string | undefined {
  if (size === 0) return 'it is empty';
  if (splitType === 'None' && maxPayloadInMB > 0 && size > maxPayloadInMB * MEGABYTE) {
    return `its ${size} bytes are over maxPayloadInMB (${maxPayloadInMB})`;
  }
  if (Buffer.byteLength(output) > MAX_KEY) {
    return `the key of its output would have more than ${MAX_KEY} bytes`;
  }
  return undefined;
}

/** The shard that is counted. */
interface Shard {
  readonly name: string;
  /** What its manifest's keys are below. */
  readonly prefix: string;
  readonly facts: TransformFacts;
  readonly logOf: LogReader;
}

/** Whether inputs went before the last job read its manifest, where such a job makes nothing (`batch probe`). */
async function haveInputsGone(
  s3: S3Client,
  { settings, last = false }: PendingRequest,
  { name, facts }: Shard,
  { deleted, missing }: ShardCounts,
): Promise<boolean> {
  if (!last || !facts.deletedKeyStopsJob || missing === 0) return false;
  const before = await readReport(s3, settings, name);
  return before !== undefined && deleted > before.deleted;
}

/** The last report of a shard; undefined if it was never counted. */
export async function readReport(
  s3: S3Client,
  settings: TransformSettings,
  name: string,
): Promise<ShardReport | undefined> {
  const { bucket, key } = reportsDirectory(settings);
  const place = { bucket, key: `${key}${name}.json` };
  return findJson(s3, place, shardReportSchema);
}

/** Reasons of the inputs that a job has left; none before the first job. */
async function whyLeft(
  s3: S3Client,
  { reason, spent, mopUp }: PendingRequest,
  { prefix, logOf }: Shard,
  missing: readonly string[],
  earlier: S3Location,
): Promise<Left & { readonly logCut?: string }> {
  if (!reason || missing.length === 0) return { letters: [], codes: {} };
  const job = mopUp ?? spent?.TransformJobName;
  const log = job === undefined ? { lines: [] } : await logOf(job);
  const keys = missing.map((line) => JSON.parse(line) as string);
  const left = await lettersOf(s3, { keys, prefix, earlier, log, general: reason });
  return { ...left, ...(log.cut && { logCut: log.cut }) };
}

async function report(
  s3: S3Client,
  request: PendingRequest,
  shard: Shard,
  counts: ShardCounts,
  found: readonly string[],
): Promise<PendingResult> {
  const { settings, reason, last = false } = request;
  const { name, prefix } = shard;
  const again = await haveInputsGone(s3, request, shard, counts);
  const looked = found.flatMap((text) => text.split('\n')).filter((line) => line !== '');
  const missing = looked.filter((line) => line.startsWith('"'));
  const refused = looked.filter((line) => line.startsWith('{'));
  const letters = runPlace(settings, `dead-letters/${name}.ndjson`);
  const left = await whyLeft(s3, request, shard, missing, letters);
  const uris: { manifestUri?: string; lettersUri?: string } = {};
  const write = async (place: S3Location, text: string) => {
    await writeObject(s3, place, Buffer.from(text), 'application/json');
    return formatS3Uri(place);
  };
  if (missing.length > 0) {
    const place = runPlace(settings, `pending/${name}.manifest`);
    uris.manifestUri = await write(place, manifestOfLines(prefix, missing));
  }
  const lines = [...refused, ...left.letters.map((letter) => JSON.stringify(letter))];
  if (lines.length > 0) uris.lettersUri = await write(letters, `${lines.join('\n')}\n`);
  // What an earlier count has listed there has an output by now.
  else if (reason && (await findObject(s3, letters))) await write(letters, '');
  const reports = reportsDirectory(settings);
  const { codes, logCut } = left;
  const kept: ShardReport = {
    ...counts,
    prefix,
    ...uris,
    ...(reason && { reason }),
    ...(Object.keys(codes).length > 0 && { codes }),
    ...(logCut && { logCut }),
    last,
  };
  await writeJson(s3, { ...reports, key: `${reports.key}${name}.json` }, kept);
  // Those that no job can answer say nothing about jobs.
  const tried = counts.inputs - counts.deleted - counts.refused;
  return {
    ...counts,
    counted: true,
    ...(uris.manifestUri && { manifestUri: uris.manifestUri }),
    failedPercent: tried === 0 ? 0 : (100 * counts.missing) / tried,
    overBudget: counts.missing > 0 && (await overBudget(s3, settings)),
    again,
  };
}
