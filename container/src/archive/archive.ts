/** An unpacked archive beside its models: the handler and what packaging wrote down. */
import { join } from 'node:path';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { MANIFEST_PATH } from '@sagemaker-tfs/manifest/manifest-path';
import type { Logger } from 'pino';
import { StartError } from '../errors.ts';
import { type LoadedHandler, loadHandler, warnOfStrayHandlers } from '../handler/loader.ts';
import { readManifest } from '../models/read-manifest.ts';
import { type Labels, loadLabels } from '../postprocess/labels.ts';

/** What an archive adds to its models. */
export interface Archive {
  /** Where it lies unpacked. */
  readonly directory: string;
  readonly handler: LoadedHandler | undefined;
  /** Undefined for archives that were packed by hand. */
  readonly manifest: Manifest | undefined;
  /** Labels that the manifest's postprocess names. */
  readonly labels: Labels | undefined;
}

/**
 * Reads the manifest and loads the handler.
 * @param deadlineMs how long the handler's module may take
 * @throws StartError ARCHIVE_INVALID, HANDLER_INVALID if they are there and cannot be used
 */
export async function loadArchive(
  directory: string,
  log: Logger,
  deadlineMs: number,
): Promise<Archive> {
  const packaged = await readPackaged(directory);
  const handler = await loadHandler(directory, log, deadlineMs);
  if (!handler) await warnOfStrayHandlers(directory, log);
  return { directory, ...packaged, handler };
}

async function readPackaged(directory: string): Promise<Pick<Archive, 'manifest' | 'labels'>> {
  const manifest = await readManifest(directory);
  const postprocess = manifest?.postprocess;
  if (!postprocess) return { manifest, labels: undefined };
  const labels = await loadLabels(postprocess, join(directory, 'code')).catch((cause: Error) => {
    throw new StartError('ARCHIVE_INVALID', `${MANIFEST_PATH}: ${cause.message}`, { cause });
  });
  return { manifest, labels };
}
