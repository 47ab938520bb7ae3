/**
 * A multi-model endpoint's process starts without models, which never fails, and then loads those of before: one
 * that no longer loads would end a process that starts with it (load_servables_fast.cc), and all others with it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ServingError } from '../errors.ts';
import type { ModelVersionStatus } from '../models/servable.ts';
import type { ServedModel } from '../models/served-model.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';
import type { UnaryChannel } from '../transport/grpc/unary-channel.ts';
import { reloadConfig } from './model-service.ts';
import { hadNoThread } from './unseen.ts';
import {
  type Deadline,
  deadlineIn,
  isSettled,
  untilStates,
  versionsOf,
  whileNoThread,
} from './version-states.ts';
import type { Instance } from './watched-instance.ts';

/** How models are loaded again. */
export interface RestoreOptions {
  /** What is to be served now. */
  readonly models: () => readonly ServedModel[];
  /** Takes models out of what is to be served. */
  readonly leaveOut: (names: readonly string[]) => Promise<void>;
  /** A model is not there: its requests get this. `isLate`: it is still loading. */
  readonly onLost: (name: string, error: ServingError, isLate: boolean) => void;
  /** One that was not there yet is. */
  readonly onRegained: (name: string) => void;
  /** Ends a process, which is started again. */
  readonly restart: (index: number) => void;
  /** For all loads together. */
  readonly deadlineMs: number;
}

/** Loads models again in processes that were restarted. */
export interface Restorer {
  /**
   * Resolves when the process can serve: with all models, but for those that cannot be loaded, or have not been after some
   * seconds. @throws ConnectionLost if it ended over it
   */
  restore(instance: Instance, index: number): Promise<void>;
  /** Whether a process that serves loads models of before. */
  readonly isBusy: boolean;
  /** Resolves when none does. */
  done(): Promise<void>;
}

/** For so long all requests wait for all models. */
const PATIENCE_MS = 5000;
const UNKNOWN = 'the model server has not said which models it has loaded again';
/** For the answer which of them are there. */
const ANSWER_MS = 10_000;
/** Between two looks at those that load. */
const LOOK_MS = 100;
/** As in a reload that is taken back: only then the same version can be asked for again. */
const NOTED_MS = 500;

/** What did not load, with the reason. */
interface Outcome {
  readonly failures: ReadonlyMap<string, string>;
  /** Whether it takes no other change: it still tries to load one. */
  readonly isStuck: boolean;
}

/** @returns what {@link Restorer} says */
export function restorer(options: RestoreOptions): Restorer {
  /** Processes that ended over it: what they load next is loaded one by one, to know which model it was. */
  const suspects = new Set<number>();
  const loading = new Set<Promise<void>>();
  return {
    async restore(instance, index) {
      const models = options.models();
      if (models.length === 0) return;
      const isSuspect = suspects.has(index);
      suspects.add(index);
      const outcome = isSuspect
        ? loadOneByOne(instance, models, options)
        : load(instance.channel, models, options.deadlineMs);
      const over = new AbortController();
      const late = await Promise.race([
        outcome.then(() => []),
        isSuspect ? never() : lateModels(instance.channel, models, over.signal),
      ]).finally(() => over.abort());
      const finished = outcome.then(async (reached) => {
        suspects.delete(index);
        await withoutFailures(instance, index, reached, options);
        for (const name of late) if (!reached.failures.has(name)) options.onRegained(name);
      });
      if (late.length === 0) return finished;
      for (const name of late) options.onLost(name, stillLoads(name), true);
      const quietly = finished
        .catch((error: unknown) => {
          // It is asked for its models anew, and those that are late are not waited for in vain.
          if (!(error instanceof ConnectionLost)) instance.readiness.lost(UNKNOWN);
        })
        .finally(() => loading.delete(quietly));
      loading.add(quietly);
    },
    get isBusy() {
      return loading.size > 0;
    },
    async done() {
      await Promise.all(loading);
    },
  };
}

/**
 * @throws ConnectionLost, and the last refusal if the process has had no thread until the deadline: it is tried again then,
 *   and no model is blamed
 */
