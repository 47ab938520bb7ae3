/** The models of a multi-model endpoint: loaded and unloaded by request, in one model server. */
import { sentence } from '@sagemaker-tfs/manifest/sentence';
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import pLimit from 'p-limit';
import type { Archive } from '../archive/archive.ts';
import { ServingError } from '../errors.ts';
import { NothingChanged } from '../model-server/nothing-changed.ts';
import type { ServedModel } from '../models/served-model.ts';
import { turnsByName } from '../waiting/turns-by-name.ts';
import { HeldNames } from './held-names.ts';
import { refusalOf, shortageOf } from './load-failure.ts';
import { availableBytes } from './memory.ts';
import { checkModelName } from './model-location.ts';
import { type LoadedModel, type PrepareOptions, prepareModel } from './prepare-model.ts';

/** What a model is loaded from. */
export interface ModelSource {
  readonly name: string;
  /** As the load request had it. */
  readonly url: string;
}

/** A model that was loaded before this process or the model server was started again, and is not yet again. */
interface LostModel {
  readonly url: string;
  /** Its requests get this. */
  readonly error: unknown;
  /** Set if this process had loaded it. */
  readonly model?: LoadedModel;
  /** The model server is still loading it. */
  readonly isLate?: boolean;
}

/** What the table works with. */
interface ModelTableOptions extends PrepareOptions {
  /**
   * Makes the model server serve exactly these and unloads all others. If one does not load, it serves the same as before.
   * @param models called when the change begins: the restart of a process may delay it, and models are lost or regained
   *   meanwhile
   * @throws StatusError, ConnectionLost, ServingError
   */
  readonly serve: (models: () => readonly ServedModel[]) => Promise<void>;
  /** Called when a model is no longer what it was. */
  readonly onChange: (name: string) => void;
  /** Called when a model can be invoked; where it fails, this is logged. */
  readonly onLoad?: (name: string) => Promise<void>;
}

/**
 * Loads, lists and unloads. Requests for one name are done one after another; those for other names wait only while
 * the model server itself is changed, not for a handler that loads or for requests that end.
 */
export class ModelTable {
  readonly #options: ModelTableOptions;
  readonly #models = new Map<string, LoadedModel>();
  /** Served until their last requests have ended, and invoked no more. */
  readonly #leaving = new Map<string, LoadedModel>();
  readonly #lost = new Map<string, LostModel>();
  readonly #held = new HeldNames();
  readonly #inTurnOf = turnsByName();
  readonly #change = pLimit(1);

  constructor(options: ModelTableOptions) {
    this.#options = options;
  }

