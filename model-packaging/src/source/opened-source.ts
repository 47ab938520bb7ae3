/** What every kind of source becomes. */

/** A source as a directory. */
export interface OpenedSource {
  readonly directory: string;
  /** What to call the directory: the source's own name, whatever folder it was unpacked to. */
  readonly name: string;
  /** Whether the directory is of an archive: its paths are then no sources. Default: false. */
  readonly isUnpacked?: boolean;
}
