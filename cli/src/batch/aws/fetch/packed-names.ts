/** The names of the inputs that `batch pack` has put into one file, for the answers to that file. */
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  type Answer,
  asDirectory,
  formatS3Uri,
  type KeysCandidates,
  type KeysFile,
  keyInPart,
  keysCandidates,
  PARTS_FOLDER,
  parseS3Uri,
  partOfKey,
  partsOfRange,
  readKeysFile,
  rowsOf,
  WORKER_KEYS,
  type WorkerFiles,
} from '@sagemaker-tfs/batch';
import { openInputs } from '@sagemaker-tfs/batch/s3';
import { usageError } from '../../../errors.ts';
import { hasShardNames, shardNames } from '../../shards.ts';
import { filesOfWorker, keyLines, readWorkerPlan } from '../worker-keys.ts';

/** Names by file. */
export interface PackedNames {
  /** S3 URI that the names are below; undefined for files of a folder. */
  readonly prefix: string | undefined;
  /** Names of a file's records, in their order; undefined for a file that was not packed. */
  of(file: string): Promise<readonly string[] | undefined>;
}

/**
 * Of inputs on S3.
 * @param inputUri of a job: the `parts/` of a packed prefix
 * @returns undefined if nothing was packed there
 * @throws BatchError WORKER_FILE_INVALID
 */
export async function packedOnS3(s3: S3Client, inputUri: string): Promise<PackedNames | undefined> {
  const { bucket, key } = asDirectory(parseS3Uri(inputUri));
  if (!key.endsWith(PARTS_FOLDER)) return undefined;
  const root = { bucket, key: key.slice(0, -PARTS_FOLDER.length) };
  const outputUri = formatS3Uri(root);
  const plan = await readWorkerPlan(s3, outputUri);
  if (!plan?.pack) return undefined;
  const { prefix } = await openInputs(s3, { ...plan, inventoryUri: undefined, outputUri });
  const keysFileOf = keysFinder(filesOfWorker(s3, root));
  return {
    prefix,
    async of(file) {
      const range = partOfKey(file)?.range;
      return range === undefined ? undefined : namesOf(await keysFileOf(range, file));
    },
  };
}

/** Finds the file of keys of a packed file. Each range is listed once, and a part that came later by itself. */
function keysFinder(files: WorkerFiles): (range: number, file: string) => Promise<KeysFile> {
  const ranges = new Map<number, Promise<KeysCandidates>>();
  const listRange = async (range: number) => {
    const parts = await files.list(partsOfRange(range));
    return keysCandidates(
      files,
      parts.map(({ key }) => key),
    );
  };
  return async (range, file) => {
    const part = PARTS_FOLDER + basename(file);
    const listing = ranges.get(range) ?? listRange(range);
    ranges.set(range, listing);
    const known = await listing;
    const candidates = known.has(part) ? known : await keysCandidates(files, [part]);
    return readKeysFile(files, part, candidates);
  };
}

async function namesOf(file: KeysFile): Promise<string[]> {
  const names: string[] = [];
  for await (const line of keyLines(file)) {
    const name = keyInPart(line);
    if (name !== undefined) names.push(name);
  }
  return names;
}

/**
 * Of a folder of packed files: one that `batch pack` has written, or the `parts/` of S3 with `_worker/keys/` beside it.
 * @throws CommandError USAGE if there are no names
 */
export function packedInFolder(folder: string): PackedNames {
  if (existsSync(join(resolve(folder), '..', WORKER_KEYS))) {
    const files = filesInFolder(folder);
    return { prefix: undefined, of: (file) => namesInFolder(files, file) };
  }
  if (hasShardNames(folder)) {
    return { prefix: undefined, of: (file) => shardNames(folder, basename(file)) };
  }
  throw usageError(
    `there are no names for --packed ${folder}: neither ${folder.replace(/\/$/, '')}.keys nor ${WORKER_KEYS} beside it. Name the folder that batch pack has written.`,
  );
}

/** What a worker has written, brought to disk: its parts may lie in a folder of any name. */
function filesInFolder(folder: string): WorkerFiles {
  const keys = join(resolve(folder), '..', WORKER_KEYS);
  let names: Promise<string[]> | undefined;
  return {
    async list(start) {
      names ??= readdir(keys);
      const found = (await names).map((name) => WORKER_KEYS + name);
      return found.filter((key) => key.startsWith(start)).map((key) => ({ key }));
    },
    async read(key) {
      const path = join(key.startsWith(WORKER_KEYS) ? keys : folder, basename(key));
      return existsSync(path) ? readFile(path) : undefined;
    },
  };
}

async function namesInFolder(files: WorkerFiles, file: string): Promise<string[] | undefined> {
  const part = PARTS_FOLDER + basename(file);
  const candidates = await keysCandidates(files, [part]);
  return candidates.get(part)?.length
    ? namesOf(await readKeysFile(files, part, candidates))
    : undefined;
}

/**
 * The rows of the answers to a packed file, each under its own name. Where there is not one row for each name the answers stay as
 * they are.
 */
export function named(
  answers: readonly Answer[],
  names: readonly string[] | undefined,
): readonly Answer[] {
  if (!names) return answers;
  const rows = answers.flatMap(rowsOf);
  if (rows.length !== names.length) return answers;
  return rows.map((json, at) => ({ key: names[at] as string, json }));
}
