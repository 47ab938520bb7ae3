/** Turns whatever the user points at into a folder laid out like `/opt/ml/model`. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fetchFromS3, isS3Uri, layOut } from '@sagemaker-tfs/model-packaging';

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
 * @throws PackagingError where the source is missing or cannot be served
 */
export async function prepareModelRoot(
  source: string,
  handler?: string,
  signal?: AbortSignal,
): Promise<ModelRoot> {
  const work = await mkdtemp(join(tmpdir(), 'sagemaker-tfs-'));
  const cleanUp = () => rm(work, { recursive: true, force: true });
  const directory = join(work, 'model');
  const isArchive = ARCHIVE.test(source) && handler === undefined;
  try {
    if (isArchive) {
      // With the handler that it holds.
      const archive = isS3Uri(source) ? await fetchFromS3(source, work, { signal }) : source;
      await layOut(archive, directory);
    } else {
      await layOut({ source, ...(handler && { handler }), ...(signal && { signal }) }, directory);
    }
  } catch (error) {
    await cleanUp();
    throw error;
  }
  return { directory, cleanUp };
}
