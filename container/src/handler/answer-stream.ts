/** A handler's stream as the bytes of an answer, held within what all requests may hold. */
import type { Inference } from '../inference/inference.ts';
import { attached } from './attached.ts';

/** Bytes that are sent at once, and that one stream may hold uncounted. */
const SLICE_BYTES = 64 * 1024;

/**
 * The pieces of a stream, long ones in slices. The stream is asked for its next piece when the last slice is taken.
 * @throws Error for a piece that is neither text nor bytes that are there, ServingError OVERLOADED where others hold too much for it
 */
export async function* streamedBytes(
  stream: AsyncIterable<Uint8Array | string>,
  ticket: Inference['ticket'],
): AsyncGenerator<Uint8Array> {
  for await (const piece of stream) {
    const size = sizeOf(piece);
    if (size <= SLICE_BYTES) {
      yield copyOf(piece);
      continue;
    }
    ticket.take(size);
    try {
      yield* slicesOf(copyOf(piece));
    } finally {
      ticket.hold(-size);
    }
  }
}

function sizeOf(piece: unknown): number {
  if (typeof piece === 'string') return Buffer.byteLength(piece);
  if (piece instanceof Uint8Array) return attached(piece).byteLength;
  const kind = piece === null ? 'null' : typeof piece;
  throw new Error(`a piece of its stream is of type ${kind}. Pieces are text or Uint8Arrays.`);
}

/** While a piece is still on its way, a handler that has one buffer for all its answers fills it with another. */
function copyOf(piece: Uint8Array | string): Buffer {
  return Buffer.from(piece as Uint8Array);
}

/** Copies: as long as the connection has a part of the whole, all of it would stay. */
function* slicesOf(whole: Buffer): Generator<Buffer> {
  for (let at = 0; at < whole.byteLength; at += SLICE_BYTES) {
    yield Buffer.from(whole.subarray(at, at + SLICE_BYTES));
  }
}
