/** What passed between a client and the runtime, for a line on the terminal. */

import type { IncomingMessage } from 'node:http';
import { runtimeError } from '../serving/runtime-error.ts';

/** One request with its answer. */
export interface Exchange {
  readonly at: Date;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** Media type of the request. */
  readonly contentType: string;
  readonly requestBytes: number;
  readonly responseBytes: number;
  /** From the request's head to the answer's end. */
  readonly milliseconds: number;
  /** The error's code and message, where the answer is an error. */
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

/** Bytes of an error's body that are read. */
const ERROR_BYTES = 8_192;

/** Starts to watch a request; the function that it returns passes the answer's bytes on, and watches them. */
export function watchExchange(
  request: IncomingMessage,
  onExchange: ((exchange: Exchange) => void) | undefined,
): (answer: IncomingMessage) => AsyncIterable<Uint8Array> {
  if (!onExchange) return (answer) => answer;
  const at = new Date();
  const from = performance.now();
  let requestBytes = 0;
  request.on('data', (part: Buffer) => {
    requestBytes += part.length;
  });
  return async function* (answer) {
    const status = answer.statusCode ?? 0;
    const kept: Buffer[] = [];
    let responseBytes = 0;
    for await (const part of answer as AsyncIterable<Buffer>) {
      if (status >= 400 && responseBytes < ERROR_BYTES) kept.push(part);
      responseBytes += part.length;
      yield part;
    }
    onExchange({
      at,
      method: request.method ?? '',
      path: request.url ?? '',
      status,
      contentType: request.headers['content-type'] ?? '',
      requestBytes,
      responseBytes,
      milliseconds: performance.now() - from,
      error: status >= 400 ? runtimeError(Buffer.concat(kept).toString('utf8')) : undefined,
    });
  };
}
