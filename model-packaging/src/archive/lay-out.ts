/** Lays an archive or a plan out as SageMaker does in `/opt/ml/model`. */
import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { fileChanged, PackagingError } from '../errors.ts';
import { hashFile, type PlannedFile } from '../files/archive-files.ts';
import { outputFailed, outputFolder, requireOutsideModel } from '../files/output.ts';
import { type ContentOptions, planContent } from '../plan/content.ts';
import { extractArchive } from '../source/extract.ts';
import { manifestIn } from '../source/manifest-in.ts';
import { type CheckOptions, passed } from './passed.ts';

/** What lies in a laid-out directory. */
export interface LayOutResult {
  /** Absolute path. */
  readonly directory: string;
  /** Undefined if the archive was not made by this packager. */
  readonly manifest: Manifest | undefined;
}

/**
 * Unpacks an archive (`model.tar.gz`), or lays out what an archive of these options would hold, into
 * `directory`. The directory must be missing or empty and appears only when it is complete and passed the check.
 * @throws PackagingError UNSAFE_PATH, CORRUPT_FILE, OUTPUT_FAILED and those of packaging
 */
export async function layOut(
  archiveOrOptions: string | ContentOptions,
  directory: string,
  options: CheckOptions = {},
): Promise<LayOutResult> {
  const target = await outputFolder(directory);
  await requireEmpty(target);
  const temporary = `${target}.${randomBytes(4).toString('hex')}.partial`;
  try {
    if (typeof archiveOrOptions === 'string') {
      await makeDirectory(temporary, target);
      await extractArchive(archiveOrOptions, temporary);
    } else {
      await planContent(archiveOrOptions, async ({ files }) => {
        requireOutsideModel(files, target);
        await makeDirectory(temporary, target);
        await copyFiles(files, temporary);
      });
    }
    const manifest = await readManifest(temporary);
    await passed(options, temporary);
    await rm(target, { recursive: true, force: true }).catch(outputFailed(target));
    await rename(temporary, target).catch(outputFailed(target));
    return { directory: target, manifest };
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    throw error;
  }
}

async function makeDirectory(directory: string, target: string): Promise<void> {
  await mkdir(directory, { recursive: true }).catch(outputFailed(target));
}

/** The manifest of a laid-out archive; undefined if it has none. @throws PackagingError CORRUPT_FILE */
export async function readManifest(directory: string): Promise<Manifest | undefined> {
  return manifestIn(directory);
}

/** @throws PackagingError BAD_OPTION if something is there that is not an empty directory */
export async function requireEmpty(target: string): Promise<void> {
  const existing = await stat(target).catch(() => undefined);
  if (!existing) return;
  if (existing.isDirectory() && (await readdir(target)).length === 0) return;
  throw new PackagingError(
    'BAD_OPTION',
    `${target} is already there and not an empty directory. Remove it or give another path.`,
  );
}

async function copyFiles(files: readonly PlannedFile[], directory: string): Promise<void> {
  for (const { path, content, sha256 } of files) {
    const target = join(directory, path);
    await mkdir(dirname(target), { recursive: true }).catch(outputFailed(target));
    if ('bytes' in content) {
      await writeFile(target, content.bytes).catch(outputFailed(target));
      continue;
    }
    await copyFile(content.file, target).catch(outputFailed(target));
    const { hash } = await hashFile(target);
    if (hash.digest('hex') !== sha256) throw fileChanged(content.file);
  }
}
