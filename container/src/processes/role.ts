/** What this process is: alone, the primary of several, or one of its workers. */
import cluster from 'node:cluster';
import type { Environment } from '../environment.ts';
import { handlerFile } from '../handler/handler-file.ts';
import { LISTENS_WHEN_READY } from './messages.ts';

/** How a worker of several processes differs from a runtime of one. */
export interface WorkerRole {
  /** Counts from 1, over all that were ever started. */
  readonly id: number;
  /** Whether it listens only once its models are loaded, because another worker already does. */
  readonly listensWhenReady: boolean;
}

/** The role of this process; undefined if it is not a worker. */
export function workerRole(): WorkerRole | undefined {
  if (!cluster.worker) return undefined;
  return { id: cluster.worker.id, listensWhenReady: process.env[LISTENS_WHEN_READY] === 'true' };
}

/**
 * Whether the runtime is several processes: TensorFlow in-process and handlers are always kept apart from the
 * primary, which outlives them and keeps the model server. The loaded models of a multi-model endpoint are
 * gone with its process, and SageMaker loads them into a new container only: there is none above it.
 */
export function hasPrimary({ backend, processes, multiModel, modelDir }: Environment): boolean {
  if (processes > 1 || backend === 'in-process') return true;
  return !multiModel && handlerFile(modelDir) !== undefined;
}
