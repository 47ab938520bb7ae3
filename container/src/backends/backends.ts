/** The backends that a request can choose from. */
import type { Transport } from '@sagemaker-tfs/tensors/custom-attributes';
import type { Environment } from '../environment.ts';
import { ServingError } from '../errors.ts';
import type { InstancePool } from '../model-server/instance-pool.ts';
import type { ServedModel } from '../models/served-model.ts';
import type { Backend } from './backend.ts';
import { type BatchListeners, maxRowsOf } from './batching-options.ts';
import type { GrpcBackend } from './grpc.ts';
import type { JoinableBackend } from './joining.ts';

/** Backends by transport. */
export interface Backends {
  /** The backend for a request's `tfs-transport`, or the configured one. @throws ServingError BAD_CUSTOM_ATTRIBUTE */
  choose(transport: Transport | undefined): Promise<Backend>;
  /** Forgets what is known of a model that was loaded anew. */
  forget(modelName: string): void;
}

/**
 * gRPC and REST to the same processes of TensorFlow Serving; each is loaded when it is first chosen. With batching their
 * calls are joined.
 */
export function modelServerBackends(
  environment: Environment,
  pool: InstancePool,
  served: () => readonly ServedModel[],
  listeners: BatchListeners = {},
): Backends {
  const options = {
    timeoutMs: environment.limits.requestTimeoutMs,
    maxReplyBytes: environment.limits.maxResponseBytes,
    exampleLimits: environment.limits.decode,
    maxStrings: environment.limits.decode.maxStrings,
  };
  let grpc: Promise<JoinableBackend> | undefined;
  let rest: Promise<JoinableBackend> | undefined;
  const joining = joiningOf(environment, served, listeners);
  const configured = environment.backend === 'rest' ? 'rest' : 'grpc';
  let ownGrpc: Promise<GrpcBackend> | undefined;
  const overGrpc = () => {
    ownGrpc ??= import('./grpc.ts').then(({ GrpcBackend }) => new GrpcBackend(pool, options));
    return ownGrpc;
  };
  const overRest = async () => {
    const { RestBackend } = await import('./rest.ts');
    return new RestBackend(pool, { ...options, overGrpc });
  };
  return {
    async choose(transport = configured) {
      switch (transport) {
        case 'grpc':
          grpc ??= overGrpc().then(joining);
          return grpc;
        case 'rest':
          if (!environment.modelServer.tcp) throw withoutRest();
          rest ??= overRest().then(joining);
          return rest;
        default:
          throw new ServingError(
            'BAD_CUSTOM_ATTRIBUTE',
            'tfs-transport=in-process needs a container started with SAGEMAKER_TFS_BACKEND=in-process. This one has grpc and rest.',
          );
      }
    },
    forget(modelName) {
      for (const backend of [ownGrpc, grpc, rest])
        void backend?.then((loaded) => loaded.forget(modelName));
    },
  };
}

function withoutRest(): ServingError {
  return new ServingError(
    'BAD_CUSTOM_ATTRIBUTE',
    'tfs-transport=rest needs a port of the model server, and this container was started with SAGEMAKER_TFS_MODEL_SERVER_TCP=false. It has grpc.',
  );
}

/** Puts joining before a backend, where it is asked for; the batches of all backends share their threads. */
function joiningOf(
  environment: Environment,
  served: () => readonly ServedModel[],
  listeners: BatchListeners,
): (backend: JoinableBackend) => Promise<JoinableBackend> {
  const { processes } = environment;
  const { batching } = environment.modelServer;
  if (!batching) return async (backend) => backend;
  const modules = [
    import('@sagemaker-tfs/libtensorflow/joining'),
    import('./joining.ts'),
    import('../models/writing-signatures.ts'),
  ] as const;
  const loaded = Promise.all(modules).then(
    ([{ BatchThreads }, { JoiningBackend }, { writingOf }]) => {
      // All processes call one model server, which has one machine's threads to run what they send.
      const own = { ...batching, threads: Math.max(1, Math.floor(batching.threads / processes)) };
      const threads = new BatchThreads(own.threads);
      const maxRows = maxRowsOf(environment);
      const writing = writingOf(served);
      return (backend: JoinableBackend) =>
        new JoiningBackend(backend, { batching: own, threads, maxRows, listeners, writing });
    },
  );
  // Whoever joins gets the error.
  loaded.catch(() => undefined);
  return async (backend) => (await loaded)(backend);
}
