/** A gRPC server that a test answers for, call by call. */
import { once } from 'node:events';
import { createServer, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { create, toBinary } from '@bufbuild/protobuf';
import {
  GetModelStatusResponseSchema,
  GRPC_METHODS,
  ModelVersionStatus_State as State,
} from '@sagemaker-tfs/tensors/protos';

/** What a call is answered with: a message, or a status of gRPC. */
export type StubAnswer = Uint8Array | { readonly status: number; readonly message: string };

/** A listening stub. */
export interface GrpcStub {
  readonly port: number;
  /** Ends every connection at once, as the death of the process would. */
  die(): void;
  close(): void;
}

/** Answers calls by what `answer` resolves to; it may never. Of the message it gets each byte as a character. */
export async function startGrpcStub(
  answer: (path: string, message: string) => Promise<StubAnswer>,
): Promise<GrpcStub> {
  const sessions = new Set<ServerHttp2Session>();
  const server = createServer();
  server.on('session', (session) => {
    sessions.add(session);
    session.on('error', () => undefined);
    session.on('close', () => sessions.delete(session));
  });
  server.on('stream', async (stream, headers) => {
    stream.on('error', () => undefined);
    const message = await bodyOf(stream);
    if (message === undefined) return;
    send(stream, await answer(String(headers[':path']), message.subarray(5).toString('latin1')));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const die = () => {
    for (const session of sessions) session.destroy();
  };
  return {
    port: (server.address() as AddressInfo).port,
    die,
    close: () => {
      die();
      server.close();
    },
  };
}

/** The answer to GetModelStatus that one version is available. */
export function availableAnswer(): Uint8Array {
  return toBinary(
    GetModelStatusResponseSchema,
    create(GetModelStatusResponseSchema, {
      modelVersionStatus: [{ version: 1n, state: State.AVAILABLE }],
    }),
  );
}

/** The path of GetModelStatus. */
export const STATUS_PATH: string = GRPC_METHODS.getModelStatus;

async function bodyOf(stream: ServerHttp2Stream): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of stream.iterator({ destroyOnReturn: false })) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch {
    return undefined;
  }
}

function send(stream: ServerHttp2Stream, answer: StubAnswer): void {
  if (stream.destroyed || stream.closed) return;
  const headers = { ':status': 200, 'content-type': 'application/grpc' };
  if ('status' in answer) {
    const { status, message } = answer;
    stream.respond(
      { ...headers, 'grpc-status': String(status), 'grpc-message': encodeURIComponent(message) },
      { endStream: true },
    );
    return;
  }
  const prefix = Buffer.alloc(5);
  prefix.writeUInt32BE(answer.byteLength, 1);
  stream.respond(headers, { waitForTrailers: true });
  stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
  stream.end(Buffer.concat([prefix, answer]));
}
