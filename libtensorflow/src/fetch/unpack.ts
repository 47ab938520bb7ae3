/** Checks a wheel and unpacks the libraries out of it. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { basename, join } from 'node:path';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
// By its default: a Node before 20.15 has no crc32, and must come as far as the message that says so.
import zlib from 'node:zlib';
import { type Entry, openPromise, type ZipFile } from 'yauzl';
import { LibTensorFlowError } from '../errors.ts';
import type { PinnedWheel } from './pinned-wheel.ts';

type OnBytes = (bytes: number) => void;

/** @throws LibTensorFlowError LIBRARY_FETCH_FAILED if the file is not the pinned wheel */
export async function verifyWheel(
  wheel: PinnedWheel,
  path: string,
  onBytes: OnBytes,
  signal: AbortSignal,
): Promise<void> {
  const hash = createHash('sha256');
  let done = 0;
  for await (const chunk of createReadStream(path, { signal, highWaterMark: 1 << 20 })) {
    hash.update(chunk);
    done += chunk.length;
    onBytes(done);
  }
  const got = hash.digest('hex');
  if (got === wheel.sha256) return;
  throw new LibTensorFlowError(
    'LIBRARY_FETCH_FAILED',
    `The downloaded ${basename(path)} is not the expected file: its SHA-256 is ${got}, expected ` +
      `${wheel.sha256}. Try again. If it stays so, the package index serves another file.`,
  );
}

/**
 * Unpacks the libraries into `directory`, checking each one's size and CRC-32.
 * @throws LibTensorFlowError LIBRARY_FETCH_FAILED if one is missing or damaged
 */
export async function unpackLibraries(
  wheel: PinnedWheel,
  path: string,
  directory: string,
  onBytes: OnBytes,
  signal: AbortSignal,
): Promise<void> {
  const wanted = new Map(wheel.libraries.map(({ entry, bytes }) => [entry, bytes]));
  let done = 0;
  const zip = await openPromise(path);
  try {
    for await (const entry of zip.eachEntry()) {
      if (wanted.get(entry.fileName) !== entry.uncompressedSize) continue;
      wanted.delete(entry.fileName);
      const start = done;
      const target = join(directory, basename(entry.fileName));
      await unpackEntry(zip, entry, target, (bytes) => onBytes(start + bytes), signal);
      done += entry.uncompressedSize;
      if (wanted.size === 0) break;
    }
  } finally {
    zip.close();
  }
  const [missing] = wanted.keys();
  if (missing !== undefined) {
    throw new LibTensorFlowError(
      'LIBRARY_FETCH_FAILED',
      `${basename(path)} does not hold ${missing} in the expected size.`,
    );
  }
}

async function unpackEntry(
  zip: ZipFile,
  entry: Entry,
  target: string,
  onBytes: OnBytes,
  signal: AbortSignal,
): Promise<void> {
  let crc = 0;
  let done = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, callback) {
      crc = zlib.crc32(chunk, crc);
      done += chunk.length;
      onBytes(done);
      callback(null, chunk);
    },
  });
  const source = await zip.openReadStreamPromise(entry);
  await pipeline(source, check, createWriteStream(target), { signal });
  if (crc !== entry.crc32) {
    throw new LibTensorFlowError(
      'LIBRARY_FETCH_FAILED',
      `${entry.fileName} came out of the wheel damaged (its CRC-32 differs). Try again.`,
    );
  }
}
