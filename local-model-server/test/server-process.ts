/** The model server as a real process on free ports, and a gRPC client of it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import {
  create,
  type DescMessage,
  fromBinary,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { Client, credentials, type ServiceError } from '@grpc/grpc-js';
import {
  decodePredictResponse,
  encodePredictRequest,
  type PredictRequestMessage,
  type PredictResponseMessage,
} from '@sagemaker-tfs/tensors';
import {
  GetModelStatusRequestSchema,
  type GetModelStatusResponse,
  GetModelStatusResponseSchema,
  GRPC_METHODS,
  type ModelServerConfigSchema,
  ReloadConfigRequestSchema,
  ReloadConfigResponseSchema,
} from '@sagemaker-tfs/tensors/protos';
import { bundledProgram } from '../../test/bundled-program.ts';

const UNLIMITED = {
  'grpc.max_receive_message_length': -1,
  'grpc.max_send_message_length': -1,
};

const POLL_MS = 100;

/** A started process; it may still be loading, and it may end by itself. */
export interface ServerProcess {
  readonly grpcPort: number;
  readonly restPort: number;
  readonly child: ChildProcess;
  /** Everything it printed so far. */
  output(): string;
  /** Resolves when a line of its output contains `text`. @throws Error where it ends before */
  printed(text: string): Promise<void>;
  /** Exit status, or the signal's name. */
  readonly ended: Promise<number | string>;
  /** Ends it with SIGTERM, where it has not ended yet. */
  stop(): Promise<number | string>;
}

/** The bundle, or the server under test: `npm run with-real-server` sets `TEST_MODEL_SERVER_BIN`. */
function commandOfServer(): [program: string, ...first: string[]] {
  const bin = process.env.TEST_MODEL_SERVER_BIN;
  if (bin) return [join(bin, 'tensorflow_model_server')];
  return [process.execPath, bundledProgram('local-model-server')];
}

/**
 * Starts the program with these flags after the ports.
 * @param pollMs between two looks for models, in place of `--file_system_poll_wait_seconds`
 */
export async function spawnServer(
  flags: readonly string[],
  pollMs = POLL_MS,
): Promise<ServerProcess> {
  const [grpcPort, restPort] = [await freePort(), await freePort()];
  const args = [`--port=${grpcPort}`, `--rest_api_port=${restPort}`, ...flags];
  const [program, ...first] = commandOfServer();
  const child = spawn(program, [...first, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      UV_THREADPOOL_SIZE: '12',
      LOCAL_MODEL_SERVER_POLL_MS: String(pollMs),
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      child.emit('printed');
    });
  }
  const ended = once(child, 'close').then(([status, signal]) => status ?? signal);
  const printed = async (text: string): Promise<void> => {
    while (!output.includes(text)) {
      const over = await Promise.race([
        once(child, 'printed').then(() => false),
        ended.then(() => true),
      ]);
      if (over && !output.includes(text)) throw new Error(`ended without "${text}":\n${output}`);
    }
  };
  const stop = (): Promise<number | string> => {
    child.kill('SIGTERM');
    return ended;
  };
  return { grpcPort, restPort, child, output: () => output, printed, ended, stop };
}

/** Starts the program and waits until it listens. */
export async function startServerProcess(flags: readonly string[]): Promise<ServerProcess> {
  const server = await spawnServer(flags);
  await server.printed('Exporting HTTP/REST API');
  return server;
}

/** A port that nothing listens on now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  return typeof address === 'object' && address ? address.port : 0;
}

/** A client of the gRPC services; `close` it. */
export class GrpcClient {
  readonly #client: Client;

  constructor({ grpcPort }: Pick<ServerProcess, 'grpcPort'>) {
    this.#client = new Client(`127.0.0.1:${grpcPort}`, credentials.createInsecure(), UNLIMITED);
  }

  close(): void {
    this.#client.close();
  }

  /** A unary call with raw bytes. @param ms until its deadline @throws ServiceError */
  call(path: string, request: Uint8Array, ms = Number.POSITIVE_INFINITY): Promise<Buffer> {
    return new Promise((resolve, reject) => {
      const asIs = (bytes: Buffer): Buffer => bytes;
      const options = { deadline: Date.now() + ms };
      this.#client.makeUnaryRequest(
        path,
        asIs,
        asIs,
        Buffer.from(request),
        options,
        (error, reply) => (reply ? resolve(reply) : reject(error)),
      );
    });
  }

  async message<Request extends DescMessage, Response extends DescMessage>(
    path: string,
    schemas: { readonly request: Request; readonly response: Response },
    request: MessageInitShape<Request>,
  ): Promise<MessageShape<Response>> {
    const bytes = toBinary(schemas.request, create(schemas.request, request));
    return fromBinary(schemas.response, await this.call(path, bytes));
  }

  async predict(request: PredictRequestMessage): Promise<PredictResponseMessage> {
    const bytes = Buffer.concat(encodePredictRequest(request));
    return decodePredictResponse(await this.call(GRPC_METHODS.predict, bytes));
  }

  status(name: string, version?: bigint, label?: string): Promise<GetModelStatusResponse> {
    const schemas = {
      request: GetModelStatusRequestSchema,
      response: GetModelStatusResponseSchema,
    };
    return this.message(GRPC_METHODS.getModelStatus, schemas, {
      modelSpec: {
        name,
        ...(version !== undefined && {
          versionChoice: { case: 'version', value: { value: version } },
        }),
        ...(label !== undefined && { versionChoice: { case: 'versionLabel', value: label } }),
      },
    });
  }

  async reload(config: MessageInitShape<typeof ModelServerConfigSchema>): Promise<void> {
    const schemas = { request: ReloadConfigRequestSchema, response: ReloadConfigResponseSchema };
    await this.message(GRPC_METHODS.handleReloadConfigRequest, schemas, { config });
  }
}

/** The gRPC error that a call ends with. */
export async function grpcError(
  call: Promise<unknown>,
): Promise<{ code: number; details: string }> {
  return call.then(
    () => {
      throw new Error('the call was answered');
    },
    ({ code, details }: ServiceError) => ({ code, details }),
  );
}
