/** Workers of AWS Batch that write below an output prefix, as their own lease shows them to others. */
import type { S3Client } from '@aws-sdk/client-s3';
import { asDirectory, formatS3Uri, parseS3Uri } from '../s3-uri.ts';
import { LEASE_FOLDER, leaseKeys, newestLease, parseLease, WORKERS_SILENT } from '../worker-run.ts';
import { httpStatusOf, isAbsent } from './errors.ts';
import { listObjects } from './listing.ts';
import { readText } from './objects.ts';

/** Workers that have given a sign of life. */
export interface WritingWorkers {
  /** Their job of AWS Batch. */
  readonly run: string;
  readonly leaseUri: string;
  /** Seconds since their last sign. */
  readonly silent: number;
}

/** @returns undefined if no worker works there, or nobody may see whether one does; those in a queue write nothing yet */
export async function writingWorkers(
  s3: S3Client,
  outputUri: string,
): Promise<WritingWorkers | undefined> {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  try {
    const times = new Map<string, number>();
    for await (const file of listObjects(s3, { bucket, key: key + LEASE_FOLDER })) {
      times.set(file.key, file.modified);
    }
    const number = newestLease([...times.keys()].map((name) => ({ key: name })));
    if (number === undefined) return undefined;
    const { holder, alive } = leaseKeys(number);
    const seen = Math.max(times.get(key + holder) ?? 0, times.get(key + alive) ?? 0);
    const silent = Math.max(0, Date.now() - seen);
    if (silent >= WORKERS_SILENT) return undefined;
    const place = { bucket, key: key + holder };
    const leaseUri = formatS3Uri(place);
    const run = parseLease(await readText(s3, place), leaseUri);
    return { run, leaseUri, silent: Math.round(silent / 1_000) };
  } catch (error) {
    if (isAbsent(error) || httpStatusOf(error) === 403) return undefined;
    throw error;
  }
}
