/** The backends that a request can choose from. */
import type { Environment } from '../environment.ts';
import { ServingError } from '../errors.ts';
import type { InstancePool } from '../model-server/instance-pool.ts';
import type { Backend, Transport } from './backend.ts';
import type { GrpcBackend } from './grpc.ts';
import type { RestBackend } from './rest.ts';

/** Backends by transport. */
export interface Backends {
  /** The backend for a request's `tfs-transport`, or the configured one. @throws ServingError BAD_CUSTOM_ATTRIBUTE */
  choose(transport: Transport | undefined): Promise<Backend>;
  /** Forgets what is known of a model that was loaded anew. */
  forget(modelName: string): void;
}

/** gRPC and REST to the same processes of TensorFlow Serving; each is loaded when it is first chosen. */
export function modelServerBackends(environment: Environment, pool: InstancePool): Backends {
  const options = {
    timeoutMs: environment.limits.requestTimeoutMs,
    maxReplyBytes: environment.limits.maxResponseBytes,
    exampleLimits: environment.limits.decode,
  };
  let grpc: Promise<GrpcBackend> | undefined;
  let rest: Promise<RestBackend> | undefined;
  const configured = environment.backend === 'rest' ? 'rest' : 'grpc';
  function overGrpc(): Promise<GrpcBackend> {
    grpc ??= import('./grpc.ts').then(({ GrpcBackend }) => new GrpcBackend(pool, options));
    return grpc;
  }
  function overRest(): Promise<RestBackend> {
    rest ??= import('./rest.ts').then(
      ({ RestBackend }) => new RestBackend(pool, { ...options, overGrpc }),
    );
    return rest;
  }
  return {
    async choose(transport = configured) {
      switch (transport) {
        case 'grpc':
          return overGrpc();
        case 'rest':
          return overRest();
        default:
          throw new ServingError(
            'BAD_CUSTOM_ATTRIBUTE',
            'tfs-transport=in-process needs a container started with SAGEMAKER_TFS_BACKEND=in-process; this one has grpc and rest',
          );
      }
    },
    forget(modelName) {
      for (const backend of [grpc, rest]) void backend?.then((loaded) => loaded.forget(modelName));
    },
  };
}
