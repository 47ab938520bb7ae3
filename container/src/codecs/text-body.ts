/** Bodies of text made piece by piece: small ones at once, large ones while they are sent. */
import { byteLength, isNumeric, type Tensor, type TensorMap } from '@sagemaker-tfs/tensors';
import { nextTurn } from '../waiting/next-turn.ts';
import type { EncodedResponse } from './codec.ts';
import { emptyRows } from './empty-elements.ts';

/** Text and bytes in order. */
export type Pieces = Iterable<Uint8Array | string>;

/** Small pieces are joined to chunks of at least this size. */
const CHUNK_BYTES = 65_536;
/** Outputs up to this size are written at once, within about a millisecond, and sent with their length. */
const AT_ONCE_BYTES = 131_072;
/** In a body that is sent at once, pieces from this size on are not copied to be joined with others. */
const MIN_UNJOINED_BYTES = 4_096;

/**
 * The body of these pieces. Where the outputs are large it is made chunk by chunk as the client reads, with
 * a turn of the event loop between two chunks.
 */
export function textBody(outputs: TensorMap, pieces: Pieces): EncodedResponse['body'] {
  const size = Object.values(outputs).reduce((sum, tensor) => sum + sizeOf(tensor), 0);
  return size <= AT_ONCE_BYTES ? [...joined(pieces)] : inTurns(chunks(pieces));
}

/** Bytes that take as long to write as a string does, be it empty. */
const STRING_BYTES = 64;

/** Bytes; of a tensor without elements the rows and lists that are written all the same, a byte each. */
function sizeOf(tensor: Tensor): number {
  const strings = isNumeric(tensor) ? 0 : tensor.values.length * STRING_BYTES;
  return emptyRows(tensor.shape) ?? strings + byteLength(tensor);
}

async function* inTurns(body: Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for (const chunk of body) {
    yield chunk;
    await nextTurn();
  }
}

function* joined(pieces: Pieces): Generator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  for (const piece of pieces) {
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece;
    if (bytes.byteLength < MIN_UNJOINED_BYTES) {
      waiting.push(bytes);
      continue;
    }
    if (waiting.length > 0) yield Buffer.concat(waiting);
    waiting = [];
    yield bytes;
  }
  if (waiting.length > 0) yield Buffer.concat(waiting);
}

function* chunks(pieces: Pieces): Generator<Uint8Array> {
  let waiting: Uint8Array[] = [];
  let text = '';
  let size = 0;
  const keepText = () => {
    if (text !== '') waiting.push(Buffer.from(text));
    text = '';
  };
  const chunk = (): Uint8Array => {
    keepText();
    const [only, ...others] = waiting;
    const joined = only && others.length === 0 ? only : Buffer.concat(waiting);
    [waiting, size] = [[], 0];
    return joined;
  };
  for (const piece of pieces) {
    size += piece.length;
    if (typeof piece === 'string') text += piece;
    else {
      keepText();
      waiting.push(piece);
    }
    if (size >= CHUNK_BYTES) yield chunk();
  }
  if (size > 0) yield chunk();
}
