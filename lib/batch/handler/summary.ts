/** The completeness check of a run. */
import type { S3Client } from '@aws-sdk/client-s3';
import {
  formatS3Uri,
  manifestOfLines,
  parseS3Uri,
  type ShardCounts,
  type ShardReport,
} from '@sagemaker-tfs/batch';
import { listObjects } from '@sagemaker-tfs/batch/s3';
import type { TransformSettings } from '@sagemaker-tfs/batch/settings';
import type { Since } from './begin.ts';
import type { LogReader } from './dead-letters.ts';
import { findPending, type PendingPosition, readReport } from './pending.ts';
import { runPlace, shardOf, shardsDirectory } from './run-places.ts';
import { type Spent, writeSpent } from './spent.ts';
import { readManifest, writeJson, writeObject } from './storage.ts';

/** What is asked at the end of a run. */
export interface SummaryRequest {
  readonly settings: TransformSettings;
  readonly since: Since;
  /** True where a job has run over what the shards left: every shard that lacks something is counted anew. */
  readonly recount?: boolean;
  /** That job. */
  readonly mopUp?: Spent;
  readonly position?: SummaryPosition;
}

/** Where the next call continues. */
interface SummaryPosition {
  /** Name of the last shard that is counted. */
  readonly after: string;
  readonly shard?: PendingPosition;
}

/** What the state machine gets. */
export interface Summary {
  /** False where time ran out: to be called again with the position. */
  readonly counted: boolean;
  readonly position?: SummaryPosition;
  readonly inputs: number;
  readonly done: number;
  /** Inputs without an output, those that no job can answer included. */
  readonly missing: number;
  /** Of the missing: empty, too large, or with too long a key. */
  readonly refused: number;
  /** Inputs that were planned and are no longer there. */
  readonly deleted: number;
  /** What is to be done, and where the reasons are; absent where nothing is missing. */
  readonly advice?: string;
  /** Manifest of the missing inputs that another job may answer; absent if there is none, or far too many. */
  readonly redriveUri?: string;
  readonly outputUri: string;
}

/** Keys that one manifest takes: more are for the same run again, shard by shard. */
const MAX_LISTED = 1_000_000;
/** Reports that are read at once. */
const READS = 32;

/** Counts anew the shards whose report may be old, then adds up all reports. */
export async function summarizeRun(
  s3: S3Client,
  request: SummaryRequest,
  outOfTime: () => boolean = () => false,
  logOf?: LogReader,
): Promise<Summary> {
  const { settings, mopUp } = request;
  if (mopUp && !request.position) await writeSpent(s3, settings, 'mop-up', mopUp);
  const reports: { shard: string; report: ShardReport }[] = [];
  const again = await recount(s3, request, outOfTime, logOf);
  if (again) return { ...NOTHING, counted: false, position: again, outputUri: settings.outputUri };
  let group: string[] = [];
  const read = async () => {
    const some = group.map(async (shard) => ({
      shard,
      report: await readReport(s3, settings, shard),
    }));
    for (const { shard, report } of await Promise.all(some)) {
      if (report) reports.push({ shard, report });
    }
    group = [];
  };
  for await (const shard of shardNames(s3, settings)) {
    if (group.push(shard) === READS) await read();
  }
  await read();
  return addUp(s3, settings, reports);
}

const NOTHING = { inputs: 0, done: 0, missing: 0, refused: 0, deleted: 0 };

/** Names of the planned shards, in their order. */
async function* shardNames(s3: S3Client, settings: TransformSettings): AsyncGenerator<string> {
  for await (const { key } of listObjects(s3, shardsDirectory(settings))) {
    yield shardOf(key);
  }
}

/** @returns where to continue, or undefined if every shard that needs it is counted */
async function recount(
  s3: S3Client,
  { settings, since, recount: all = false, mopUp, position }: SummaryRequest,
  outOfTime: () => boolean,
  logOf: LogReader | undefined,
): Promise<SummaryPosition | undefined> {
  const { key } = shardsDirectory(settings);
  let after = position?.after ?? '';
  let within = position?.shard;
  for await (const shard of shardNames(s3, settings)) {
    if (shard <= after) continue;
    const report = await readReport(s3, settings, shard);
    if (!report || (report.missing > 0 && (all || !report.last))) {
      const reason = report?.reason;
      const { counted, position: shardPosition } = await findPending(
        s3,
        {
          settings,
          since,
          shard: `${key}${shard}.manifest`,
          last: true,
          ...(reason && { reason }),
          ...(mopUp?.TransformJobName && { mopUp: mopUp.TransformJobName }),
          ...(within && { position: within }),
        },
        outOfTime,
        logOf,
      );
      within = undefined;
      if (!counted && shardPosition) return { after, shard: shardPosition };
    }
    after = shard;
    if (outOfTime()) return { after };
  }
  return undefined;
}

/** Writes the re-drive manifest, and the reasons beside it. */
async function addUp(
  s3: S3Client,
  settings: TransformSettings,
  reports: readonly { shard: string; report: ShardReport }[],
): Promise<Summary> {
  const sum = (name: keyof ShardCounts) =>
    reports.reduce((total, { report }) => total + report[name], 0);
  const sendable = sum('missing');
  const counts = {
    inputs: sum('inputs') - sum('deleted'),
    done: sum('done'),
    missing: sendable + sum('refused'),
    refused: sum('refused'),
    deleted: sum('deleted'),
  };
  const { outputUri, runId } = settings;
  if (counts.missing === 0) return { counted: true, ...counts, outputUri };
  const reasons = runPlace(settings, 'redrive-reasons.json');
  await writeJson(s3, reasons, reports.flatMap(reasonsOf));
  const where = `reasons are in s3://${reasons.bucket}/${reasons.key}`;
  if (sendable === 0 || sendable > MAX_LISTED) {
    const advice =
      sendable === 0
        ? `no job can answer them; ${where}`
        : `start again with runId '${runId}' to continue; ${where}`;
    return { counted: true, ...counts, advice, outputUri };
  }
  const redriveUri = await writeRedrive(s3, settings, reports);
  const advice = `they are listed in ${redriveUri}; ${where}`;
  return { counted: true, ...counts, advice, redriveUri, outputUri };
}

function reasonsOf({ shard, report }: { shard: string; report: ShardReport }) {
  const { missing, refused, lettersUri, logCut, reason = 'the shard was not run' } = report;
  return [
    ...(missing > 0 ? [{ shard, missing, reason, lettersUri, logCut }] : []),
    ...(refused > 0
      ? [{ shard, missing: refused, reason: `no job can answer them`, lettersUri }]
      : []),
  ];
}

/** One manifest of all missing inputs that a job may answer. */
async function writeRedrive(
  s3: S3Client,
  settings: TransformSettings,
  reports: readonly { report: ShardReport }[],
): Promise<string> {
  const lines: string[] = [];
  let below = '';
  for (const { report } of reports) {
    if (!report.manifestUri || report.missing === 0) continue;
    below ||= report.prefix;
    const { pages } = await readManifest(s3, parseS3Uri(report.manifestUri));
    for await (const keys of pages) for (const key of keys) lines.push(JSON.stringify(key));
  }
  const place = runPlace(settings, 'redrive.manifest');
  const body = Buffer.from(manifestOfLines(below, lines));
  await writeObject(s3, place, body, 'application/json');
  return formatS3Uri(place);
}
