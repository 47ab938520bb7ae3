/** One model in this process: its versions, each with its state. */
import {
  noLabel,
  noServable,
  noVersion,
  type Servable,
  StatusError,
  toStatusError,
  type VersionDirectory,
} from '@sagemaker-tfs/libtensorflow/serving';
import type {
  ModelSelector,
  ModelVersionState,
  ModelVersionStatus,
} from '../../models/servable.ts';
import type { ServedModel } from '../../models/served-model.ts';

/** Loads one version; waits where too many load already. */
export type LoadVersion = (name: string, directory: VersionDirectory) => Promise<Servable>;

interface Version {
  readonly version: string;
  state: ModelVersionState;
  error: StatusError | undefined;
  servable: Servable | undefined;
}

/** Loads all versions of a model at once, and unloads them together. */
export class LoadedModel {
  /** As it is to be served now; its labels can change while it is loaded. */
  served: ServedModel;
  /** Newest first. */
  readonly #versions: readonly Version[];
  /** Settles when every version is loaded or has failed; rejects with the first failure. */
  readonly loaded: Promise<void>;

  constructor(served: ServedModel, directories: readonly VersionDirectory[], load: LoadVersion) {
    this.served = served;
    this.#versions = directories.map(({ version }) => ({
      version: version.toString(),
      state: 'LOADING',
      error: undefined,
      servable: undefined,
    }));
    this.loaded = this.#load(directories, load);
  }

  /** States, newest first; of one version where the selector names it. @throws StatusError NOT_FOUND */
  statuses(selector: ModelSelector): ModelVersionStatus[] {
    const wanted = this.#versionOf(selector);
    const found = this.#versions.filter(
      ({ version }) => wanted === undefined || version === wanted,
    );
    if (found.length === 0) throw noVersion(this.served.name, wanted);
    return found.map(({ version, state, error }) => ({
      version,
      state,
      errorMessage: error?.message ?? '',
    }));
  }

  /** What answers for a selector. @throws StatusError NOT_FOUND, with TensorFlow Serving's texts */
  servable(selector: ModelSelector): Servable {
    const wanted = this.#versionOf(selector);
    const found = this.#versions.find(
      ({ version, servable }) => servable && (wanted === undefined || version === wanted),
    )?.servable;
    if (found) return found;
    throw noServable(this.served.name, wanted);
  }

  /** Waits for the loading and for the requests in flight, then frees the memory. */
  async unload(): Promise<void> {
    await this.loaded.catch(() => undefined);
    await Promise.all(
      this.#versions.map(async (version) => {
        const { servable } = version;
        version.servable = undefined;
        version.state = 'UNLOADING';
        await servable?.unload();
        version.state = 'END';
      }),
    );
  }

  async #load(directories: readonly VersionDirectory[], load: LoadVersion): Promise<void> {
    const loading = this.#versions.map(async (version, index) => {
      try {
        version.servable = await load(this.served.name, directories[index] as VersionDirectory);
        version.state = 'AVAILABLE';
      } catch (error) {
        version.error = toStatusError(error);
        version.state = 'END';
      }
    });
    await Promise.all(loading);
    const broken = this.#versions.find(({ error }) => error);
    if (broken?.error) throw failedToLoad(this.served.name, broken.version, broken.error);
  }

  #versionOf({ version, label }: ModelSelector): string | undefined {
    if (version !== undefined || label === undefined) return version;
    const { labels = {} } = this.served;
    if (Object.hasOwn(labels, label)) return labels[label];
    throw noLabel(label);
  }
}

function failedToLoad(name: string, version: string, cause: StatusError): StatusError {
  return new StatusError(cause.code, `model "${name}" version ${version}: ${cause.message}`, {
    cause,
  });
}
