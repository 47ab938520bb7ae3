/** Opens `.zip` archives from outside. */
import { read as readFd } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { openRegularFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import { fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';

const CHUNK_BYTES = 2 ** 18;

/** Opens the archive; `close()` of what is returned closes the file. @throws Error, as yauzl's */
export async function openZip(path: string): Promise<ZipFile> {
  const file = await openRegularFile(path);
  try {
    const { size } = await file.stat();
    const options = { lazyEntries: true, decodeStrings: true, autoClose: false };
    return await fromRandomAccessReaderPromise(new BoundedReader(file, size), size, options);
  } catch (error) {
    await file.close();
    throw error;
  }
}

/**
 * Reads within the file only. yauzl's own reader hands positions of 64 bits that an archive claims to `fs.read`, which
 * throws for some, in a callback where nobody catches it.
 */
class BoundedReader extends RandomAccessReader {
  readonly #file: FileHandle;
  readonly #size: number;

  constructor(file: FileHandle, size: number) {
    super();
    this.#file = file;
    this.#size = size;
  }

  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null, bytesRead?: number) => void,
  ): void {
    // As at the end of the file.
    if (position > this.#size) setImmediate(callback, null, 0);
    else readFd(this.#file.fd, buffer, offset, length, position, callback);
  }

  override _readStreamForRange(start: number, end: number): Readable {
    return Readable.from(this.#chunks(start, end));
  }

  /** Not a stream of the file's: yauzl destroys it, and that would close the file. */
  async *#chunks(start: number, end: number): AsyncGenerator<Buffer> {
    for (let at = start; at < end; ) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, end - at));
      const { bytesRead } = await this.#file.read(buffer, 0, buffer.length, at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  override close(callback: (error: Error | null) => void): void {
    this.#file.close().then(() => callback(null), callback);
  }
}