  /** Loaded models, by name. */
  get models(): readonly LoadedModel[] {
    return sortedByName(this.#models.values());
  }

  /** What is loaded, and what was before this process. */
  get sources(): readonly ModelSource[] {
    const loaded = [...this.#models.values()].map(({ served, url }) => ({
      name: served.name,
      url,
    }));
    return [...loaded, ...[...this.#lost].map(([name, { url }]) => ({ name, url }))];
  }

  /**
   * Begins to load again what was loaded before this process. Requests are refused meanwhile; where one does not load any
   * more, with its reason, until it is loaded or unloaded.
   */
  restore(models: readonly ModelSource[]): void {
    for (const { name, url } of models) this.#lost.set(name, { url, error: loadsAgain(name) });
    for (const { name, url } of models) {
      this.load(name, url).catch((error: unknown) => {
        this.#options.log.error({ model: name, err: error }, 'a model could not be loaded again');
        if (this.#lost.has(name)) this.#lost.set(name, { url, error: notAgain(name, error) });
      });
    }
  }

  /**
   * The model server no longer has a model: its requests get the error until it is regained, loaded or unloaded.
   * @param isLate the model server is still loading it
   */
  lose(name: string, error: ServingError, isLate: boolean): void {
    const model = this.#models.get(name) ?? this.#lost.get(name)?.model;
    if (!model) return;
    this.#models.delete(name);
    this.#lost.set(name, { url: model.url, error, model, isLate });
    this.#options.onChange(name);
  }

  /** The model server has a model again. */
  regain(name: string): void {
    const model = this.#lost.get(name)?.model;
    if (!model) return;
    this.#lost.delete(name);
    this.#models.set(name, model);
    this.#options.onChange(name);
  }

  /** @throws ServingError MODEL_NOT_FOUND, or why a model that was loaded before this process is not yet again */
  get(name: string): LoadedModel {
    const model = this.#models.get(name);
    if (model) return model;
    const lost = this.#lost.get(name);
    if (lost) throw lost.error;
    throw new ServingError(
      'MODEL_NOT_FOUND',
      `Model ${name} is not loaded yet. POST /models loads it.`,
    );
  }

  /** The archive of a loaded model, which counts as used by this. @throws ServingError as {@link get} does */
  use(name: string): Archive {
    const model = this.get(name);
    model.lastUsed = Date.now();
    return model.archive;
  }

  /**
   * Counts a request in: the model that is loaded now stays so until the function that is returned is called, whether
   * or not it is unloaded meanwhile.
   */
  hold(name: string): () => void {
    return this.#models.has(name) ? this.#held.hold(name) : () => undefined;
  }

  /**
   * Loads a model; resolves when it can be invoked.
   * @throws ServingError MODEL_ALREADY_LOADED, MODEL_NOT_FOUND without a valid version, OUT_OF_RESOURCES,
   *   BAD_REQUEST for a name or url that is not allowed, BAD_ARCHIVE for files or a manifest that cannot be used,
   *   HANDLER_FAILED for a handler that cannot be loaded
   */
  load(name: string, url: string): Promise<LoadedModel> {
    checkModelName(name);
    return this.#inTurnOf(name, async () => {
      if (this.#models.has(name)) {
        throw new ServingError('MODEL_ALREADY_LOADED', `Model ${name} is already loaded.`);
      }
      const { model, bytes } = await prepareModel(name, url, this.#options);
      await this.#change(async () => {
        await this.#checkMemory(name, bytes);
        await this.#serve(model.served);
        model.lastUsed = Date.now();
        this.#models.set(name, model);
        this.#lost.delete(name);
      });
      const { onChange, onLoad, log } = this.#options;
      onChange(name);
      onLoad?.(name).catch((err: unknown) => log.debug({ err }, `after the load of ${name}`));
      return model;
    });
  }

  /**
   * Unloads a model; what is in flight finishes first, on the version that it began on. Resolves when its memory is
   * free.
   * @throws ServingError MODEL_NOT_FOUND, REQUEST_TIMEOUT where requests in flight keep it, NothingChanged if it is still
   *   loaded
   */
  unload(name: string): Promise<void> {
    return this.#inTurnOf(name, async () => {
      const putBack = this.#take(name);
      if (putBack) {
        await this.#held.whenFree(name);
        await this.#change(async () => {
          this.#leaving.delete(name);
          await this.#options
            .serve(() => this.#served())
            .catch((error: unknown) => {
              if (error instanceof NothingChanged) putBack();
              throw error;
            });
        });
      }
      this.#options.onChange(name);
    });
  }

  /** Makes a model one that is invoked no more. @returns what undoes it; undefined if the model server has it no more */
  #take(name: string): (() => void) | undefined {
    const lost = this.#lost.get(name);
    if (lost) {
      this.#lost.delete(name);
      return lost.isLate ? () => this.#lost.set(name, lost) : undefined;
    }
    const model = this.get(name);
    this.#leaving.set(name, model);
    this.#models.delete(name);
    return () => this.#models.set(name, model);
  }

  #served(): ServedModel[] {
    const models = [...this.#models.values(), ...this.#leaving.values()];
    return sortedByName(models).map(({ served }) => served);
  }

  /** Adds a model to what is served, or leaves everything as it was. */
  async #serve(model: ServedModel): Promise<void> {
    try {
      // One of this name may have been regained.
      const others = () => this.#served().filter(({ name }) => name !== model.name);
      await this.#options.serve(() => [...others(), model]);
    } catch (error) {
      const shortage = shortageOf(error, model.name);
      if (shortage !== undefined) {
        throw this.#exhausted(shortage, { cause: error });
      }
      throw error instanceof StatusError ? refusalOf(error) : error;
    }
  }

  async #checkMemory(name: string, needed: number): Promise<void> {
    const available = await availableBytes();
    if (needed <= available) return;
    throw this.#exhausted(
      `model "${name}" needs about ${megabytes(needed)} MB of memory and ${megabytes(available)} MB are left`,
    );
  }

  /** Begins as the text of AWS's Python container does, which clients look for. */
  #exhausted(what: string, options?: ErrorOptions): ServingError {
    const message = `Memory exhausted: ${what}. ${this.#hint()}`;
    return new ServingError('OUT_OF_RESOURCES', message, options);
  }

  /** Which models could go first. */
  #hint(): string {
    const oldest = [...this.models].sort((a, b) => a.lastUsed - b.lastUsed).slice(0, 3);
    if (oldest.length === 0) return 'No other model is loaded: take a larger instance.';
    const names = oldest.map(({ served, lastUsed }) => {
      const seconds = Math.round((Date.now() - lastUsed) / 1000);
      return `"${served.name}" (${seconds} s ago)`;
    });
    return `Least recently used: ${names.join(', ')}. DELETE /models/<name> unloads one.`;
  }
}

function loadsAgain(name: string): ServingError {
  return new ServingError(
    'MODEL_NOT_READY',
    `the process that had loaded model ${name} has ended, and it is being loaded again. Send the request again.`,
  );
}

/** Requests get a 5xx: the load failed, not the request. A model whose files have gone is not found. */
function notAgain(name: string, cause: unknown): unknown {
  if (!(cause instanceof ServingError) || cause.status >= 500 || cause.code === 'MODEL_NOT_FOUND') {
    return cause;
  }
  return new ServingError(
    'MODEL_NOT_READY',
    `the process that had loaded model ${name} has ended, and it cannot be loaded again: ${sentence(cause.message)} POST /models tries once more, DELETE /models/${name} drops it.`,
    { cause },
  );
}

function sortedByName(models: Iterable<LoadedModel>): LoadedModel[] {
  return [...models].sort((a, b) => (a.served.name < b.served.name ? -1 : 1));
}

function megabytes(bytes: number): number {
  return Math.ceil(bytes / 2 ** 20);
}
