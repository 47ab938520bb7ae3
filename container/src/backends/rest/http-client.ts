/** HTTP calls to one process of TensorFlow Serving over kept connections. */

import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { ServingError } from '../../errors.ts';
import { ConnectionLost } from '../grpc/unary-reply.ts';

/** One call. */
export interface HttpCall {
  readonly host: string;
  readonly port: number;
  readonly method: 'GET' | 'POST';
  readonly path: string;
  /** Pieces of a JSON body, sent without joining them. */
  readonly body?: readonly Uint8Array[];
  readonly signal?: AbortSignalLike | undefined;
}

/** An answer of any status. */
export interface HttpReply {
  readonly status: number;
  readonly body: Buffer;
}

/** Keeps connections open between calls. */
export class HttpClient {
  readonly #agent = new Agent({ keepAlive: true, noDelay: true, scheduling: 'lifo' });
  readonly #maxReplyBytes: number;

  constructor(options: { maxReplyBytes: number }) {
    this.#maxReplyBytes = options.maxReplyBytes;
  }

  /** @throws ConnectionLost where no answer came, ServingError RESPONSE_TOO_LARGE, or the signal's reason */
  async call(call: HttpCall): Promise<HttpReply> {
    try {
      return await this.#attempt(call);
    } catch (error) {
      // The server closed a kept connection in the moment that it was taken: it never saw the request.
      if (!(error instanceof StaleConnection)) throw error;
      return this.#attempt(call);
    }
  }

  close(): void {
    this.#agent.destroy();
  }

  #attempt({ body = [], signal, ...target }: HttpCall): Promise<HttpReply> {
    const length = body.reduce((sum, piece) => sum + piece.byteLength, 0);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': length };
    return new Promise((resolve, reject) => {
      const request = httpRequest({ ...target, agent: this.#agent, headers });
      const onAbort = () => request.destroy();
      const settle = (finish: () => void) => {
        signal?.removeEventListener('abort', onAbort);
        finish();
      };
      const fail = (cause: Error & { code?: string }) =>
        settle(() => {
          if (signal?.aborted) reject(signal.reason);
          else if (cause instanceof ServingError) reject(cause);
          else reject(lost(cause, request.reusedSocket));
        });
      signal?.addEventListener('abort', onAbort, { once: true });
      request.on('error', fail);
      request.on('response', (response) => {
        readAll(response, this.#maxReplyBytes).then(
          (bytes) => settle(() => resolve({ status: response.statusCode ?? 0, body: bytes })),
          (error: Error) => {
            request.destroy();
            fail(error);
          },
        );
      });
      for (const piece of body.slice(0, -1)) request.write(piece);
      request.end(body.at(-1));
      if (signal?.aborted) onAbort();
    });
  }
}

class StaleConnection extends ConnectionLost {}

function lost(cause: Error & { code?: string }, reused: boolean): ConnectionLost {
  const stale = reused && (cause.code === 'ECONNRESET' || cause.code === 'EPIPE');
  const message = `no answer from the model server: ${cause.message}`;
  return stale ? new StaleConnection(message, { cause }) : new ConnectionLost(message, { cause });
}

/** By events, not as a stream that is awaited: most answers come in one piece. */
function readAll(response: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const announced = Number(response.headers['content-length'] ?? 0);
    if (announced > maxBytes) throw tooLarge(maxBytes);
    // Filled as it comes: joining a large answer at its end would keep the event loop.
    const whole = announced > 0 ? Buffer.allocUnsafeSlow(announced) : undefined;
    const chunks: Buffer[] = [];
    let received = 0;
    response.on('data', (chunk: Buffer) => {
      if (whole) whole.set(chunk, received);
      else chunks.push(chunk);
      received += chunk.length;
      if (received > maxBytes) reject(tooLarge(maxBytes));
    });
    response.on('end', () => resolve(whole ?? Buffer.concat(chunks, received)));
    response.on('error', reject);
  });
}

function tooLarge(maxBytes: number): ServingError {
  return new ServingError(
    'RESPONSE_TOO_LARGE',
    `the model's answer has more than the ${maxBytes} bytes allowed (SAGEMAKER_TFS_MAX_RESPONSE_BYTES)`,
  );
}
