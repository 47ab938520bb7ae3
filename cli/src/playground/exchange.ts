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

/** Starts to watch a request; the function that it returns watches the answer. */
export function watchExchange(
  request: IncomingMessage,
  onExchange: ((exchange: Exchange) => void) | undefined,
): (answer: IncomingMessage) => void {
  if (!onExchange) return () => undefined;
  const at = new Date();
  const from = performance.now();
  let requestBytes = 0;
  request.on('data', (part: Buffer) => {
    requestBytes += part.length;
  });
  return (answer) => {
    const status = answer.statusCode ?? 0;
    const kept: Buffer[] = [];
    let responseBytes = 0;
    answer.on('data', (part: Buffer) => {
      if (status >= 400 && responseBytes < ERROR_BYTES) kept.push(part);
      responseBytes += part.length;
    });
    answer.once('end', () =>
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
      }),
    );
  };
}
