/** Which ports each process of TensorFlow Serving gets, and whether they can be had. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { DEFAULT_GRPC_PORT, DEFAULT_REST_PORT, type Environment } from '../environment.ts';
import { listen } from '../transport/listen.ts';
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

/**
 * TensorFlow Serving shares a gRPC port that another one has (`SO_REUSEPORT`), and only logs a REST port that is taken: then
 * the other's models would answer.
 * @throws StartError PORT_REFUSED
 */
export async function checkPortsAreFree(endpoints: readonly ModelServerEndpoint[]): Promise<void> {
  for (const port of endpoints.flatMap(({ grpcPort, restPort }) => [grpcPort, restPort])) {
    if (port === 0) continue;
    const server = createServer();
    const place = { port, address: '0.0.0.0', portVariable: 'SAGEMAKER_SAFE_PORT_RANGE' };
    await listen(server, place);
    server.close();
    await once(server, 'close');
  }
}
