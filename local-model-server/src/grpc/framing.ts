/** Messages of gRPC over HTTP/2 (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md). */

import { promisify } from 'node:util';
import { gunzip, inflate } from 'node:zlib';
import { StatusError } from '@sagemaker-tfs/libtensorflow/serving';
import { Code } from '@sagemaker-tfs/tensors/protos';

/** Compressed flag (1 byte) and length (4 bytes, big-endian). */
const PREFIX_BYTES = 5;
const COMPRESSED = 1;
/** gRPC's own limit: a message's length is an int32 in its C++ implementation. */
const MAX_MESSAGE_BYTES = 2 ** 31 - 1;

const DECOMPRESS: Readonly<Record<string, (bytes: Buffer) => Promise<Buffer>>> = {
  gzip: promisify<Buffer, Buffer>(gunzip),
  deflate: promisify<Buffer, Buffer>(inflate),
};

/** Encodings that requests may use. */
export const ACCEPT_ENCODING = ['identity', ...Object.keys(DECOMPRESS)].join(',');

/** An uncompressed message in its frame: one copy of the chunks, which may be released afterwards. */
export function frameMessage(chunks: readonly Uint8Array[]): Buffer {
  const length = chunks.reduce((sum, chunk) => sum + chunk.byteLength, 0);
  const frame = Buffer.allocUnsafe(PREFIX_BYTES + length);
  frame[0] = 0;
  let offset = frame.writeUInt32BE(length, 1);
  for (const chunk of chunks) {
    frame.set(chunk, offset);
    offset += chunk.byteLength;
  }
  return frame;
}

/**
 * Reads the one message of a unary request, copying each byte once into its place.
 * @throws StatusError INTERNAL for none or more than one, RESOURCE_EXHAUSTED for more than 2 GiB,
 *   UNIMPLEMENTED for an encoding that is not known
 */
export async function readMessage(
  stream: AsyncIterable<Buffer>,
  encoding: string,
): Promise<Buffer> {
  const prefix = Buffer.alloc(PREFIX_BYTES);
  let message: Buffer | undefined;
  let filled = 0;
  for await (let chunk of stream) {
    if (!message) {
      const taken = chunk.copy(prefix, filled);
      filled += taken;
      if (filled < PREFIX_BYTES) continue;
      message = allocate(prefix.readUInt32BE(1));
      filled = 0;
      chunk = chunk.subarray(taken);
    }
    if (filled + chunk.length > message.length) throw internal('more than one request message');
    filled += chunk.copy(message, filled);
  }
  if (!message || filled < message.length) throw internal('the request message is incomplete');
  return prefix[0] === COMPRESSED ? decompress(message, encoding) : message;
}

function allocate(length: number): Buffer {
  if (length <= MAX_MESSAGE_BYTES) return Buffer.allocUnsafe(length);
  throw new StatusError(
    Code.RESOURCE_EXHAUSTED,
    `Received message larger than max (${length} vs. ${MAX_MESSAGE_BYTES})`,
  );
}

async function decompress(message: Buffer, encoding: string): Promise<Buffer> {
  const decode = DECOMPRESS[encoding];
  if (!decode) {
    throw new StatusError(Code.UNIMPLEMENTED, `message encoding ${encoding} is not supported`);
  }
  return decode(message).catch((error: Error) => {
    throw internal(`the message cannot be decompressed: ${error.message}`);
  });
}

function internal(message: string): StatusError {
  return new StatusError(Code.INTERNAL, message);
}

const UNIT_MS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** Milliseconds of a `grpc-timeout` header; undefined if there is none. */
export function timeoutMs(header: string | undefined): number | undefined {
  const [, amount, unit] = /^(\d{1,8})([HMSmun])$/.exec(header ?? '') ?? [];
  return amount === undefined ? undefined : Number(amount) * (UNIT_MS[unit ?? ''] ?? 0);
}

/** The bytes of a status text as a header carries them: percent-encoded but for printable ASCII without `%`. */
export function encodeStatusMessage(message: Uint8Array): string {
  return Array.from(message, (byte) => {
    const isPlain = byte >= 0x20 && byte < 0x7f && byte !== 0x25;
    if (isPlain) return String.fromCharCode(byte);
    return `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }).join('');
}
