/** Changes the models that TensorFlow Serving serves, and what starts again with it. */
import { StatusError } from '@sagemaker-tfs/tensors/status-error';
import type { Logger } from 'pino';
import type { ServedModel } from '../models/served-model.ts';
import { linkBasePaths, unlinkOthers } from './base-paths.ts';
import { blameModel, isFault } from './fatal-load.ts';
import type { InstancePool } from './instance-pool.ts';
import { oomKills } from './oom-kills.ts';
import type { ProcessEnd } from './process.ts';
import { reloadInstances, untilRemoved } from './reload.ts';
import { type RestoreOptions, type Restorer, restorer } from './restore.ts';

/** Called for models that a process no longer has after a restart, and for those that it has again. */
export type RestoreListeners = Pick<RestoreOptions, 'onLost' | 'onRegained'>;

/** What is served, and what is known of a change of it. */
export interface Serving {
  served: readonly ServedModel[];
  /** What a process that starts now is to serve. */
  wanted: readonly ServedModel[];
  /** How the first process ended that ended in the last change. */
  ended: ProcessEnd | undefined;
  /** Whether a model that comes may end a process now. */
  isLoading: boolean;
  /** Of processes that are restarted; undefined before there was a model. */
  restorer: Restorer | undefined;
}

/** What a change is made in. */
interface Processes {
  readonly pool: InstancePool;
  /** Directory of the base paths. */
  readonly basePaths: string;
  readonly deadlineMs: number;
  /** Ends a process, which is started again and then serves what is wanted. */
  readonly restart: (index: number) => void;
  readonly log: Logger;
  readonly restores: RestoreListeners | undefined;
}

/** See `ModelServer.serve`. */
export async function changeModels(
  serving: Serving,
  processes: Processes,
  modelsNow: () => readonly ServedModel[],
): Promise<void> {
  const { pool, basePaths, deadlineMs, restart } = processes;
  serving.restorer ??= restorerOf(serving, processes);
  await serving.restorer.done();
  const wanted = modelsNow();
  const before = serving.served;
  const models = await linkBasePaths(basePaths, wanted);
  const among = (list: readonly ServedModel[], { name }: ServedModel) =>
    list.some((other) => other.name === name);
  const loading = wanted.filter((model) => !among(before, model));
  const change = { pool, before, models, deadlineMs };
  let hadCalls = false;
  let killsBefore: number | undefined;
  const reload = async () => {
    const hasCalls = pool.watchCalls();
    serving.ended = undefined;
    killsBefore = oomKills();
    const want = (list: readonly ServedModel[]) => {
      serving.isLoading = list === models;
      if (list === before) hadCalls = hasCalls();
      serving.wanted = list;
    };
    await reloadInstances({ ...change, want, restart });
    // Also where the end of a removed model is not waited for: it is served no more.
    serving.served = models;
    await untilRemoved(change);
  };
  try {
    await reload().catch(async (error: unknown) => {
      const { ended } = serving;
      if (!hadCalls || !ended || !isFault(ended) || loading.length === 0) throw error;
      // A request may have ended it: those in flight are tried first, alone, and the load once more.
      await pool.whenTried();
      await reload();
    });
  } catch (error) {
    throw inTheModel(blameModel(error, serving.ended, loading, killsBefore), basePaths);
  } finally {
    serving.isLoading = false;
    await unlinkOthers(basePaths, serving.served);
  }
}

/** An error of a file with its path from the model's name on: where our links to it lie is nobody's concern. */
function inTheModel(error: unknown, basePaths: string): unknown {
  const below = `${basePaths}/`;
  if (!(error instanceof StatusError) || !error.message.includes(below)) return error;
  return new StatusError(error.code, error.message.replaceAll(below, ''), { cause: error });
}

function restorerOf(
  serving: Serving,
  { basePaths, deadlineMs, restart, log, restores }: Processes,
): Restorer {
  return restorer({
    models: () => serving.wanted,
    async leaveOut(names) {
      const isLeft = ({ name }: ServedModel) => !names.includes(name);
      serving.wanted = serving.wanted.filter(isLeft);
      serving.served = serving.served.filter(isLeft);
      await unlinkOthers(basePaths, [...serving.wanted, ...serving.served]);
    },
    onLost(name, error, isLate) {
      log.error({ model: name, err: error }, 'a model is not served');
      restores?.onLost(name, error, isLate);
    },
    onRegained: (name) => restores?.onRegained(name),
    restart,
    deadlineMs,
  });
}
