/**
 * The seal: an empty gzip member at the end of an archive whose comment says from which inputs the archive
 * was made, and the digest of the bytes before it. Readers of `.tar.gz` see nothing of it; packaging sees
 * that the archive is whole and that its inputs have not changed.
 */
import { openRegularFile } from '@sagemaker-tfs/libtensorflow/regular-file';
import { hashFile } from '../files/archive-files.ts';

/** Flags FCOMMENT, no time, unknown system (RFC 1952). */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0x10, 0, 0, 0, 0, 0, 255]);
/** End of the comment, an empty deflate block, CRC 0, size 0. */
const TRAILER = Buffer.from([0, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const PREFIX = 'sagemaker-tfs 1 ';
const HEX = 64;
const SEAL_SIZE = HEADER.length + PREFIX.length + 2 * HEX + 1 + TRAILER.length;

/** What a seal says. */
interface Seal {
  /** Digest of the inputs, hex. */
  readonly key: string;
  /** Digest of the archive's bytes before the seal, hex. */
  readonly body: string;
}

/** The bytes of a seal. */
export function sealBytes({ key, body }: Seal): Buffer {
  return Buffer.concat([HEADER, Buffer.from(`${PREFIX}${key} ${body}`, 'latin1'), TRAILER]);
}

/**
 * The size and digest of the archive at `path` where it carries a seal for `key` and is undamaged; else
 * undefined.
 */
export async function readSealed(
  path: string,
  key: string,
): Promise<{ bytes: number; sha256: string } | undefined> {
  const handle = await openRegularFile(path).catch(() => undefined);
  if (!handle) return undefined;
  const last = Buffer.alloc(SEAL_SIZE);
  let bodySize: number;
  try {
    const stat = await handle.stat();
    if (stat.size < SEAL_SIZE) return undefined;
    bodySize = stat.size - SEAL_SIZE;
    await handle.read(last, 0, SEAL_SIZE, bodySize);
  } finally {
    await handle.close();
  }
  const start = HEADER.length + PREFIX.length + HEX + 1;
  const body = last.toString('latin1', start, start + HEX);
  if (!last.equals(sealBytes({ key, body }))) return undefined;
  const { hash } = await hashFile(path, { length: bodySize });
  if (hash.copy().digest('hex') !== body) return undefined;
  return { bytes: bodySize + SEAL_SIZE, sha256: hash.update(last).digest('hex') };
}
