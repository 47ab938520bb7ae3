/** The table of TensorFlow Serving's releases, `container/image/tensorflow-serving.json`. */
import table from '../../image/tensorflow-serving.json' with { type: 'json' };

/** A row: what holds for its versions, and for later ones up to the next row. */
export interface Release {
  readonly versions: readonly string[];
  readonly base: string;
  readonly cuda: string;
  /** Flags that it does not know. */
  readonly lacks: readonly string[];
  /** Whether the runtime starts in its image. */
  readonly runs: boolean;
}

/** Oldest first. */
export const RELEASES: readonly Release[] = table.releases;

/** The image that is built on by default. */
export const DEFAULT_BASE = `${table.image}:${table.default}`;

/** What is known of it. */
export const DEFAULT_RELEASE = releaseOf(table.default);

/** @param version `2.19` or longer; one older than the table is as its first row */
export function releaseOf(version: string): Release {
  const rows = RELEASES.filter(({ versions }) => orderOf(versions[0] ?? '') <= orderOf(version));
  return (rows.at(-1) ?? RELEASES[0]) as Release;
}

/** The release that an image is of, by its tag; undefined for other tags, such as those of a mirror's own. */
export function releaseOfImage(image: string): Release | undefined {
  const [, version] =
    /serving[^/]*:(\d+\.\d+)(?:\.\d+)?(?:-(?:gpu|devel|devel-gpu))?$/.exec(image) ?? [];
  return version === undefined ? undefined : releaseOf(version);
}

function orderOf(version: string): number {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return 1000 * major + minor;
}
