/** All models of the server: takes configurations, watches their directories, and finds servables. */

import { setTimeout as sleep } from 'node:timers/promises';
import {
  BatchThreads,
  failedPrecondition,
  invalidArgument,
  noLabel,
  noServable,
  noVersion,
  type Servable,
  StatusError,
  servableId,
  statusText,
  toStatusError,
  type VersionDirectory,
} from '@sagemaker-tfs/libtensorflow/serving';
import { Code, ModelVersionStatus_State as State } from '@sagemaker-tfs/tensors/protos';
import { isFailure, type LoadOptions, loadVersion } from './loading.ts';
import { log } from './log.ts';
import { type Action, ManagedModel } from './managed-model.ts';
import type { ModelConfig } from './model-config.ts';
import { ServingMap } from './serving-map.ts';
import { StateMonitor, unavailableText, type VersionStatus } from './state-monitor.ts';
import { aspiredVersions, listVersions } from './version-policy.ts';

/** Which servable a request means; neither version nor label is the newest available version. */
export interface ModelSpec {
  readonly name: string;
  readonly version?: bigint | undefined;
  readonly label?: string | undefined;
}

/** How the manager loads, retries and watches. */
interface ManagerOptions extends LoadOptions {
  /** Milliseconds between two looks for new versions; 0 looks once, below 0 never. */
  readonly pollMs: number;
  /** Versions that load at a time, others wait; 0 for one, while which nothing else is loaded or unloaded. */
  readonly loadThreads: number;
  /** The same of unloading. */
  readonly unloadThreads: number;
  readonly allowLabelsForUnavailable: boolean;
}

/** Between two actions (AspiredVersionsManager's manage_state_interval_micros). */
const TICK_MS = 100;
/** Timers of Node hold no more. */
const MAX_SLEEP_MS = 2 ** 31 - 1;

/** Runs work, so much of it at a time. */
type Limit = (work: () => Promise<void>) => Promise<void>;

/** 0 threads are the manager's own, which waits for each by itself. */
function limitOf(threads: number): Limit {
  const own = new BatchThreads(Math.max(1, threads));
  return (work) => own.run(work);
}

/** Owns the models. */
export class ModelManager {
  readonly #options: ManagerOptions;
  readonly #monitor = new StateMonitor();
  readonly #servingMap = new ServingMap();
  readonly #models = new Map<string, ManagedModel>();
  readonly #loading: Limit;
  readonly #unloading: Limit;
  #configs: readonly ModelConfig[] = [];
  #labels: ReadonlyMap<string, ReadonlyMap<string, bigint>> = new Map();
  #reloading: Promise<void> = Promise.resolve();
  /** The first models load side by side (core/load_servables_fast.cc), and here without the pauses. */
  #isStarting = true;

  constructor(options: ManagerOptions) {
    this.#options = options;
    this.#loading = limitOf(options.loadThreads);
    this.#unloading = limitOf(options.unloadThreads);
  }

  /**
   * Serves the first configuration: resolves once every model has an available version, waiting for models without
   * any version directory.
   * @throws StatusError UNKNOWN if one cannot be loaded, FAILED_PRECONDITION if a label points to a version that
   *   is not available
   */
  async start(configs: readonly ModelConfig[]): Promise<void> {
    this.#apply(configs, this.#checkedLabels(configs));
    const reached = this.#reached(configs);
    void this.#watch();
    void this.#manage();
    const settled = await reached;
    if (settled.some(({ state }) => state !== State.AVAILABLE)) {
      throw new StatusError(Code.UNKNOWN, unavailableText('servable', settled));
    }
    this.#isStarting = false;
    log.info('Finished adding/updating models');
  }

  /**
   * Replaces the configuration: removed models unload, new ones load when they are next looked for. Resolves once
   * every new model has a version that is available or at its end, the end of an older one with its name included;
   * never if there is none. Concurrent calls are served in order.
   * @param read the configuration; called when it is its turn (server_core.cc locks before it looks)
   * @throws StatusError if the configuration is bad (nothing has changed then), or UNKNOWN if a new
   *   model failed to load
   */
  reload(read: () => readonly ModelConfig[]): Promise<void> {
    const done = this.#reloading.then(() => this.#reload(read()));
    this.#reloading = done.catch(() => undefined);
    return done;
  }

