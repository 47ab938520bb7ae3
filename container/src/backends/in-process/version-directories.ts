/** Where the versions of a discovered model lie. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { VersionDirectory } from '@sagemaker-tfs/libtensorflow/serving';
import type { ServedModel } from '../../models/served-model.ts';

/** The directories of a model's versions, newest first; a directory's name may have leading zeros. */
export async function versionDirectories(model: ServedModel): Promise<VersionDirectory[]> {
  const byVersion = new Map<string, VersionDirectory>();
  for (const name of (await readdir(model.basePath))
    .filter((entry) => /^\d+$/.test(entry))
    .sort()) {
    const version = BigInt(name);
    byVersion.set(version.toString(), { version, path: join(model.basePath, name) });
  }
  return model.versions
    .flatMap((version) => byVersion.get(version) ?? [])
    .sort((a, b) => (a.version < b.version ? 1 : -1));
}
