/** Whatever runs the models, as the rest of the runtime sees it. */
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import type { Logger } from 'pino';
import type { Backends } from '../backends/backends.ts';
import type { BatchListeners } from '../backends/batching-options.ts';
import type { RunGuard } from '../backends/in-process/run-guard.ts';
import type { Environment } from '../environment.ts';
import type { RestoreListeners } from '../model-server/change-models.ts';
import type { ModelServerEndpoint } from '../model-server/endpoint.ts';
import type { InstancePool } from '../model-server/instance-pool.ts';
import type { ServedModel } from '../models/served-model.ts';

/** Whether models can be called. */
export interface ModelReadiness {
  /** Why not; undefined if they can. Answers at once. */
  readonly reason: string | undefined;
  /** Resolves when they can. @throws ServingError MODEL_NOT_READY after the wait time */
  whenReady(signal?: AbortSignalLike): Promise<void>;
  /** Resolves when they can for the first time; never where they never can. */
  readonly firstReady: Promise<void>;
}

/** What a host is started with. */
export interface ModelHostOptions {
  readonly environment: Environment;
  /** Handed on to the model server. */
  readonly variables: NodeJS.ProcessEnv;
  readonly log: Logger;
  /** Served from the start on. */
  readonly models: readonly ServedModel[];
  /** True if another process of this container runs the model server. */
  readonly sharesModelServer?: boolean;
  /** Called with the pool of a model server that another process watches over, which is to learn how it ends. */
  readonly hearEnds?: ((pool: InstancePool) => void) | undefined;
  /** Keeps what has ended processes of TensorFlow from ending this one, where it runs the models itself. */
  readonly guard?: RunGuard | undefined;
  /** Hear of models that a restarted model server has lost, and has back. */
  readonly restores?: RestoreListeners;
  /** Hear of the batches of this process. */
  readonly listeners?: BatchListeners;
}

/** A started host. */
export interface ModelHost {
  readonly readiness: ModelReadiness;
  readonly backends: Backends;
  /** Where TensorFlow Serving is; undefined if it does not run. */
  readonly endpoint: ModelServerEndpoint | undefined;
  /** Calls that TensorFlow Serving had no thread for, so far; they were sent again. */
  readonly refusals: number;
  /** How often processes of TensorFlow Serving ended, so far; they were started again. */
  readonly modelServerEnds: number;
  /** Rejects where the models can never be served, with TensorFlow's own message. */
  readonly failed: Promise<never>;
  /** Serves exactly these models from now on; see `ModelServer.serve`. @throws StatusError if one does not load */
  serve(models: () => readonly ServedModel[]): Promise<void>;
  /** @param mostMs how long that may take */
  stop(mostMs?: number): Promise<void>;
}
