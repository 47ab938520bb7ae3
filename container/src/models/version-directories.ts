/** Where the versions of a discovered model lie. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { VersionDirectory } from '@sagemaker-tfs/libtensorflow/serving';
import { versionOf } from '@sagemaker-tfs/manifest/version';
import type { ServedModel } from './served-model.ts';

/** The directories of a model's versions, newest first. Of two names of one version (`1`, `01`) the later counts. */
export async function versionDirectories({
  basePath,
  versions,
}: Pick<ServedModel, 'basePath' | 'versions'>): Promise<VersionDirectory[]> {
  const byVersion = new Map<string, VersionDirectory>();
  for (const name of (await readdir(basePath)).sort()) {
    const version = versionOf(name);
    if (version !== undefined) byVersion.set(`${version}`, { version, path: join(basePath, name) });
  }
  return versions
    .flatMap((version) => byVersion.get(version) ?? [])
    .sort((a, b) => (a.version < b.version ? 1 : -1));
}
