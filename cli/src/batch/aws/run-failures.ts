/** Inputs of a sharded run that its shards have given up, from the reports that the state machine keeps. */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { REPORTS_FOLDER, type S3Location, shardReportSchema } from '@sagemaker-tfs/batch';
import { listObjects, readText } from '@sagemaker-tfs/batch/s3';
import type * as z from 'zod';
import { CLOCKS } from './clocks.ts';
import type { TransformJob } from './described-job.ts';

/** Reports that are read at once. */
const READS = 32;
/** Characters of a reason; what follows in SageMaker's texts is of one job. */
const LONGEST = 120;
/** Inputs that no job gets: empty, too large, or with too long a key. */
const REFUSED = 'refused before a job: dead-letters/ has the reasons';

const schema = shardReportSchema.pick({
  missing: true,
  refused: true,
  reason: true,
  codes: true,
});
type Report = z.output<typeof schema>;

/** Returns the failures of a run at each look, by their code or else by their reason; a report is read again only if it is newer. */
export function runFailures(
  s3: S3Client,
): (job: Pick<TransformJob, 'run'>) => Promise<Record<string, number>> {
  const known = new Map<string, { readonly readAt: number; readonly report: Report }>();
  const read = async (bucket: string, key: string) => {
    const readAt = Date.now();
    const report = schema.parse(JSON.parse(await readText(s3, { bucket, key })));
    known.set(key, { readAt, report });
  };
  return async ({ run }) => {
    if (!run) return {};
    const newer: string[] = [];
    for await (const { key, modified } of listObjects(s3, reportsOf(run))) {
      if (modified + CLOCKS > (known.get(key)?.readAt ?? 0)) newer.push(key);
    }
    await Readable.from(newer)
      .map((key: string) => read(run.bucket, key), { concurrency: READS })
      .toArray();
    return byReason([...known.values()].map(({ report }) => report));
  };
}

function reportsOf({ bucket, key }: S3Location): S3Location {
  return { bucket, key: key + REPORTS_FOLDER };
}

function byReason(reports: readonly Report[]): Record<string, number> {
  const found: Record<string, number> = {};
  const add = (reason: string, some: number) => {
    if (some > 0) found[reason] = (found[reason] ?? 0) + some;
  };
  for (const { missing, refused, reason, codes = {} } of reports) {
    add(REFUSED, refused);
    let rest = missing;
    for (const [code, some] of Object.entries(codes)) {
      add(code, some);
      rest -= some;
    }
    // Without a reason its job has not ended.
    if (reason !== undefined) add(reason.slice(0, LONGEST), rest);
  }
  return found;
}
