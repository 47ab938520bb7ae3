/** What this process is: alone, the primary of several, or one of its workers. */
import cluster from 'node:cluster';
import type { Environment } from '../environment.ts';
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
 * Whether a primary process supervises the workers. It outlives them, and keeps the port and the model server: the end of
 * a worker refuses no connection. The loaded models of a multi-model endpoint are gone with its process, and SageMaker
 * loads them into a new container only: there is none above it, except in-process, where TensorFlow must be kept apart.
 */
export function hasPrimary({ backend, multiModel }: Environment): boolean {
  return !multiModel || backend === 'in-process';
}
