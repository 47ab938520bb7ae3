/** Changes the models that TensorFlow Serving serves, and what starts again with it. */
import { rename, writeFile } from 'node:fs/promises';
import type { ServedModel } from '../models/served-model.ts';
import { linkBasePaths, unlinkOthers } from './base-paths.ts';
import type { ModelServerFiles } from './command.ts';
import { modelConfigText } from './config-file.ts';
import { blameModel, isFault } from './fatal-load.ts';
import type { InstancePool } from './instance-pool.ts';
import type { ProcessEnd } from './process.ts';
import { reloadInstances, untilRemoved } from './reload.ts';

/** What is served, and what is known of a change of it. */
export interface Serving {
  served: readonly ServedModel[];
  /** Those that every process must have to be ready: a model that comes or goes makes none unready. */
  probed: readonly ServedModel[];
  /** How the first process ended that ended in the last change. */
  ended: ProcessEnd | undefined;
  /** Whether a model that comes may end a process now. */
  isLoading: boolean;
}

/** What a change is made in. */
interface Processes {
  readonly pool: InstancePool;
  readonly files: ModelServerFiles;
  readonly deadlineMs: number;
  /** Ends a process, which then starts with what was written last. */
  readonly restart: (index: number) => void;
}

/** See `ModelServer.serve`. */
export async function changeModels(
  serving: Serving,
  { pool, files, deadlineMs, restart }: Processes,
  wanted: readonly ServedModel[],
): Promise<void> {
  const before = serving.served;
  const models = await linkBasePaths(files.basePaths, wanted);
  const among = (list: readonly ServedModel[], { name }: ServedModel) =>
    list.some((other) => other.name === name);
  serving.probed = before.filter((model) => among(wanted, model));
  const loading = wanted.filter((model) => !among(before, model));
  const change = { pool, before, models, deadlineMs };
  let hadCalls = false;
  const reload = async () => {
    const hasCalls = pool.watchCalls();
    serving.ended = undefined;
    const writeConfig = (list: readonly ServedModel[]) => {
      serving.isLoading = list === models;
      if (list === before) hadCalls = hasCalls();
      return replaceConfig(files, list);
    };
    await reloadInstances({ ...change, writeConfig, restart });
    // Also where the end of a removed model is not waited for: it is served no more.
    serving.served = models;
    serving.probed = models;
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
    throw blameModel(error, serving.ended, loading);
  } finally {
    serving.isLoading = false;
    serving.probed = serving.served;
    await unlinkOthers(files.basePaths, serving.served);
  }
}

/** An instance that restarts reads the file anew, so it must never be half written. */
async function replaceConfig(
  files: ModelServerFiles,
  models: readonly ServedModel[],
): Promise<void> {
  const temporary = `${files.modelConfig}.new`;
  await writeFile(temporary, modelConfigText(models));
  await rename(temporary, files.modelConfig);
}
