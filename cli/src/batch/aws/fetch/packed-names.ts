/** The names of the inputs that `batch pack` has put into one file, for the answers to that file. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  type Answer,
  asDirectory,
  formatS3Uri,
  keyInPart,
  PARTS_FOLDER,
  parseKeyLine,
  parseS3Uri,
  partFiles,
  partOfKey,
  rowsOf,
  WORKER_KEYS,
} from '@sagemaker-tfs/batch';
import { openInputs } from '@sagemaker-tfs/batch/s3';
import { usageError } from '../../../errors.ts';
import { hasShardNames, shardNames } from '../../shards.ts';
import { keyLines, readWorkerPlan } from '../worker-keys.ts';

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
  const { prefix } = await openInputs(s3, { ...plan, outputUri });
  return {
    prefix,
    async of(file) {
      const part = partOfKey(file);
      if (!part) return undefined;
      const names: string[] = [];
      const { keys } = partFiles(part.range, part.part);
      for await (const line of keyLines(s3, { bucket, key: root.key + keys })) {
        const name = keyInPart(line);
        if (name !== undefined) names.push(name);
      }
      return names;
    },
  };
}

/**
 * Of a folder of packed files: one that `batch pack` has written, or the `parts/` of S3 with `_worker/keys/` beside it.
 * @throws CommandError USAGE where there are no names
 */
export function packedInFolder(folder: string): PackedNames {
  const keys = join(resolve(folder), '..', WORKER_KEYS);
  if (existsSync(keys)) return { prefix: undefined, of: (file) => namesInFolder(keys, file) };
  if (hasShardNames(folder)) {
    return { prefix: undefined, of: (file) => shardNames(folder, basename(file)) };
  }
  throw usageError(
    `there are no names for --packed ${folder}: neither ${folder.replace(/\/$/, '')}.keys nor ${WORKER_KEYS} beside it. Name the folder that batch pack has written.`,
  );
}

async function namesInFolder(keys: string, file: string): Promise<string[] | undefined> {
  const part = partOfKey(file);
  if (!part) return undefined;
  const list = join(keys, basename(partFiles(part.range, part.part).keys));
  if (!existsSync(list)) return undefined;
  const [, ...lines] = gunzipSync(await readFile(list))
    .toString('utf8')
    .split('\n')
    .filter(Boolean);
  return lines.flatMap((line) => keyInPart(parseKeyLine(line, list)) ?? []);
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
