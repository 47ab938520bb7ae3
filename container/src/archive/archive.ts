/** An unpacked archive beside its models: the handler and what packaging wrote down. */
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { MANIFEST_PATH } from '@sagemaker-tfs/manifest/manifest-path';
import type { Logger } from 'pino';
import { StartError } from '../errors.ts';
import { type LoadedHandler, loadHandler, warnOfStrayHandlers } from '../handler/loader.ts';
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
  const packaged = await readPackaged(directory).catch((cause: Error) => {
    throw new StartError('ARCHIVE_INVALID', `${MANIFEST_PATH}: ${cause.message}`, { cause });
  });
  const handler = await loadHandler(directory, log, deadlineMs);
  if (!handler) await warnOfStrayHandlers(directory, log);
  return { directory, ...packaged, handler };
}

async function readPackaged(directory: string): Promise<Pick<Archive, 'manifest' | 'labels'>> {
  const path = join(directory, MANIFEST_PATH);
  const manifest = existsSync(path) ? await readManifest(path) : undefined;
  const postprocess = manifest?.postprocess;
  const labels = postprocess && (await loadLabels(postprocess, join(directory, 'code')));
  return { manifest, labels };
}

/** The schema's library takes its time to load, and archives that were packed by hand do not need it. */
async function readManifest(path: string): Promise<Manifest> {
  const { checkManifestSize, parseManifest } = await import('@sagemaker-tfs/manifest');
  checkManifestSize((await stat(path)).size);
  return parseManifest(await readFile(path, 'utf8'));
}
