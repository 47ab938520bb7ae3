/**
 * The versions of one model that are managed now, and what is to be done next with them: those that are asked for are
 * loaded, the others unloaded once a wanted one serves (core/aspired_versions_manager.cc and
 * core/availability_preserving_policy.cc).
 */
import type { Servable, VersionDirectory } from '@sagemaker-tfs/libtensorflow/serving';

/** A version on its way from loading to unloading. */
interface ManagedVersion {
  readonly directory: VersionDirectory;
  stage: 'new' | 'loading' | 'ready' | 'unloading' | 'over';
  isAspired: boolean;
  /** There from when requests may run on it until they may not. */
  servable?: Servable;
  /** Ends the wait between two attempts to load. */
  readonly abandoned: AbortController;
}

/** What is to be done with a version. */
export interface Action {
  readonly kind: 'load' | 'unload';
  readonly model: ManagedModel;
  readonly version: ManagedVersion;
}

/** One model. */
export class ManagedModel {
  readonly name: string;
  #versions: ManagedVersion[] = [];
  /** Asked for last, and not taken note of yet. */
  #pending: readonly VersionDirectory[] | undefined;

  constructor(name: string) {
    this.name = name;
  }

  /** Whether nothing is left of it. */
  get isOver(): boolean {
    return this.#versions.length === 0 && this.#pending === undefined;
  }

  /** All versions, newest first. */
  get versions(): readonly ManagedVersion[] {
    return this.#versions;
  }

  /** Asks for these versions and no others. */
  aspire(directories: readonly VersionDirectory[]): void {
    this.#pending = directories;
  }

  /** The servable of one version, or of the newest that serves; undefined if there is none. */
  servable(version: bigint | undefined): Servable | undefined {
    return this.#versions.find(
      ({ directory, servable }) =>
        servable && (version === undefined || directory.version === version),
    )?.servable;
  }

  /**
   * Forgets what is over and takes note of what is asked for. That waits while a version that is to go is asked for
   * anew: it must be gone first.
   * @returns versions that are new
   */
  update(): ManagedVersion[] {
    this.#versions = this.#versions.filter(
      ({ stage, isAspired }) => isAspired || (stage !== 'new' && stage !== 'over'),
    );
    const pending = this.#pending;
    if (!pending) return [];
    const wanted = new Set(pending.map(({ version }) => version));
    const isBack = this.#versions.some(
      ({ directory, isAspired }) => !isAspired && wanted.has(directory.version),
    );
    if (isBack) return [];
    this.#pending = undefined;
    return this.#take(pending, wanted);
  }

  /** The next action: the lowest version that is not wanted is unloaded, or the highest new one loaded. */
  get next(): Action | undefined {
    const unwanted = this.#versions.filter(
      ({ stage, isAspired }) => stage === 'ready' && !isAspired,
    );
    const aspired = this.#versions.filter(({ isAspired }) => isAspired);
    const isReplaced = aspired.some(({ stage }) => stage === 'ready') || unwanted.length > 1;
    const oldest = unwanted.at(-1);
    if (oldest && (aspired.length === 0 || isReplaced)) {
      return { kind: 'unload', model: this, version: oldest };
    }
    const version = aspired.find(({ stage }) => stage === 'new');
    return version && { kind: 'load', model: this, version };
  }

  #take(pending: readonly VersionDirectory[], wanted: ReadonlySet<bigint>): ManagedVersion[] {
    for (const version of this.#versions) {
      if (wanted.has(version.directory.version)) continue;
      version.isAspired = false;
      version.abandoned.abort();
    }
    const known = new Set(this.#versions.map(({ directory }) => directory.version));
    const added = pending
      .filter(({ version }) => !known.has(version))
      .map((directory): ManagedVersion => {
        return { directory, stage: 'new', isAspired: true, abandoned: new AbortController() };
      });
    this.#versions = [...this.#versions, ...added].sort((a, b) =>
      a.directory.version < b.directory.version ? 1 : -1,
    );
    return added;
  }
}
