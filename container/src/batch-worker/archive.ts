/** The model of a worker that SageMaker does not lay out as it does for a model: an archive, or what is in it. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BatchError } from '@sagemaker-tfs/batch';

const ARCHIVE = /\.(tar\.gz|tgz)$/i;
const run = promisify(execFile);

/** A model directory for the time of a run. */
export interface BorrowedDirectory {
  readonly path: string;
  /** Removes what was unpacked. */
  readonly remove: () => Promise<void>;
}

/**
 * The model directory at a path: a folder as it is, an archive (or a folder with nothing but one) unpacked.
 * @throws BatchError WORKER_USAGE where there is none
 */
export async function modelDirectoryAt(path: string): Promise<BorrowedDirectory> {
  const archive = await archiveAt(path);
  if (archive === undefined) return { path, remove: async () => undefined };
  const directory = await mkdtemp(join(tmpdir(), 'worker-model-'));
  const remove = () => rm(directory, { recursive: true, force: true });
  try {
    await run('tar', ['-xzf', archive, '-C', directory, '--no-same-owner']);
  } catch (cause) {
    await remove();
    throw new BatchError(
      'WORKER_USAGE',
      `batch worker: --model-path ${archive} cannot be unpacked. Give a model.tar.gz.`,
      { cause },
    );
  }
  return { path: directory, remove };
}

async function archiveAt(path: string): Promise<string | undefined> {
  const found = await stat(path).catch((cause: unknown) => {
    throw new BatchError(
      'WORKER_USAGE',
      `batch worker: there is nothing at --model-path ${path}. Give a model.tar.gz or a model directory.`,
      { cause },
    );
  });
  if (found.isFile()) return path;
  const names = await readdir(path);
  const [only] = names;
  return names.length === 1 && only !== undefined && ARCHIVE.test(only)
    ? join(path, only)
    : undefined;
}
