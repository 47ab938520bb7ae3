/** Which version directories of a model are to be served. */

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidArgument, type VersionDirectory } from '@sagemaker-tfs/libtensorflow/serving';
import { log } from './log.ts';

/** TensorFlow Serving's ServableVersionPolicy (file_system_storage_path_source.proto). */
export type VersionPolicy =
  | { readonly kind: 'latest'; readonly count: number }
  | { readonly kind: 'all' }
  | { readonly kind: 'specific'; readonly versions: readonly bigint[] };

const INT64_LIMIT = 2n ** 63n;
/** What absl::SimpleAtoi reads: a sign and ASCII's white space around it are allowed. */
const VERSION = /^[ \t\n\v\f\r]*([+-]?)(\d+)[ \t\n\v\f\r]*$/;

/**
 * The version directories under `basePath`, newest first. Whether they are directories is not looked at: a file of
 * such a name fails to load (file_system_storage_path_source.cc).
 * @throws StatusError INVALID_ARGUMENT if there is no such directory
 */
export async function listVersions(basePath: string, model: string): Promise<VersionDirectory[]> {
  const names = await readdir(basePath).catch((error: Error) => {
    throw invalidArgument(
      `Could not find base path ${basePath} for servable ${model} with error ${error.message}`,
    );
  });
  const byVersion = new Map<bigint, VersionDirectory>();
  for (const name of names.sort()) {
    const version = versionOf(name);
    const path = join(basePath, name);
    if (version === undefined) continue;
    const other = byVersion.get(version);
    if (other) {
      log.warning(
        `Duplicate version directories detected. Version ${version} will be loaded from ${path}, ${other.path} will be ignored.`,
      );
    }
    byVersion.set(version, { version, path });
  }
  return [...byVersion.values()].sort((a, b) => (a.version < b.version ? 1 : -1));
}

function versionOf(name: string): bigint | undefined {
  const [, sign, digits] = VERSION.exec(name) ?? [];
  if (digits === undefined) return undefined;
  const version = sign === '-' ? -BigInt(digits) : BigInt(digits);
  return -INT64_LIMIT <= version && version < INT64_LIMIT ? version : undefined;
}

/** Of the directories found (newest first), those that the policy asks for. */
export function aspiredVersions(
  found: readonly VersionDirectory[],
  policy: VersionPolicy,
): VersionDirectory[] {
  switch (policy.kind) {
    case 'latest':
      return found.slice(0, policy.count);
    case 'all':
      return [...found];
    case 'specific':
      return found.filter(({ version }) => policy.versions.includes(version));
  }
}
