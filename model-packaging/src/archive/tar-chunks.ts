/** Writes files as a tar stream, cut into chunks of one size. */
import { createHash, type Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { openRegularFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import { Header, Pax } from 'tar';
import { fileChanged, throwIfAborted, unreadable } from '../errors.ts';
import type { PlannedFile } from '../files/archive-files.ts';

/** Bytes of tar in a chunk. Part of the format: another size makes other compressed bytes. */
export const CHUNK_SIZE = 1024 * 1024;

const BLOCK = 512;

/** Every entry's time, so that equal files give equal bytes: 1980-01-01, the oldest that zip tools know too. */
const MTIME = new Date('1980-01-01T00:00:00Z');

/**
 * The tar stream of `files` in the order given: regular files, mode 0644, owner 0, one fixed time. Long or
 * non-ASCII names and sizes from 8 GiB on are written as pax headers. Every chunk has {@link CHUNK_SIZE}
 * bytes, but for the last. Chunks in `spare` are written over; whoever is done with a chunk may put it there.
 * @throws PackagingError FILE_CHANGED if a file is no longer what the plan says
 */
export async function* tarChunks(
  files: readonly PlannedFile[],
  spare: Buffer[] = [],
  signal?: AbortSignal,
): AsyncGenerator<Buffer> {
  const chunker = new Chunker(spare);
  for (const file of files) {
    yield* chunker.add(tarHeader(file.path, file.size));
    if ('bytes' in file.content) yield* chunker.add(file.content.bytes);
    else yield* fileChunks(file, file.content.file, chunker, signal);
    yield* chunker.add(Buffer.alloc((BLOCK - (file.size % BLOCK)) % BLOCK));
  }
  yield* chunker.add(Buffer.alloc(2 * BLOCK));
  yield chunker.rest();
}

async function* fileChunks(
  planned: PlannedFile,
  path: string,
  chunker: Chunker,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let left = planned.size;
  const handle = await openRegularFile(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    while (left > 0) {
      throwIfAborted(signal);
      const read = await readPiece(handle, chunker, left, hash);
      if (read === 0) throw fileChanged(path);
      left -= read;
      yield* chunker.full();
    }
    const { size } = await handle.stat();
    if (size !== planned.size || hash.digest('hex') !== planned.sha256) throw fileChanged(path);
  } finally {
    await handle.close();
  }
}

/** Reads straight into the open chunk; returns the number of bytes. */
async function readPiece(
  handle: FileHandle,
  chunker: Chunker,
  left: number,
  hash: Hash,
): Promise<number> {
  const space = chunker.space();
  const { bytesRead } = await handle.read(space, 0, Math.min(left, space.length), null);
  hash.update(space.subarray(0, bytesRead));
  chunker.filled(bytesRead);
  return bytesRead;
}

/** The header of a regular file, with a pax header before it where the plain one cannot say it all. */
export function tarHeader(path: string, size: number): Buffer {
  const fields = { path, size, mode: 0o644, uid: 0, gid: 0, mtime: MTIME };
  const entry = new Header({ ...fields, type: 'File' });
  const block = Buffer.alloc(BLOCK);
  if (!entry.encode(block)) return block;
  return Buffer.concat([new Pax(fields).encode(), block]);
}

/** Cuts what is added into chunks of {@link CHUNK_SIZE}. */
class Chunker {
  readonly #spare: Buffer[];
  #chunk: Buffer = Buffer.allocUnsafeSlow(CHUNK_SIZE);
  #used = 0;

  constructor(spare: Buffer[]) {
    this.#spare = spare;
  }

  /** The free end of the open chunk. */
  space(): Buffer {
    return this.#chunk.subarray(this.#used);
  }

  /** Notes the number of bytes written to {@link space}. */
  filled(bytes: number): void {
    this.#used += bytes;
  }

  /** The open chunk, if it is full; a new one is opened. */
  *full(): Generator<Buffer> {
    if (this.#used < CHUNK_SIZE) return;
    yield this.#chunk;
    this.#chunk = this.#spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK_SIZE);
    this.#used = 0;
  }

  *add(bytes: Uint8Array): Generator<Buffer> {
    let at = 0;
    while (at < bytes.length) {
      const space = this.space();
      const part = bytes.subarray(at, at + space.length);
      space.set(part);
      at += part.length;
      this.filled(part.length);
      yield* this.full();
    }
  }

  rest(): Buffer {
    return this.#chunk.subarray(0, this.#used);
  }
}
