/** Which ports each process of TensorFlow Serving gets, and whether they can be had. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DEFAULT_GRPC_PORT, DEFAULT_REST_PORT, type Environment } from '../environment.ts';
import { listen } from '../waiting/listen.ts';
import type { ModelServerEndpoint } from './endpoint.ts';
import { privateDirectory } from './private-directory.ts';

/**
 * One endpoint for each instance. In a `SAGEMAKER_SAFE_PORT_RANGE` gRPC and REST ports alternate from its
 * lower end; without one they count up from 9000 and 8501. Ports are 0 where it listens on sockets alone.
 * @param owner id of the process that runs TensorFlow Serving
 */
export function modelServerEndpoints(
  environment: Environment,
  owner: number,
): ModelServerEndpoint[] {
  const directory = modelServerDirectory(environment, owner);
  const { instances, ports, tcp } = environment.modelServer;
  const onTcp = (port: number) => (tcp ? port : 0);
  return Array.from({ length: instances }, (_, index) => ({
    host: '127.0.0.1',
    grpcPort: onTcp(ports ? ports.low + 2 * index : DEFAULT_GRPC_PORT + index),
    restPort: onTcp(ports ? ports.low + 2 * index + 1 : DEFAULT_REST_PORT + index),
    grpcSocket: join(directory, `grpc-${index}.sock`),
  }));
}

/** The directory of the model server that a process runs. */
export function modelServerDirectory({ modelServer }: Environment, owner: number): string {
  return privateDirectory(owner, modelServer.ports?.low ?? DEFAULT_GRPC_PORT);
}

/** Why a process cannot have its ports now: StartError PORT_REFUSED, which names one; undefined if it can. */
export async function portProblem({
  grpcPort,
  restPort,
}: ModelServerEndpoint): Promise<Error | undefined> {
  try {
    for (const port of [grpcPort, restPort]) if (port !== 0) await checkPort(port);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

async function checkPort(port: number): Promise<void> {
  const server = createServer();
  await listen(server, { port, address: '0.0.0.0', portVariable: 'SAGEMAKER_SAFE_PORT_RANGE' });
  server.close();
  await once(server, 'close');
}
