/** The inputs of a shard that have no output, a line each, with the reason that the job's log has for just that one. */
import type { S3Client } from '@aws-sdk/client-s3';
import { type LoggedReason, loggedReasons, type S3Location } from '@sagemaker-tfs/batch';
import type { JobLog } from '@sagemaker-tfs/batch/logs';
import { findObject } from '@sagemaker-tfs/batch/s3';
import { readRanges } from './storage.ts';

/** An input without an output. */
export interface DeadLetter extends LoggedReason {
  /** Below the prefix of the shard's manifest. */
  readonly key: string;
}

/** Reads the log of a job. */
export type LogReader = (job: string) => Promise<JobLog>;

/** Letters that only say what the job says of all its inputs; beyond that many, the shard's report says it once. */
const MAX_GENERAL = 50_000;
/** Codes that a report counts. */
const MAX_CODES = 20;

/** What is known of inputs that jobs have left. */
export interface Left {
  readonly letters: readonly DeadLetter[];
  /** Inputs by the code of their error, where the log has one. */
  readonly codes: Readonly<Record<string, number>>;
}

/**
 * @param keys of the inputs that are left
 * @param prefix what the keys are below
 * @param earlier letters of the jobs before
 * @param general what the job itself says
 */
export async function lettersOf(
  s3: S3Client,
  {
    keys,
    prefix,
    earlier,
    log,
    general,
  }: {
    readonly keys: readonly string[];
    readonly prefix: string;
    readonly earlier: S3Location;
    readonly log: JobLog;
    readonly general: string;
  },
): Promise<Left> {
  const wanted = new Set(keys);
  const own = await earlierReasons(s3, earlier, wanted);
  for (const [key, said] of loggedReasons(log.lines, prefix, wanted)) own.set(key, said);
  const letters: DeadLetter[] = [];
  const codes: Record<string, number> = {};
  let generals = 0;
  for (const key of keys) {
    const said = own.get(key) ?? { reason: general };
    if (!own.has(key) && ++generals > MAX_GENERAL) continue;
    letters.push({ key, ...said });
    const { code } = said;
    if (code === undefined || (!(code in codes) && Object.keys(codes).length >= MAX_CODES))
      continue;
    codes[code] = (codes[code] ?? 0) + 1;
  }
  return { letters, codes };
}

/** Reasons from an earlier job: the next one may not have come to the input, or its log may be gone. */
async function earlierReasons(
  s3: S3Client,
  place: S3Location,
  wanted: ReadonlySet<string>,
): Promise<Map<string, LoggedReason>> {
  const found = new Map<string, LoggedReason>();
  if (!(await findObject(s3, place))) return found;
  const decoder = new TextDecoder();
  let rest = '';
  const take = (line: string) => {
    if (line === '') return;
    const { key, ...said } = JSON.parse(line) as DeadLetter;
    if (wanted.has(key)) found.set(key, said);
  };
  for await (const bytes of readRanges(s3, place)) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) take(line);
  }
  take(rest);
  return found;
}
