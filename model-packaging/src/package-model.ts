/** Packages models and a handler into `model.tar.gz`. */

import { createHash } from 'node:crypto';
import type { Manifest } from '@sagemaker-tfs/manifest';
import { DEFAULT_LEVEL } from './archive/level.ts';
import { readSealed } from './archive/seal.ts';
import { CHUNK_SIZE } from './archive/tar-chunks.ts';
import { writeArchive } from './archive/write-archive.ts';
import { PackagingError } from './errors.ts';
import { outputFile, requireArchiveName, requireOutsideModel } from './files/output.ts';
import { type ContentOptions, planContent } from './plan/content.ts';
import type { Plan } from './plan/plan.ts';

/** What to package and where to. */
export interface PackageOptions extends ContentOptions {
  /** Path of the archive, usually `model.tar.gz`. Appears only when it is complete. */
  readonly out: string;
  /** gzip level, 0 (none) to 9. Default: {@link DEFAULT_LEVEL}. */
  readonly level?: number;
  /**
   * Called with the path of the complete archive before it appears under its name, or with that of an
   * unchanged one. Where it rejects, `out` stays as it was.
   */
  readonly check?: (archive: string) => Promise<void>;
}

/** A packaged model. */
export interface PackageResult {
  /** Absolute path of the archive. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256 of the archive, hex. */
  readonly sha256: string;
  /** Identity of model and handler together, see the manifest. */
  readonly fingerprint: string;
  readonly manifest: Manifest;
  /** True if the archive was already there, made from the same inputs, and was left as it was. */
  readonly unchanged: boolean;
}

/**
 * Packages models. The same inputs give the same bytes on the same Node version; where `out` was made from
 * the same inputs and is undamaged, it is left alone.
 * @throws PackagingError for every kind of bad input; nothing half-written is left behind
 */
export async function packageModel(options: PackageOptions): Promise<PackageResult> {
  const level = options.level ?? DEFAULT_LEVEL;
  if (!Number.isInteger(level) || level < 0 || level > 9) {
    throw new PackagingError(
      'BAD_OPTION',
      `${level} is no compression level. Use a whole number 0 to 9.`,
    );
  }
  requireArchiveName(options.out);
  const path = await outputFile(options.out);
  return planContent(options, async (plan) => {
    requireOutsideModel(plan.files, path);
    const key = archiveKey(plan, level);
    const existing = await readSealed(path, key);
    if (existing) await options.check?.(path);
    const { bytes, sha256 } = existing ?? (await pack(plan, path, { ...options, level, key }));
    const { manifest } = plan;
    const { fingerprint } = manifest;
    return { path, bytes, sha256, fingerprint, manifest, unchanged: existing !== undefined };
  });
}

/** Digest of all that decides the archive's bytes. */
function archiveKey({ files }: Plan, level: number): string {
  const hash = createHash('sha256').update(`level ${level} chunk ${CHUNK_SIZE}\n`);
  for (const { path, sha256 } of files) hash.update(`${path}\0${sha256}\n`);
  return hash.digest('hex');
}

async function pack(
  plan: Plan,
  path: string,
  options: PackageOptions & { level: number; key: string },
): Promise<{ bytes: number; sha256: string }> {
  const total = plan.files.reduce((sum, { size }) => sum + size, 0);
  let done = 0;
  const onBytes = (bytes: number) => {
    done = Math.min(total, done + bytes);
    options.onProgress?.({ step: 'pack', done, total });
  };
  const { level, key, signal, check } = options;
  return writeArchive(plan.files, path, { level, key, onBytes, signal, check });
}