async function load(
  channel: UnaryChannel,
  models: readonly ServedModel[],
  deadlineMs: number,
): Promise<Outcome> {
  const deadline = deadlineIn(deadlineMs);
  try {
    await whileNoThread(() => reloadConfig(channel, models, deadline), deadline);
    // It accepts one version of each model.
    const names = models.map(({ name }) => name);
    await untilStates(channel, names, deadline, isSettled);
    return { failures: new Map(), isStuck: false };
  } catch (error) {
    if (error instanceof ConnectionLost || hadNoThread(error)) throw error;
    const isStuck = deadline.signal.aborted;
    const unloaded = await statesOf(channel, models, deadlineIn(ANSWER_MS));
    const failures = new Map(
      [...unloaded]
        .filter(([, versions]) => !isThere(versions))
        .map(([name, versions]) => [name, reasonOf(versions, deadlineMs)]),
    );
    if (failures.size === 0) throw error;
    return { failures, isStuck };
  }
}

async function loadOneByOne(
  instance: Instance,
  models: readonly ServedModel[],
  options: RestoreOptions,
): Promise<Outcome> {
  const failures = new Map<string, string>();
  for (const [index, model] of models.entries()) {
    const soFar = models.slice(0, index + 1).filter(({ name }) => !failures.has(name));
    try {
      const outcome = await load(instance.channel, soFar, options.deadlineMs);
      for (const [name, reason] of outcome.failures) failures.set(name, reason);
      if (outcome.isStuck) return { failures, isStuck: true };
    } catch (error) {
      if (error instanceof ConnectionLost) {
        await lose(new Map([[model.name, 'the model server ends over it']]), options);
      }
      throw error;
    }
  }
  return { failures, isStuck: false };
}

async function lose(
  failures: ReadonlyMap<string, string>,
  { leaveOut, onLost }: RestoreOptions,
): Promise<void> {
  await leaveOut([...failures.keys()]);
  for (const [name, reason] of failures) onLost(name, isLost(name, reason), false);
}

async function withoutFailures(
  { channel }: Instance,
  index: number,
  { failures, isStuck }: Outcome,
  options: RestoreOptions,
): Promise<void> {
  if (failures.size === 0) return;
  await lose(failures, options);
  if (isStuck) return options.restart(index);
  const deadline = deadlineIn(options.deadlineMs);
  await whileNoThread(() => reloadConfig(channel, options.models(), deadline), deadline);
  await delay(NOTED_MS);
}

/** Names of those that are not there when others are, after a while. */
async function lateModels(
  channel: UnaryChannel,
  models: readonly ServedModel[],
  signal: AbortSignal,
): Promise<string[]> {
  await delay(PATIENCE_MS, undefined, { signal });
  const deadline = { signal, at: Number.POSITIVE_INFINITY };
  for (;;) {
    const states = await statesOf(channel, models, deadline);
    const late = [...states].filter(([, versions]) => !isThere(versions)).map(([name]) => name);
    if (late.length < models.length) return late;
    await delay(LOOK_MS, undefined, { signal });
  }
}

async function statesOf(
  channel: UnaryChannel,
  models: readonly ServedModel[],
  deadline: Deadline,
): Promise<Map<string, readonly ModelVersionStatus[]>> {
  const states = new Map<string, readonly ModelVersionStatus[]>();
  for (const { name } of models) states.set(name, await versionsOf(channel, name, deadline));
  return states;
}

function isThere(versions: readonly ModelVersionStatus[]): boolean {
  return versions.some(({ state }) => state === 'AVAILABLE');
}

function reasonOf(versions: readonly ModelVersionStatus[], deadlineMs: number): string {
  const broken = versions.find(({ errorMessage }) => errorMessage !== '');
  return (
    broken?.errorMessage ??
    `it has not loaded within ${deadlineMs / 1000} s (SAGEMAKER_TFS_WAIT_TIME_SECONDS)`
  );
}

function isLost(name: string, reason: string): ServingError {
  return new ServingError(
    'MODEL_NOT_READY',
    `the model server was restarted, and model ${name} cannot be loaded again: ${reason.replace(/\.$/, '')}. POST /models tries once more, DELETE /models/${name} drops it.`,
  );
}

function stillLoads(name: string): ServingError {
  return new ServingError(
    'MODEL_NOT_READY',
    `the model server was restarted, and model ${name} is being loaded again. Send the request again.`,
  );
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}
