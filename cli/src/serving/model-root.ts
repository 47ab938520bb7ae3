/** Turns whatever the user points at into a folder laid out like `/opt/ml/model`. */
import { readlinkSync, rmSync } from 'node:fs';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '@sagemaker-tfs/libtensorflow/is-running';
import { fetchFromS3, isS3Uri, layOut, type OpenOptions } from '@sagemaker-tfs/model-packaging';

/** A laid-out model. */
export interface ModelRoot {
  readonly directory: string;
  /** Removes what was made for this run. */
  cleanUp(): Promise<void>;
}

/** What `package` writes, and SageMaker unpacks as it is. */
const ARCHIVE = /\.(tar\.gz|tgz)$/i;

/**
 * Lays out in a temporary folder exactly what SageMaker would serve: an archive as it is, or what an archive
 * of the source (a directory, `.zip`, `.keras`, `.h5`, `s3://` URI) with its handler would hold.
 * @throws PackagingError if the source is missing or cannot be served
 */
export async function prepareModelRoot(
  source: string,
  handler?: string,
  { signal, onStep }: OpenOptions = {},
): Promise<ModelRoot> {
  await removeAbandoned();
  const work = await mkdtemp(join(tmpdir(), ownPrefix()));
  // A second Ctrl-C does not wait.
  const atExit = () => rmSync(work, { recursive: true, force: true });
  process.once('exit', atExit);
  const cleanUp = async () => {
    process.off('exit', atExit);
    await rm(work, { recursive: true, force: true });
  };
  const directory = join(work, 'model');
  const isArchive = ARCHIVE.test(source) && handler === undefined;
  try {
    if (isArchive) {
      // With the handler that it holds.
      const archive = isS3Uri(source)
        ? await fetchFromS3(source, work, { signal, onStep })
        : source;
      await layOut(archive, directory);
    } else {
      await layOut({ source, signal, onStep, ...(handler && { handler }) }, directory);
    }
  } catch (error) {
    await cleanUp();
    throw error;
  }
  return { directory, cleanUp };
}

/** Names the process that a folder belongs to; process ids mean something in their own namespace only. */
function ownPrefix(pid: number | string = process.pid): string {
  return `sagemaker-tfs-model-${pidNamespace()}-${pid}-`;
}

function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0] ?? '0';
  } catch {
    return '0';
  }
}

/** A command that was killed with SIGKILL could not remove its model. @param directory that holds such folders */
export async function removeAbandoned(directory: string = tmpdir()): Promise<void> {
  const pattern = new RegExp(`^${ownPrefix('(\\d+)')}`);
  const names = await readdir(directory).catch(() => []);
  for (const name of names) {
    const pid = Number(pattern.exec(name)?.[1]);
    if (!pid || isRunning(pid)) continue;
    // Somebody else's cannot be removed, and need not.
    await rm(join(directory, name), { recursive: true, force: true }).catch(() => undefined);
  }
}
