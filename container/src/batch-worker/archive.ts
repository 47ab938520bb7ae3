/** The model of a worker that SageMaker does not lay out as it does for a model: an archive, or what is in it. */
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { BatchError, parseS3Uri } from '@sagemaker-tfs/batch';
import { httpStatusOf, isAbsent, openObject } from '@sagemaker-tfs/batch/s3';
import { createPrivateDirectory, privateDirectory } from '../model-server/private-directory.ts';
import { s3Client } from './store.ts';

const run = promisify(execFile);

/** A worker's model is no server's. */
const NO_PORT = 0;

/** A model directory for the time of a run. */
interface BorrowedDirectory {
  readonly path: string;
  /** Removes what was unpacked. */
  readonly remove: () => Promise<void>;
}

/**
 * The model directory at a path: a folder as it is; an archive, on this machine or on S3, unpacked.
 * @throws BatchError WORKER_USAGE if there is none, MODEL_UNREADABLE where S3 does not give it
 */
export async function modelDirectoryAt(path: string): Promise<BorrowedDirectory> {
  if (path.startsWith('s3://')) {
    return unpacked(path, async (directory) => {
      const file = join(directory, 'model.tar.gz');
      await download(path, file);
      await unpack(file, directory);
      await rm(file);
    });
  }
  if (!(await isArchive(path))) return { path, remove: async () => undefined };
  return unpacked(path, (directory) => unpack(path, directory));
}

/** A directory that `fill` fills, removed again where it fails. */
async function unpacked(
  archive: string,
  fill: (directory: string) => Promise<void>,
): Promise<BorrowedDirectory> {
  const directory = privateDirectory(process.pid, NO_PORT);
  // What a worker that was killed has left is removed as well.
  const remove = await createPrivateDirectory(directory);
  try {
    await fill(directory);
  } catch (cause) {
    await remove();
    if (cause instanceof BatchError) throw cause;
    throw new BatchError(
      'WORKER_USAGE',
      `batch worker: --model-path ${archive} cannot be unpacked. Give a model.tar.gz.`,
      { cause },
    );
  }
  return { path: directory, remove };
}

async function unpack(archive: string, directory: string): Promise<void> {
  await run('tar', ['-xzf', archive, '-C', directory, '--no-same-owner']);
}

/**
 * Writes an object of S3 to a file, piece by piece: an archive may be larger than memory.
 * @throws BatchError MODEL_UNREADABLE
 */
async function download(uri: string, file: string): Promise<void> {
  const { bucket, key } = parseS3Uri(uri);
  const s3 = s3Client(1);
  try {
    await pipeline(await openObject(s3, { bucket, key }), createWriteStream(file));
  } catch (cause) {
    const { name, message } = cause as Error;
    throw new BatchError(
      'MODEL_UNREADABLE',
      `batch worker: --model-path ${uri} cannot be read: ${name}: ${message.replace(/[.]$/, '')}. ${adviceFor(cause)}`,
      { cause },
    );
  } finally {
    s3.destroy();
  }
}

/** What to do: S3 names what a role lacks, and an error before its answer is of the worker's own surroundings. */
function adviceFor(cause: unknown): string {
  if (isAbsent(cause)) return 'Check its bucket and key.';
  if (httpStatusOf(cause) !== undefined) return 'The role needs s3:GetObject for it.';
  if ((cause as Error).message === 'Region is missing') return 'Set AWS_REGION.';
  return 'Check the credentials of the worker, and its way to S3.';
}

/** @throws BatchError WORKER_USAGE if there is nothing */
async function isArchive(path: string): Promise<boolean> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new BatchError(
      'WORKER_USAGE',
      `batch worker: there is nothing at --model-path ${path}. Give a model.tar.gz or a model directory.`,
      { cause },
    );
  });
  return found.isFile();
}