  async #reload(configs: readonly ModelConfig[]): Promise<void> {
    const known = new Set(this.#configs.map(({ name }) => name));
    const added = configs.filter(({ name }) => !known.has(name));
    const labels = this.#checkedLabels(configs);
    const reached = this.#reached(added);
    this.#apply(configs, labels);
    const settled = await reached;
    if (settled.some(({ state }) => state !== State.AVAILABLE)) {
      throw new StatusError(Code.UNKNOWN, unavailableText('model', settled));
    }
    log.info('Finished adding/updating models');
  }

  /** Runs `work` on the servable of a spec, which stays loaded meanwhile. @throws StatusError NOT_FOUND */
  async use<T>(spec: ModelSpec, work: (servable: Servable) => Promise<T>): Promise<T> {
    if (spec.name === '') throw invalidArgument('ModelSpec has no name specified.');
    const version = this.#versionOf(spec);
    const servable = this.#models.get(spec.name)?.servable(version);
    if (!servable) throw noServable(spec.name, version);
    return this.#servingMap.use(() => servable.use(work));
  }

  /**
   * States of a model's versions, newest first; of one where the spec names it. Labels do not count
   * (get_model_status_impl.cc).
   * @throws StatusError NOT_FOUND
   */
  statuses({ name, version }: ModelSpec): VersionStatus[] {
    const statuses = this.#monitor.statuses(name);
    if (version !== undefined) {
      const found = statuses.filter((status) => status.version === version);
      if (found.length > 0) return found;
      throw noVersion(name, version);
    }
    if (statuses.length > 0) return statuses;
    throw noVersion(name);
  }

