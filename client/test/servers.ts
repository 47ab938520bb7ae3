/** Servers for tests: real sockets on free ports of this machine. */
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { buffer } from 'node:stream/consumers';
import { listening } from '../../test/support/listening.ts';

/** A server that answers. */
export interface TestServer {
  readonly url: string;
  /** Requests seen, in order. */
  readonly requests: readonly IncomingMessage[];
  stop(): Promise<void>;
}

/** Starts a server; every request is seen by the listener with its body at hand. */
export async function serve(
  listener: (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown,
): Promise<TestServer> {
  const requests: IncomingMessage[] = [];
  const onRequest: RequestListener = async (request, response) => {
    requests.push(request);
    const body = await buffer(request).catch(() => undefined);
    if (body) await listener(request, response, body);
  };
  const { url, close } = await listening(createServer(onRequest));
  return { url, requests, stop: close };
}
