/**
 * Changes what every process of TensorFlow Serving serves, and comes back only when that is so: TensorFlow Serving
 * itself answers a reload before the removed models are unloaded, and fails or waits for ever where one of them is
 * wanted again meanwhile (server_core.cc, aspired_versions_manager.cc).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { ServingError } from '../errors.ts';
import type { ModelVersionState } from '../models/servable.ts';
import type { ServedModel } from '../models/served-model.ts';
import { ConnectionLost } from '../transport/connection-lost.ts';
import type { InstancePool } from './instance-pool.ts';
import { reloadConfig } from './model-service.ts';
import { NothingChanged } from './nothing-changed.ts';
import { hadNoThread } from './unseen.ts';
import { deadlineIn, isSettled, untilStates, whileNoThread } from './version-states.ts';
import type { Instance } from './watched-instance.ts';

/** What a change needs. */
interface ReloadOptions {
  readonly pool: InstancePool;
  /** What is served until now. */
  readonly before: readonly ServedModel[];
  readonly models: readonly ServedModel[];
  /** Makes processes that start from now on serve these. */
  readonly want: (models: readonly ServedModel[]) => void;
  /** Ends a process, which is started again and then serves what is wanted. */
  readonly restart: (index: number) => void;
  /** For the reload of one process. */
  readonly deadlineMs: number;
}

/** How long going back to what was served may take before the process is restarted, which does it as well. */
const ROLLBACK_MS = 10_000;
/** Milliseconds after a reload until no further load begins; the manager looks every 100 ms. */
const NEVER_BEGUN_MS = 1000;
/**
 * A version that failed to load is at its end before anybody stopped asking for it. TensorFlow Serving takes note of
 * that every 100 ms (manage_state_interval_micros), tells nobody, and ignores a version that is asked for anew
 * before it did: that one would be waited for for ever.
 */
const NOTED_MS = 500;

/**
 * Makes every instance serve exactly `models`; where one cannot, all serve what was before. What is no longer served is
 * still being unloaded then.
 * @throws StatusError if a model does not load, ConnectionLost if the process ended over it, NothingChanged
 *   after the deadline
 */
export async function reloadInstances(options: ReloadOptions): Promise<void> {
  const { pool, before, models, want, restart } = options;
  want(models);
  const changed = new Set<Instance>();
  const onChange = (instance: Instance) => changed.add(instance);
  const isLoad = removed(models, before).length > 0;
  try {
    for (const [index, instance] of pool.instances.entries()) {
      await reload(instance, models, { ...options, onChange }).catch((error: unknown) => {
        if (isLoad || !isRestarting(error)) throw error;
        // It starts without what is removed.
        restart(index);
      });
    }
  } catch (error) {
    // An instance that ended over it must not start with it again.
    want(before);
    const hasRestarted = await rollBack(changed, options);
    if (hadNoThread(error)) throw refused(options.deadlineMs, error);
    throw isTimeout(error) ? tooLate(options.deadlineMs, hasRestarted, error) : error;
  }
}

/**
 * Resolves when no instance holds anything any more of what was served `before` and is not among `models`.
 * @throws ServingError REQUEST_TIMEOUT after the deadline
 */
export async function untilRemoved({
  pool,
  before,
  models,
  deadlineMs,
}: Pick<ReloadOptions, 'pool' | 'before' | 'models' | 'deadlineMs'>): Promise<void> {
  const gone = removed(before, models);
  for (const instance of pool.instances) {
    await untilUnloaded(instance, gone, { deadlineMs }).catch((error: unknown) => {
      throw hadNoThread(error) ? unheard(deadlineMs, error) : error;
    });
  }
}

/**
 * @throws also the last refusal (`hadNoThread`), if the process has had no thread for a call until the deadline
 */
async function reload(
  instance: Instance,
  models: readonly ServedModel[],
  options: ReloadOptions & { readonly onChange?: (instance: Instance) => void },
): Promise<void> {
  const { pool, before, deadlineMs, onChange } = options;
  await pool.whenInstanceReady(instance);
  const deadline = deadlineIn(deadlineMs);
  try {
    await whileNoThread(() => reloadConfig(instance.channel, models, deadline), deadline).catch(
      (error: unknown) => {
        if (!hadNoThread(error)) onChange?.(instance);
        throw error;
      },
    );
    onChange?.(instance);
    // It accepts one version of each model.
    await untilDone(instance, removed(models, before), deadlineMs, isSettled);
  } catch (error) {
    if (error instanceof ConnectionLost) instance.readiness.lost('the model server is restarting');
    throw error;
  }
}

