/** The gRPC services on their addresses. */

import { unlink } from 'node:fs/promises';
import type { ListenOptions } from 'node:net';
import { StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { Code, GRPC_METHODS } from '@sagemaker-tfs/tensors/protos';
import { log } from '../log.ts';
import type { ServingCore } from '../serving-core.ts';
import { CallThreads } from './call-threads.ts';
import { healthCheck, healthWatch, WATCH_PATH } from './health-service.ts';
import { createGrpcServer, type GrpcHttp2Server } from './http2-server.ts';
import type { GrpcMethods, StreamingMethod, UnaryMethod } from './methods.ts';
import { getModelStatus, handleReloadConfigRequest } from './model-service.ts';
import {
  classifyMethod,
  getModelMetadata,
  multiInferenceMethod,
  predictMethod,
  regressMethod,
} from './prediction-service.ts';

/** What the flags say about gRPC. */
export interface GrpcOptions {
  /** Address of the port. */
  readonly host: string;
  readonly port: number;
  /** Threads for calls, and one that waits for the next. */
  readonly maxThreads: number;
  /** UNIX socket to listen on as well; empty for none. */
  readonly socketPath: string;
  readonly healthService: boolean;
}

/** Listening servers. */
interface GrpcServer {
  /** Refuses new calls and waits for those in flight, `graceMs` at most. */
  close(graceMs: number): Promise<void>;
}

/** @throws StatusError INVALID_ARGUMENT if an address cannot be bound */
export async function startGrpcServer(
  core: ServingCore,
  options: GrpcOptions,
): Promise<GrpcServer> {
  const methods = methodsOf(core, options);
  const threads = new CallThreads(options.maxThreads);
  const addresses: ListenOptions[] =
    options.port === 0 ? [] : [{ host: options.host, port: options.port }];
  if (options.socketPath) {
    await unlink(options.socketPath).catch(() => undefined);
    addresses.push({ path: options.socketPath });
  }
  const servers: GrpcHttp2Server[] = [];
  const close = async (graceMs: number): Promise<void> => {
    await Promise.all(servers.map((server) => server.close(graceMs)));
  };
  for (const address of addresses) {
    const server = createGrpcServer(methods, threads);
    await listen(server, address).catch(async (error) => {
      await close(0);
      throw error;
    });
    servers.push(server);
  }
  return { close };
}

function methodsOf(core: ServingCore, { healthService }: GrpcOptions): GrpcMethods {
  const unary = new Map<string, UnaryMethod>([
    [GRPC_METHODS.predict, predictMethod(core)],
    [GRPC_METHODS.classify, classifyMethod(core)],
    [GRPC_METHODS.regress, regressMethod(core)],
    [GRPC_METHODS.multiInference, multiInferenceMethod(core)],
    [GRPC_METHODS.getModelMetadata, getModelMetadata(core)],
    [GRPC_METHODS.getModelStatus, getModelStatus(core)],
    [GRPC_METHODS.handleReloadConfigRequest, handleReloadConfigRequest(core)],
  ]);
  const streaming = new Map<string, StreamingMethod>();
  if (healthService) {
    unary.set(GRPC_METHODS.healthCheck, healthCheck());
    streaming.set(WATCH_PATH, healthWatch);
  }
  return { unary, streaming };
}

function listen({ server }: GrpcHttp2Server, address: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: Error) => {
      log.error(`${address.path ?? `${address.host}:${address.port}`}: ${error.message}`);
      const message = 'Failed to BuildAndStart gRPC server';
      reject(new StatusError(Code.INVALID_ARGUMENT, message, { cause: error }));
    });
    server.listen(address, () => resolve());
  });
}
