/** Compresses chunks as gzip members, several at a time; the bytes do not depend on how many. */
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const gzipAsync = promisify(gzip);

/** Members in work at once: one for each core that libuv's pool can use, one being read, one written. */
const IN_FLIGHT = Math.min(availableParallelism(), 8) + 2;

/** The header's operating system byte: 255 is 'unknown', so that every system writes the same. */
const OS_BYTE = 9;

/**
 * One gzip member for each chunk, in order. RFC 1952 lets members follow each other; every reader of
 * `.tar.gz` joins them. Compression runs in libuv's thread pool. A chunk that is compressed goes to `spare`.
 */
export async function* gzipMembers(
  chunks: AsyncIterable<Buffer>,
  level: number,
  spare: Buffer[],
): AsyncGenerator<Buffer> {
  const inWork: Promise<Buffer>[] = [];
  try {
    for await (const chunk of chunks) {
      inWork.push(compress(chunk, level, spare));
      if (inWork.length === IN_FLIGHT) yield await (inWork.shift() as Promise<Buffer>);
    }
    while (inWork.length > 0) yield await (inWork.shift() as Promise<Buffer>);
  } finally {
    await Promise.allSettled(inWork);
  }
}

async function compress(chunk: Buffer, level: number, spare: Buffer[]): Promise<Buffer> {
  const member = await gzipAsync(chunk, { level, chunkSize: 64 * 1024 });
  spare.push(chunk);
  member[OS_BYTE] = 255;
  return member;
}
