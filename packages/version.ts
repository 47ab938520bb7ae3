/** What a release changes in the repository's files, as functions of their texts. */

const VERSION = /^(\d+)\.(\d+)\.(\d+)$/;

/** @throws Error where `next` is no version, or none after `current` */
export function requireLater(next: string, current: string): void {
  const [a, b] = [next, current].map((version) => VERSION.exec(version)?.slice(1).map(Number));
  if (!a || !b) throw new Error(`${next} is no version; give one like 1.2.3`);
  const at = a.findIndex((part, i) => part !== b[i]);
  if (at >= 0 && (a[at] as number) > (b[at] as number)) return;
  throw new Error(`${next} is not after ${current}`);
}

/** Changes since the last release get their own heading. @param date YYYY-MM-DD @throws Error where there are none */
export function releasedChangelog(text: string, version: string, date: string): string {
  const heading = '## [Unreleased]\n';
  const [before, after, ...rest] = text.split(heading);
  if (before === undefined || after === undefined || rest.length > 0) {
    throw new Error(`CHANGELOG.md needs one ${heading.trim()}`);
  }
  const [changes = ''] = after.split(/^## /m);
  if (!/^- /m.test(changes)) throw new Error('CHANGELOG.md has no unreleased changes');
  return `${before}${heading}\n## [${version}] - ${date}\n${after}`;
}

type Fields = Record<string, unknown>;

const DEPENDENCIES = ['dependencies', 'devDependencies', 'peerDependencies'];

/** A package of this repository at another version; what it needs of this repository has that version too. */
export function versioned<T extends Fields>(manifest: T, version: string): T {
  const changed: Fields = { ...manifest, version };
  for (const field of DEPENDENCIES) {
    const all = manifest[field];
    if (all === undefined) continue;
    changed[field] = Object.fromEntries(
      Object.entries(all as Fields).map(([name, range]) => [name, isOurs(name) ? version : range]),
    );
  }
  return changed as T;
}

const isOurs = (name: string) => name === 'sagemaker-tfs' || name.startsWith('@sagemaker-tfs/');

/** The lockfile with the repository's own packages at another version. @param rooms folders of the workspaces */
export function versionedLock(lock: Fields, rooms: readonly string[], version: string): Fields {
  const packages = lock.packages as Record<string, Fields>;
  const changed = Object.entries(packages).map(([path, entry]) => [
    path,
    path === '' || rooms.includes(path) ? versioned(entry, version) : entry,
  ]);
  return { ...lock, version, packages: Object.fromEntries(changed) };
}

/** The Python client's pyproject.toml at another version. @throws Error where it names none */
export function versionedPyproject(text: string, version: string): string {
  const line = /^version = ".*"$/m;
  if (!line.test(text)) throw new Error('client-python/pyproject.toml names no version');
  return text.replace(line, `version = "${version}"`);
}

/** A page that installs the tarballs of one version, with those of another. */
export function versionedPage(text: string, from: string, to: string): string {
  const tarball = new RegExp(
    `\\b(sagemaker-tfs(?:-cdk)?)-${from.replaceAll('.', '\\.')}\\.tgz\\b`,
    'g',
  );
  return text.replace(tarball, `$1-${to}.tgz`);
}

/** `repository` of a package. */
export interface Repository {
  readonly type: 'git';
  readonly url: string;
}

/**
 * Where the sources are: as given, or as an earlier release wrote it down.
 * @param known the field of package.json
 * @throws Error where neither tells: npm publishes with provenance only from the repository that the package names
 */
export function repositoryOf(known: unknown, given: string | undefined): Repository {
  const url = given ?? (known as Partial<Repository> | undefined)?.url;
  if (url === undefined) {
    throw new Error(
      'package.json names no repository. Give it once: --repository git+https://github.com/OWNER/NAME.git',
    );
  }
  if (/^git\+https:\/\/[^/\s]+\/\S+\.git$/.test(url)) return { type: 'git', url };
  throw new Error(`${url} is no address like git+https://github.com/OWNER/NAME.git`);
}
