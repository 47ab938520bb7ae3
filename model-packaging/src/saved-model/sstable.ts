/**
 * Reads TensorFlow's sorted string tables, the format of `variables.index` (tensorflow/core/lib/io/table):
 * blocks of key-value pairs with shared key prefixes, an index block, a footer. A block is followed by its
 * compression (a byte) and the masked CRC-32C of both.
 */
import { atMost, readRegularFileSync } from '@sagemaker-tfs/libtensorflow/regular-file';
import { maskedCrc32c } from '@sagemaker-tfs/tensors';
import { damaged } from '../errors.ts';
import { inOwnErrors } from '../files/own-errors.ts';

/** One pair. */
export interface TableEntry {
  readonly key: Buffer;
  readonly value: Buffer;
}

interface BlockHandle {
  readonly offset: number;
  readonly size: number;
}

/** About a hundred a variable: millions of them. */
const MAX_BYTES = 2 ** 29;

const FOOTER_SIZE = 48;
const MAGIC = Buffer.from('57fb808b247547db', 'hex');
const NO_COMPRESSION = 0;

/** Keys share prefixes, so all of them may be longer than the file; by this much at most. */
const MAX_KEY_RATIO = 64;
const SMALL_KEY_BYTES = 1024 * 1024;
/** Compression and checksum. */
const BLOCK_TRAILER_SIZE = 5;

/** All pairs in key order. @throws PackagingError MISSING_FILE, CORRUPT_FILE, BAD_FILE_NAME, naming the path */
export function readTable(path: string): TableEntry[] {
  const file = inOwnErrors(path, () => readRegularFileSync(path, atMost(path, MAX_BYTES)));
  const fail = (what: string): never => {
    throw damaged(path, what);
  };
  if (file.length < FOOTER_SIZE || !file.subarray(-MAGIC.length).equals(MAGIC)) {
    fail('it does not end as a checkpoint index does');
  }
  const footer = new Cursor(file.subarray(-FOOTER_SIZE), fail);
  footer.handle();
  const budget = { keyBytes: SMALL_KEY_BYTES + file.length * MAX_KEY_RATIO };
  const index = readBlock(file, footer.handle(), budget, fail);
  let end = 0;
  return index.flatMap(({ value }) => {
    const handle = new Cursor(value, fail).handle();
    // Blocks lie one behind the other; the same one many times would multiply.
    if (handle.offset < end) fail('a block lies within another');
    end = handle.offset + handle.size;
    return readBlock(file, handle, budget, fail);
  });
}

type Fail = (what: string) => never;

function readBlock(
  file: Buffer,
  handle: BlockHandle,
  budget: { keyBytes: number },
  fail: Fail,
): TableEntry[] {
  const block = blockContent(file, handle, fail);
  if (block.length < 4) fail('a block is too short');
  const restarts = block.readUInt32LE(block.length - 4);
  const end = block.length - 4 - 4 * restarts;
  if (end < 0) fail('a block is too short');
  const cursor = new Cursor(block.subarray(0, end), fail);
  const entries: TableEntry[] = [];
  let key: Buffer = Buffer.alloc(0);
  while (!cursor.atEnd()) {
    const shared = cursor.varint();
    const unshared = cursor.varint();
    const valueSize = cursor.varint();
    budget.keyBytes -= shared + unshared;
    if (shared > key.length || budget.keyBytes < 0) fail('its keys are longer than it can hold');
    key = Buffer.concat([key.subarray(0, shared), cursor.take(unshared)]);
    entries.push({ key, value: cursor.take(valueSize) });
  }
  return entries;
}

function blockContent(file: Buffer, { offset, size }: BlockHandle, fail: Fail): Buffer {
  const end = offset + size;
  if (end + BLOCK_TRAILER_SIZE > file.length) fail('a block lies behind its end');
  if (maskedCrc32c(file.subarray(offset, end + 1)) !== file.readUInt32LE(end + 1)) {
    fail(`the block at byte ${offset} is not what its checksum says`);
  }
  const stored = file.subarray(offset, end);
  const compression = file[end];
  if (compression === NO_COMPRESSION) return stored;
  return fail(`its blocks have the compression ${compression}, which TensorFlow does not write`);
}

/** Reads a buffer from front to back. */
class Cursor {
  readonly #bytes: Buffer;
  readonly #fail: Fail;
  #at = 0;

  constructor(bytes: Buffer, fail: Fail) {
    this.#bytes = bytes;
    this.#fail = fail;
  }

  atEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  varint(): number {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = this.#bytes[this.#at++];
      if (byte === undefined || factor > 2 ** 49)
        return this.#fail('it ends in the middle of a number');
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  }

  take(length: number): Buffer {
    if (this.#at + length > this.#bytes.length) this.#fail('it ends in the middle of an entry');
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  handle(): BlockHandle {
    return { offset: this.varint(), size: this.varint() };
  }
}
