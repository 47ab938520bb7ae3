/** Keys of what `batch worker` has written, as `verify` compares them with the inputs. */
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  asDirectory,
  BatchError,
  codeInPart,
  compareKeys,
  deletedKey,
  inOutputOrder,
  type KeysFile,
  keyInPart,
  keysCandidates,
  PLAN_KEY,
  parseKeyLine,
  parseKeysHeader,
  parsePlan,
  parseS3Uri,
  partOfKey,
  partsOfRange,
  rangesOf,
  readKeysFile,
  type S3Location,
  textLines,
  type WorkerCounts,
  type WorkerFiles,
  type WorkerPlan,
  type WorkerRange,
} from '@sagemaker-tfs/batch';
import {
  findObject,
  isAbsent,
  listObjects,
  openInputs,
  readBytes,
  readText,
  type S3Object,
  type WorkerInputs,
} from '@sagemaker-tfs/batch/s3';
import type { JobInput, JobOutput, KeyPart, TransformKeys } from './transform-places.ts';

/**
 * The plan of the worker that wrote below a prefix.
 * @returns undefined if none did
 * @throws BatchError WORKER_FILE_INVALID
 */
export async function readWorkerPlan(
  s3: S3Client,
  outputUri: string,
): Promise<WorkerPlan | undefined> {
  const { bucket, key } = asDirectory(parseS3Uri(outputUri));
  const place = { bucket, key: key + PLAN_KEY };
  if (!(await findObject(s3, place))) return undefined;
  return parsePlan(await readText(s3, place), `${outputUri}: ${PLAN_KEY}`);
}

/**
 * Opens a worker's keys; inputs with an error instead of an answer count as missing.
 * @throws BatchError OTHER_RUN for another input prefix
 */
export async function workerKeys(
  s3: S3Client,
  plan: WorkerPlan,
  places: { readonly inputUri: string; readonly outputUri: string },
): Promise<TransformKeys> {
  if (places.inputUri !== plan.inputUri) {
    throw new BatchError(
      'OTHER_RUN',
      `the answers at ${places.outputUri} are of ${plan.inputUri}, not of ${places.inputUri}. Name the prefix that the worker was given.`,
    );
  }
  const inputs = await openInputs(s3, { ...plan, outputUri: places.outputUri });
  const output = asDirectory(parseS3Uri(places.outputUri));
  const failures = new Map<string, number>();
  const part = (range: WorkerRange): KeyPart => ({
    inputs: () => inputsOfRange(inputs, range),
    outputs: () => inOutputOrder(answered(s3, output, range, failures)),
  });
  return {
    root: inputs.prefix,
    outputs: output,
    parts: rangesOf(plan).map(part),
    listsDeleted: plan.inventoryUri !== undefined,
    failures,
  };
}

async function* inputsOfRange(
  inputs: WorkerInputs,
  { after, upTo }: WorkerRange,
): AsyncGenerator<JobInput> {
  for await (const { key, modified } of inputs.objects(after, upTo)) {
    if (upTo !== undefined && compareKeys(key, upTo) > 0) return;
    yield { key: key.slice(inputs.root.length), modified };
  }
}

/** Keys of a range that have an answer, or that were deleted, sorted; those with an error are counted by its code. */
async function* answered(
  s3: S3Client,
  output: S3Location,
  { number }: WorkerRange,
  failures: Map<string, number>,
): AsyncGenerator<JobOutput> {
  const files = filesOfWorker(s3, output);
  const parts = (await files.list(partsOfRange(number))).filter(({ key }) => partOfKey(key));
  const candidates = await keysCandidates(
    files,
    parts.map(({ key }) => key),
  );
  for (const { key, modified } of parts) {
    for await (const line of keyLines(await readKeysFile(files, key, candidates))) {
      // Its own size is not known without its answers.
      const [input, deleted, code] = [keyInPart(line), deletedKey(line), codeInPart(line)];
      if (input !== undefined) yield { key: input, size: 1, modified };
      if (deleted !== undefined) yield { key: deleted, size: 0, modified, isGone: true };
      if (code !== undefined) failures.set(code, (failures.get(code) ?? 0) + 1);
    }
  }
}

/** What a worker has written below its output prefix on S3. */
interface WorkerObjects extends WorkerFiles {
  list(start: string): Promise<S3Object[]>;
}

/** Lists and reads what a worker has written. */
export function filesOfWorker(s3: S3Client, output: S3Location): WorkerObjects {
  const at = (key: string): S3Location => ({ ...output, key: output.key + key });
  return {
    async list(start) {
      const found: S3Object[] = [];
      for await (const object of listObjects(s3, at(start)))
        found.push({ ...object, key: object.key.slice(output.key.length) });
      return found;
    },
    async read(key) {
      try {
        return await readBytes(s3, at(key));
      } catch (error) {
        if (isAbsent(error)) return undefined;
        throw error;
      }
    },
  };
}

/** What became of the inputs of a part. */
interface PartCounts extends WorkerCounts {
  /** Of its failures, how many have each code. */
  readonly byCode: ReadonlyMap<string, number>;
}

/** Counts a part by its file of keys. @throws BatchError WORKER_FILE_INVALID */
export async function countsOfPart(file: KeysFile): Promise<PartCounts> {
  const byCode = new Map<string, number>();
  let header: WorkerCounts | undefined;
  for await (const line of linesIn(file)) {
    if (header === undefined) {
      header = parseKeysHeader(line, file.key);
      if (header.failures === 0) break;
      continue;
    }
    const code = codeInPart(parseKeyLine(line, file.key));
    if (code !== undefined) byCode.set(code, (byCode.get(code) ?? 0) + 1);
  }
  return { ...(header ?? parseKeysHeader('', file.key)), byCode };
}

/** Lines of a file of keys behind the first. @throws BatchError WORKER_FILE_INVALID */
export async function* keyLines(file: KeysFile) {
  let isFirst = true;
  for await (const line of linesIn(file)) {
    if (!isFirst) yield parseKeyLine(line, file.key);
    else parseKeysHeader(line, file.key);
    isFirst = false;
  }
}

function linesIn({ bytes }: KeysFile): AsyncGenerator<string> {
  const text = Readable.from([bytes]).compose(createGunzip());
  return textLines(text as Readable);
}