  #versionOf({ name, version, label }: ModelSpec): bigint | undefined {
    if (version !== undefined || label === undefined) return version;
    const labeled = this.#labels.get(name)?.get(label);
    if (labeled === undefined) throw noLabel(label);
    return labeled;
  }

  /** The labels of a configuration. @throws StatusError FAILED_PRECONDITION for versions not available */
  #checkedLabels(configs: readonly ModelConfig[]): Map<string, ReadonlyMap<string, bigint>> {
    for (const { name, labels } of configs) {
      for (const [label, version] of labels) {
        const assigned = this.#labels.get(name)?.get(label);
        const mayWait =
          this.#options.allowLabelsForUnavailable && (assigned ?? version) === version;
        if (mayWait || this.#monitor.isAvailable(name, version)) continue;
        throw failedPrecondition(
          `Request to assign label to version ${version} of model ${name}, which is not currently available for inference`,
        );
      }
    }
    return new Map(configs.map(({ name, labels }) => [name, labels]));
  }

  #apply(
    configs: readonly ModelConfig[],
    labels: ReadonlyMap<string, ReadonlyMap<string, bigint>>,
  ): void {
    log.info('Adding/updating models.');
    for (const { name } of configs) log.info(` (Re-)adding model: ${name}`);
    this.#labels = labels;
    const names = new Set(configs.map(({ name }) => name));
    for (const { name } of this.#configs) if (!names.has(name)) this.#aspire(name, []);
    this.#configs = configs;
  }

  #reached(configs: readonly ModelConfig[]) {
    return this.#monitor.reached(configs.map(({ name }) => name));
  }

  #aspire(name: string, directories: readonly VersionDirectory[]): void {
    const model = this.#models.get(name) ?? new ManagedModel(name);
    this.#models.set(name, model);
    model.aspire(directories);
  }

  async #watch(): Promise<void> {
    const { pollMs } = this.#options;
    if (pollMs >= 0) await this.#poll();
    while (pollMs > 0) {
      await sleep(Math.min(pollMs, MAX_SLEEP_MS));
      await this.#poll();
    }
  }

  /** One look at every model's directory: all of them, or none where one cannot be read. */
  async #poll(): Promise<void> {
    const configs = this.#configs;
    try {
      const found = await Promise.all(
        configs.map(({ name, basePath }) => listVersions(basePath, name)),
      );
      // Meanwhile the configuration may have changed; the next look is at the new one.
      if (configs !== this.#configs) return;
      for (const [index, config] of configs.entries()) {
        const directories = found[index] ?? [];
        this.#aspire(config.name, aspiredVersions(directories, config.versionPolicy));
        warnOfMissing(config, directories);
      }
    } catch (error) {
      log.error(
        `FileSystemStoragePathSource encountered a filesystem access error: ${(error as Error).message}`,
      );
    }
  }

  /** One action after the other: the manager's thread. */
  async #manage(): Promise<void> {
    for (;;) {
      await sleep(this.#isStarting ? 1 : TICK_MS);
      await this.#servingMap.settled();
      await this.#tick();
    }
  }

  async #tick(): Promise<void> {
    for (const model of this.#models.values()) {
      for (const { directory } of model.update()) this.#set(model, directory, State.START);
      if (model.isOver) this.#models.delete(model.name);
    }
    const actions = [...this.#models.values()].flatMap(({ next }) => next ?? []);
    const action = actions.find(({ kind }) => kind === 'unload') ?? actions[0];
    if (action) await this.#perform(action);
  }

  /** In a thread of its own, or in the manager's, which does nothing else then. */
  async #perform({ kind, model, version }: Action): Promise<void> {
    const { loadThreads, unloadThreads } = this.#options;
    version.stage = kind === 'load' ? 'loading' : 'unloading';
    const work = () =>
      (kind === 'load' ? this.#load(model, version) : this.#unload(model, version)).catch((error) =>
        log.error(statusText(toStatusError(error))),
      );
    // The first models load in threads of their own; there are more threads than models.
    if (this.#isStarting) return void work();
    const done = (kind === 'load' ? this.#loading : this.#unloading)(work);
    if ((kind === 'load' ? loadThreads : unloadThreads) === 0) await done;
  }

  async #load(model: ManagedModel, version: Action['version']): Promise<void> {
    const { directory, abandoned } = version;
    this.#set(model, directory, State.LOADING);
    const result = await loadVersion(model.name, directory, this.#options, abandoned.signal);
    if (isFailure(result)) {
      version.stage = 'over';
      this.#set(model, directory, State.END, result);
      return;
    }
    await this.#servingMap.update(() => {
      version.servable = result;
    });
    version.stage = 'ready';
    this.#set(model, directory, State.AVAILABLE);
  }

  async #unload(model: ManagedModel, version: Action['version']): Promise<void> {
    const { directory, servable } = version;
    const id = servableId(model.name, directory.version);
    log.info(`Quiescing servable version ${id}`);
    this.#set(model, directory, State.UNLOADING);
    await this.#servingMap.update(() => {
      delete version.servable;
    });
    await servable?.unload();
    log.info(`Done unloading servable version ${id}`);
    version.stage = 'over';
    this.#set(model, directory, State.END);
  }

  #set(model: ManagedModel, { version }: VersionDirectory, state: State, error?: StatusError) {
    this.#monitor.set(model.name, { version, state, error });
  }
}

function warnOfMissing(
  { name, basePath, versionPolicy }: ModelConfig,
  found: readonly VersionDirectory[],
): void {
  if (versionPolicy.kind === 'specific') {
    for (const version of versionPolicy.versions) {
      if (found.some((directory) => directory.version === version)) continue;
      log.warning(
        `Version ${version} of servable ${name}, which was requested to be served as a 'specific' version in the servable's version policy, was not found in the file system`,
      );
    }
  }
  if (found.length === 0) {
    log.warning(
      `No versions of servable ${name} found under base path ${basePath}. Did you forget to name your leaf directory as a number (eg. '/1/')?`,
    );
  }
}
