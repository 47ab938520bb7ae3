/** How far a batch worker is, from what it has written. */
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  asDirectory,
  formatS3Uri,
  type KeysCandidates,
  keysCandidates,
  PARTS_FOLDER,
  parseS3Uri,
  partOfKey,
  readKeysFile,
  type S3Location,
} from '@sagemaker-tfs/batch';
import { count } from './count.ts';
import { LISTINGS } from './transform-places.ts';
import { countsOfPart, filesOfWorker, readWorkerPlan, workerKeys } from './worker-keys.ts';

/** One look. */
interface WorkerProgress {
  /** Inputs below the prefix, counted once; 0 before the worker has made its plan. */
  readonly total: number;
  /** Inputs that were dealt with: with an answer, with an error, or deleted meanwhile. */
  readonly done: number;
  /** Inputs with an error instead of an answer, by its code. */
  readonly failures: Readonly<Record<string, number>>;
}

/** Looks at the same answers again and again; each part is read once. @throws BatchError WORKER_FILE_INVALID */
export function workerProgress(s3: S3Client, outputUri: string): () => Promise<WorkerProgress> {
  const output = asDirectory(parseS3Uri(outputUri));
  const failures: Record<string, number> = {};
  const seen = new Set<string>();
  let total: number | undefined;
  let done = 0;
  const files = filesOfWorker(s3, output);
  const add = async (part: string, candidates: KeysCandidates) => {
    const counts = await countsOfPart(await readKeysFile(files, part, candidates));
    // A look that failed may have left this read under way.
    if (seen.has(part)) return;
    seen.add(part);
    done += counts.answers + counts.failures + counts.gone;
    for (const [code, some] of counts.byCode) failures[code] = (failures[code] ?? 0) + some;
  };
  return async () => {
    total ??= await countInputs(s3, output);
    const listed = (await files.list(PARTS_FOLDER)).map(({ key }) => key);
    const parts = listed.filter((key) => partOfKey(key) && !seen.has(key));
    const candidates = await keysCandidates(files, parts);
    await Readable.from(parts)
      .map((part: string) => add(part, candidates), { concurrency: LISTINGS })
      .toArray();
    return { total: total ?? 0, done, failures: { ...failures } };
  };
}

/** Undefined before there is a plan. */
async function countInputs(s3: S3Client, output: S3Location): Promise<number | undefined> {
  const outputUri = formatS3Uri(output);
  const plan = await readWorkerPlan(s3, outputUri);
  if (!plan) return undefined;
  const { parts } = await workerKeys(s3, plan, { inputUri: plan.inputUri, outputUri });
  return count(parts.map(({ inputs }) => inputs));
}
