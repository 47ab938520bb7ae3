/** All models in this process. */
import { availableParallelism } from 'node:os';
import {
  noServable,
  noVersion,
  type Servable,
  StatusError,
} from '@sagemaker-tfs/libtensorflow/serving';
import { Code } from '@sagemaker-tfs/tensors/protos';
import pLimit from 'p-limit';
import type { ModelSelector, ModelVersionStatus } from '../../models/servable.ts';
import type { ServedModel } from '../../models/served-model.ts';
import { versionDirectories } from '../../models/version-directories.ts';
import { inTime } from '../../waiting/in-time.ts';
import { LoadedModel, type LoadVersion } from './loaded-model.ts';

/** Loads and unloads models, and finds those that answer. */
export class ModelStore {
  readonly #load: LoadVersion;
  readonly #models = new Map<string, LoadedModel>();

  constructor(load: LoadVersion) {
    const limit = pLimit(availableParallelism());
    this.#load = (name, directory) => limit(load, name, directory);
  }

  /**
   * Serves exactly these models: unloads others after their requests in flight, loads new ones, and takes
   * over the labels of those that stay. Resolves when the new ones are loaded.
   * @param deadlineMs for each to load; it is unloaded whenever it is loaded after that. Default: no deadline
   * @throws StatusError if one does not load, with its name and TensorFlow's message; it is then gone
   */
  async serve(models: readonly ServedModel[], deadlineMs?: number): Promise<void> {
    const names = new Set(models.map(({ name }) => name));
    const others = [...this.#models].filter(([name]) => !names.has(name));
    await Promise.all(others.map(([name, model]) => this.#remove(name, model)));
    await Promise.all(models.map((served) => this.#keep(served, deadlineMs)));
  }

  /** @throws StatusError NOT_FOUND */
  servable(selector: ModelSelector): Servable {
    const model = this.#models.get(selector.name);
    if (model) return model.servable(selector);
    throw noServable(selector.name, selector.version);
  }

  /** @throws StatusError NOT_FOUND */
  statuses(selector: ModelSelector): ModelVersionStatus[] {
    const model = this.#models.get(selector.name);
    if (model) return model.statuses(selector);
    throw noVersion(selector.name);
  }

  /** The first version that is not available, as a sentence; undefined if all are. */
  get missing(): string | undefined {
    for (const [name, model] of this.#models) {
      const waiting = model.statuses({ name }).find(({ state }) => state !== 'AVAILABLE');
      if (waiting) return `model "${name}" version ${waiting.version} is ${waiting.state}`;
    }
    return undefined;
  }

  async #keep(served: ServedModel, deadlineMs: number | undefined): Promise<void> {
    const known = this.#models.get(served.name);
    if (known) {
      known.served = served;
      return known.loaded;
    }
    const model = new LoadedModel(served, await versionDirectories(served), this.#load);
    this.#models.set(served.name, model);
    try {
      if (deadlineMs === undefined) await model.loaded;
      else await inTime(model.loaded, deadlineMs, () => tooLate(served.name, deadlineMs));
    } catch (error) {
      const removed = this.#remove(served.name, model);
      // TensorFlow cannot be stopped, and others do not wait for it.
      if (isLate(error)) removed.catch(() => undefined);
      else await removed;
      throw error;
    }
  }

  async #remove(name: string, model: LoadedModel): Promise<void> {
    if (this.#models.get(name) === model) this.#models.delete(name);
    await model.unload();
  }
}

function tooLate(name: string, deadlineMs: number): StatusError {
  return new StatusError(
    Code.DEADLINE_EXCEEDED,
    `model "${name}" is not loaded after ${deadlineMs / 1000} s (SAGEMAKER_TFS_WAIT_TIME_SECONDS)`,
  );
}

function isLate(error: unknown): boolean {
  return error instanceof StatusError && error.code === Code.DEADLINE_EXCEEDED;
}
