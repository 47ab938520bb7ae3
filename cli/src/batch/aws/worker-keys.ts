/** Keys of what `batch worker` has written, as `verify` compares them with the inputs. */
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  asDirectory,
  BatchError,
  codeInPart,
  compareKeys,
  inOutputOrder,
  keyInPart,
  PLAN_KEY,
  parseKeyLine,
  parseKeysHeader,
  parsePlan,
  parseS3Uri,
  partFiles,
  partOfKey,
  partsOfRange,
  rangesOf,
  type S3Location,
  type WorkerCounts,
  type WorkerPlan,
  type WorkerRange,
} from '@sagemaker-tfs/batch';
import {
  findObject,
  listObjects,
  openInputs,
  readBytes,
  readText,
  type S3Object,
  type WorkerInputs,
} from '@sagemaker-tfs/batch/s3';
import type { JobInput, KeyPart, TransformKeys } from './transform-places.ts';

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
 * Opens a worker's keys; inputs with an error in the place of their answer count as missing.
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
  return { root: inputs.prefix, outputs: output, parts: rangesOf(plan).map(part), failures };
}

async function* inputsOfRange(
  inputs: WorkerInputs,
  { after, upTo }: WorkerRange,
): AsyncGenerator<JobInput> {
  for await (const { key, modified } of inputs.objects(after)) {
    if (upTo !== undefined && compareKeys(key, upTo) > 0) return;
    yield { key: key.slice(inputs.root.length), modified };
  }
}

/** Keys of a range that have an answer, sorted; those with an error are counted by its code. */
async function* answered(
  s3: S3Client,
  output: S3Location,
  { number }: WorkerRange,
  failures: Map<string, number>,
): AsyncGenerator<S3Object> {
  const parts = listObjects(s3, { ...output, key: output.key + partsOfRange(number) });
  for await (const { key, modified } of parts) {
    const part = partOfKey(key)?.part;
    if (part === undefined) continue;
    const place = { ...output, key: output.key + partFiles(number, part).keys };
    for await (const line of keyLines(s3, place)) {
      // Its own size is not known without its answers.
      const input = keyInPart(line);
      const code = codeInPart(line) ?? '';
      if (input !== undefined) yield { key: input, size: 1, modified };
      else failures.set(code, (failures.get(code) ?? 0) + 1);
    }
  }
}

/** What became of the inputs of a part. */
export interface PartCounts extends WorkerCounts {
  /** Of its failures, how many have each code. */
  readonly byCode: ReadonlyMap<string, number>;
}

/**
 * Counts a part by its file of keys.
 * @param name of the part, such as `00000-000000`
 * @throws BatchError WORKER_FILE_INVALID
 */
export async function countsOfPart(
  s3: S3Client,
  output: S3Location,
  name: string,
): Promise<PartCounts> {
  const [range = 0, part = 0] = name.split('-').map(Number);
  const place = { ...output, key: output.key + partFiles(range, part).keys };
  const byCode = new Map<string, number>();
  let header: WorkerCounts | undefined;
  for await (const line of textLines(s3, place)) {
    if (header === undefined) {
      header = parseKeysHeader(line, place.key);
      if (header.failures === 0) break;
      continue;
    }
    const code = codeInPart(parseKeyLine(line, place.key));
    if (code !== undefined) byCode.set(code, (byCode.get(code) ?? 0) + 1);
  }
  return { ...(header ?? parseKeysHeader('', place.key)), byCode };
}

/** Lines of a file of keys behind the first. @throws BatchError WORKER_FILE_INVALID */
export async function* keyLines(s3: S3Client, place: S3Location) {
  let isFirst = true;
  for await (const line of textLines(s3, place)) {
    if (!isFirst) yield parseKeyLine(line, place.key);
    else parseKeysHeader(line, place.key);
    isFirst = false;
  }
}

/** Lines of a file of keys. It is read whole, so that a connection that breaks is tried again. */
async function* textLines(s3: S3Client, place: S3Location): AsyncGenerator<string> {
  const input = Readable.from([await readBytes(s3, place)]).compose(createGunzip());
  yield* createInterface({ input: input as Readable });
}
