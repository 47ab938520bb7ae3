/** Reads request bodies within a limit, whole or as they arrive. */

import type { IncomingMessage } from 'node:http';
import type { AbortSignalLike } from '@sagemaker-tfs/tensors';
import { ServingError } from '../errors.ts';

/** The length that the client announced; undefined for a chunked body. */
export function contentLengthOf(request: IncomingMessage): number | undefined {
  const header = request.headers['content-length'];
  return header === undefined ? undefined : Number(header);
}

/** @throws ServingError REQUEST_TOO_LARGE before a byte is read, where the length is announced */
export function checkLength(request: IncomingMessage, limit: BodyLimit): void {
  const length = contentLengthOf(request);
  if (length !== undefined && length > limit.maxBytes) throw tooLarge(`${length} bytes`, limit);
}

/** How long a body may be. */
interface BodyLimit {
  readonly maxBytes: number;
  /** The variable that sets it, for messages. Default: SAGEMAKER_TFS_MAX_REQUEST_BYTES. */
  readonly variable?: string;
}

/** How a body is read. */
interface BodyOptions extends BodyLimit {
  /** Told of the bytes that have come so far; what it throws refuses the rest. */
  readonly onBytes?: (received: number) => void;
}

/**
 * The whole body. With an announced length it is gathered in one buffer, which grows as the bytes come.
 * @throws ServingError REQUEST_TOO_LARGE, CLIENT_CLOSED_REQUEST, or the signal's reason
 */
export function readBody(
  request: IncomingMessage,
  options: BodyOptions & { readonly signal: AbortSignalLike },
): Promise<Buffer> {
  const { signal, onBytes } = options;
  checkLength(request, options);
  const length = contentLengthOf(request);
  const collector = length === undefined ? chunkCollector(options) : sizedCollector(length);
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      signal.removeEventListener('abort', onAbort);
      request.off('data', onData).off('end', onEnd).off('close', onClose).off('error', onClose);
      // An 'error' after this is the client's going, which is known already.
      request.on('error', () => undefined);
      finish();
    };
    let received = 0;
    const onData = (chunk: Buffer) => {
      received += chunk.length;
      try {
        onBytes?.(received);
        collector.push(chunk);
      } catch (error) {
        settle(() => reject(error));
      }
    };
    const onEnd = () => settle(() => resolve(collector.finish()));
    const onClose = () => settle(() => reject(clientClosed()));
    const onAbort = () => settle(() => reject(signal.reason));
    if (signal.aborted) {
      reject(signal.reason);
      return;
    }
    signal.addEventListener('abort', onAbort, { once: true });
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}

/** The body's chunks as they arrive. @throws ServingError as {@link readBody} */
export async function* streamBody(
  request: IncomingMessage,
  options: BodyOptions,
): AsyncGenerator<Uint8Array> {
  checkLength(request, options);
  let received = 0;
  try {
    // Whoever leaves early does not destroy the request: Node would take its socket from it, which the answer needs.
    const chunks: AsyncIterable<Buffer> = request.iterator({ destroyOnReturn: false });
    for await (const chunk of chunks) {
      received += chunk.length;
      if (received > options.maxBytes)
        throw tooLarge(`more than ${options.maxBytes} bytes`, options);
      options.onBytes?.(received);
      yield chunk;
    }
  } catch (error) {
    if (error instanceof ServingError) throw error;
    throw clientClosed();
  }
}

/** The error of requests whose client went away. */
export function clientClosed(): ServingError {
  return new ServingError('CLIENT_CLOSED_REQUEST', 'the client closed the connection.');
}

interface Collector {
  push(chunk: Buffer): void;
  finish(): Buffer;
}

/** A buffer of an announced length is made at once up to this size; a larger one begins with it. */
const FIRST_BYTES = 4 * 1024 * 1024;
/** An announced length alone costs no memory, and one more copy of a part of the body. */
const GROWTH = 4;

/** Node's parser guarantees that no more than the announced length arrives. */
function sizedCollector(length: number): Collector {
  let whole: Buffer | undefined;
  let filled = 0;
  return {
    push(chunk) {
      if (chunk.length === length) {
        whole = chunk;
        return;
      }
      const end = filled + chunk.length;
      whole ??= Buffer.allocUnsafeSlow(Math.min(length, FIRST_BYTES));
      if (end > whole.length) whole = grown(whole, filled, Math.min(length, whole.length * GROWTH));
      whole.set(chunk, filled);
      filled = end;
    },
    finish: () => whole ?? Buffer.alloc(0),
  };
}

function grown(buffer: Buffer, filled: number, size: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(size);
  larger.set(buffer.subarray(0, filled));
  return larger;
}

/** Small chunks are merged: each keeps a whole socket buffer alive. */
const SMALL_CHUNK_BYTES = 16_384;
const LARGEST_BLOCK_BYTES = 262_144;

function chunkCollector(limit: BodyLimit): Collector {
  const chunks: Buffer[] = [];
  let received = 0;
  let block = Buffer.alloc(0);
  let filled = 0;
  const endBlock = () => {
    if (filled > 0) chunks.push(block.subarray(0, filled));
    block = block.subarray(filled);
    filled = 0;
  };
  return {
    push(chunk) {
      const before = received;
      received += chunk.length;
      if (received > limit.maxBytes) throw tooLarge(`more than ${limit.maxBytes} bytes`, limit);
      if (chunk.length >= SMALL_CHUNK_BYTES || before === 0) {
        endBlock();
        chunks.push(chunk);
        return;
      }
      if (filled + chunk.length > block.length) {
        endBlock();
        const size = Math.min(LARGEST_BLOCK_BYTES, Math.max(SMALL_CHUNK_BYTES, before));
        block = Buffer.allocUnsafeSlow(size);
      }
      block.set(chunk, filled);
      filled += chunk.length;
    },
    finish() {
      endBlock();
      return chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, received);
    },
  };
}

function tooLarge(size: string, { maxBytes, variable }: BodyLimit): ServingError {
  return new ServingError(
    'REQUEST_TOO_LARGE',
    `the body has ${size}, the limit is ${maxBytes} (${variable ?? 'SAGEMAKER_TFS_MAX_REQUEST_BYTES'}).`,
  );
}