/**
 * An instance that has had no thread for the change serves what it did before. Where another does not go back in time,
 * it is restarted; one that has no thread for that is healthy, so it has as long as for the change.
 * @returns whether one was restarted
 */
async function rollBack(changed: ReadonlySet<Instance>, options: ReloadOptions): Promise<boolean> {
  const { pool, before, models, restart } = options;
  let hasRestarted = false;
  const gone = removed(models, before);
  for (const [index, instance] of pool.instances.entries()) {
    if (!changed.has(instance)) continue;
    try {
      const deadlineMs = Math.min(ROLLBACK_MS, options.deadlineMs);
      await whileNoThread(async () => {
        await reload(instance, before, { ...options, deadlineMs });
        await untilUnloaded(instance, gone, { deadlineMs });
      }, deadlineIn(options.deadlineMs));
      if (gone.length > 0) await delay(NOTED_MS);
    } catch {
      instance.readiness.lost('the model server is restarting');
      restart(index);
      hasRestarted = true;
    }
  }
  return hasRestarted;
}

/**
 * Resolves when all versions of the models have ended, so that their memory is free and the same name can be
 * loaded again. A version that was never begun to load stays in START for ever once it is not wanted any more.
 * @throws ServingError REQUEST_TIMEOUT after the deadline
 */
async function untilUnloaded(
  instance: Instance,
  names: readonly string[],
  { deadlineMs }: Pick<ReloadOptions, 'deadlineMs'>,
): Promise<void> {
  const began = performance.now();
  await untilDone(instance, names, deadlineMs, (state) => {
    return state === 'END' || (state === 'START' && performance.now() - began > NEVER_BEGUN_MS);
  });
}

/** {@link untilStates} for models that go or come; a process that ended has none. */
async function untilDone(
  { channel }: Instance,
  names: readonly string[],
  deadlineMs: number,
  willDo: (state: ModelVersionState) => boolean,
): Promise<void> {
  try {
    await untilStates(channel, names, deadlineIn(deadlineMs), willDo);
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error;
  }
}

function removed(before: readonly ServedModel[], after: readonly ServedModel[]): string[] {
  const names = new Set(after.map(({ name }) => name));
  return before.filter(({ name }) => !names.has(name)).map(({ name }) => name);
}

/** Whether a process could not be asked since it is being started again. */
function isRestarting(error: unknown): boolean {
  if (error instanceof ServingError) return error.code === 'MODEL_NOT_READY';
  return error instanceof ConnectionLost;
}

function isTimeout(error: unknown): boolean {
  return (error as Error).name === 'TimeoutError';
}

function tooLate(deadlineMs: number, hasRestarted: boolean, cause: unknown): ServingError {
  const others = hasRestarted
    ? 'The model server was restarted, and its other models are loaded again.'
    : 'The models that it served before are still served.';
  return new NothingChanged(
    'REQUEST_TIMEOUT',
    `the model server has not loaded the model within ${deadlineMs / 1000} s (SAGEMAKER_TFS_WAIT_TIME_SECONDS). ${others}`,
    { cause },
  );
}

function refused(deadlineMs: number, cause: unknown): ServingError {
  return new NothingChanged(
    'OVERLOADED',
    `the model server has had no thread for the change of its models within ${deadlineMs / 1000} s (SAGEMAKER_TFS_WAIT_TIME_SECONDS), and serves those of before. Try again when fewer requests are in flight.`,
    { cause },
  );
}

function unheard(deadlineMs: number, cause: unknown): ServingError {
  return new ServingError(
    'REQUEST_TIMEOUT',
    `the model server has had no thread to say within ${deadlineMs / 1000} s (SAGEMAKER_TFS_WAIT_TIME_SECONDS) that a model is unloaded. The model is served no more, but its memory may not be free yet.`,
    { cause },
  );
}
