/** The bytes of a tar archive, inflated, and none after its end. */
import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { openRegularFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import type { Parser } from 'tar';
import { PackagingError } from '../errors.ts';

/** Bytes read at once, and inflated at once. */
const PIECE = 64 * 1024;

/** Writers fill an archive with zeros up to the record size of their tape, a few megabytes at most. */
const MAX_AFTER_END = 64 * 2 ** 20;

/**
 * Feeds the bytes of a `.tar` or `.tar.gz` to a parser.
 * @param signal ends the parsing
 * @throws the signal's reason, PackagingError CORRUPT_FILE, zlib's error, the system's
 */
export async function parseTar(
  archive: string,
  parser: Parser,
  signal: AbortSignal,
): Promise<void> {
  const isCompressed = await isGzip(archive);
  const source = createReadStream(archive, { highWaterMark: PIECE });
  const end = untilEnd(archive, parser);
  signal.addEventListener('abort', () => end.destroy(signal.reason), { once: true });
  if (isCompressed) await pipeline(source, createGunzip({ chunkSize: PIECE }), end, parser);
  else await pipeline(source, end, parser);
  // A stream that has ended already tells nobody that it was destroyed.
  signal.throwIfAborted();
}

async function isGzip(archive: string): Promise<boolean> {
  const file = await openRegularFile(archive);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(2), 0, 2, 0);
    return bytesRead === 2 && beginsGzip(buffer);
  } finally {
    await file.close();
  }
}

function beginsGzip(bytes: Buffer): boolean {
  return bytes.readUInt16BE() === 0x1f8b;
}

/**
 * Hands on the bytes until the parser has seen the end of the archive. The rest is read too, because a checksum and the
 * end of the gzip stream come last, but the parser would keep it, and copy all of it for each further piece.
 */
function untilEnd(archive: string, parser: Parser) {
  let hasEnded = false;
  parser.once('eof', () => {
    hasEnded = true;
  });
  let start = Buffer.alloc(0);
  let afterEnd = 0;
  return new Transform({
    transform(piece: Buffer, _encoding, done) {
      if (hasEnded) {
        afterEnd += piece.length;
        done(afterEnd > MAX_AFTER_END ? goesOn(archive) : undefined);
      } else if (start.length >= 2) done(null, piece);
      else {
        start = Buffer.concat([start, piece]);
        // The parser would inflate it once more, without these bounds.
        if (start.length < 2) done();
        else if (beginsGzip(start)) done(isTwiceCompressed(archive));
        else done(null, start);
      }
    },
  });
}

function goesOn(archive: string): PackagingError {
  const megabytes = MAX_AFTER_END / 2 ** 20;
  return new PackagingError(
    'CORRUPT_FILE',
    `${archive} continues for more than ${megabytes} MB after the end of its last file. Make it again with tar czf.`,
  );
}

function isTwiceCompressed(archive: string): PackagingError {
  return new PackagingError(
    'CORRUPT_FILE',
    `${archive} is compressed twice. Unpack it with gunzip once, or make it again with tar czf.`,
  );
}
