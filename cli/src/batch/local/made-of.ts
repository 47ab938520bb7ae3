/**
 * What each output was made of. Times alone do not show an input that was replaced: `cp -p`, `rsync -t`, `tar` and `mv`
 * bring older ones.
 */
import { createHash, hash } from 'node:crypto';
import { createReadStream, type Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { CommandError } from '../../errors.ts';

/** Takes an input's bytes piece by piece, in their order. */
export interface ContentDigest {
  add(chunk: Uint8Array): void;
  /** Of all that was added. */
  value(): Buffer;
}

/** The inputs that the outputs of a folder were made of. */
export interface MadeOf {
  /** Whether it is still the input that its output was made of; undefined if nobody wrote that down. */
  isSame(key: string, path: string, now: Stats): Promise<boolean | undefined>;
  /**
   * To be called when the output is in place.
   * @param read the input before it was read
   * @throws CommandError OUTPUT_FAILED
   */
  add(key: string, read: Stats, content: Buffer): Promise<void>;
  close(): Promise<void>;
}

/** Beside the outputs; hidden files are no outputs. */
const INPUTS_FILE = '.inputs';

/**
 * The file begins with {@link MAGIC}; then each output has one record, which is written over when the output is made
 * again: {@link KEY} bytes of the key's digest, {@link STATE} of the file's state, {@link CONTENT} of the content's digest.
 * What is lost with a killed job is a record that is missing, torn or zero: its input has only times, or is another one.
 */
const MAGIC = Buffer.from('sagemaker-tfs inputs, version 1\n');
const KEY = 8;
const STATE = 8;
const CONTENT = 16;
const RECORD = KEY + STATE + CONTENT;
const ALGORITHM = 'sha256';

export function contentDigest(): ContentDigest {
  const digest = createHash(ALGORITHM);
  return {
    add: (chunk) => void digest.update(chunk),
    value: () => digest.digest().subarray(0, CONTENT),
  };
}

/** Reads what is known of a folder's outputs: 80 bytes of memory each. @throws CommandError OUTPUT_FAILED */
export async function openMadeOf(directory: string): Promise<MadeOf> {
  const path = join(directory, INPUTS_FILE);
  const { file, content } = await openRecords(path).catch((cause) => {
    throw notWritten(path, cause);
  });
  const table = recordTable(content);
  const put = async (key: Buffer, state: Buffer, digest: Buffer) => {
    const record = Buffer.concat([key, state, digest]);
    const at = table.put(record);
    await file.write(record, 0, RECORD, MAGIC.byteLength + at).catch((cause) => {
      throw notWritten(path, cause);
    });
  };
  return {
    async isSame(name, input, now) {
      const key = keyOf(name);
      const known = table.get(key);
      if (!known) return undefined;
      const state = stateOf(now);
      if (known.subarray(KEY, KEY + STATE).equals(state)) return true;
      const digest = Buffer.from(known.subarray(KEY + STATE));
      // A copy on another machine has other times.
      const isSame = now.isFile() && (await digestOf(input))?.equals(digest) === true;
      if (isSame) await put(key, state, digest);
      return isSame;
    },
    add: (name, read, digest) => put(keyOf(name), stateOf(read), digest),
    close: () => file.close(),
  };
}

function notWritten(path: string, cause: unknown): CommandError {
  return new CommandError(
    'OUTPUT_FAILED',
    `cannot write ${path}. Finished outputs are kept. Fix the cause and run the same command again.`,
    { cause },
  );
}

/** A file of another form, or with half a head, is begun anew. */
async function openRecords(path: string): Promise<{ file: FileHandle; content: Buffer }> {
  const there = await open(path, 'r+').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  });
  if (there) {
    const content = await there.readFile();
    if (content.subarray(0, MAGIC.byteLength).equals(MAGIC)) {
      return { file: there, content: content.subarray(MAGIC.byteLength) };
    }
    await there.close();
  }
  const file = await open(path, 'w');
  await file.write(MAGIC, 0, MAGIC.byteLength, 0);
  return { file, content: Buffer.alloc(0) };
}

function keyOf(name: string): Buffer {
  return hash(ALGORITHM, name, 'buffer').subarray(0, KEY);
}

/** The time of the last change of an inode cannot be set: a file that was put in place of another one has its own. */
function stateOf({ size, mtimeMs, ctimeMs }: Stats): Buffer {
  return hash(ALGORITHM, `${size} ${mtimeMs} ${ctimeMs}`, 'buffer').subarray(0, STATE);
}

async function digestOf(path: string): Promise<Buffer | undefined> {
  const digest = contentDigest();
  try {
    for await (const chunk of createReadStream(path)) digest.add(chunk as Buffer);
    return digest.value();
  } catch {
    return undefined;
  }
}

/** Records by their keys, as they lie in the file: a Map of millions takes several times the memory. */
function recordTable(content: Buffer) {
  let count = Math.floor(content.byteLength / RECORD);
  let records = content.subarray(0, count * RECORD);
  let slots = new Uint32Array(0);
  const keyAt = (index: number) => records.subarray(index * RECORD, index * RECORD + KEY);
  /** The slot of a key, or the free one for it. Slots hold the index of a record, from 1. */
  const slotOf = (key: Buffer) => {
    let slot = key.readUInt32LE(0) % slots.length;
    for (;;) {
      const held = slots[slot];
      if (!held || keyAt(held - 1).equals(key)) return slot;
      slot = (slot + 1) % slots.length;
    }
  };
  const grow = () => {
    const room = Math.max(1_024, count * 2);
    const larger = Buffer.alloc(room * RECORD);
    larger.set(records.subarray(0, count * RECORD));
    records = larger;
    slots = new Uint32Array(room * 2);
    for (let index = 0; index < count; index++) slots[slotOf(keyAt(index))] = index + 1;
  };
  grow();
  return {
    get(key: Buffer): Buffer | undefined {
      const held = slots[slotOf(key)];
      return held ? records.subarray((held - 1) * RECORD, held * RECORD) : undefined;
    },
    /** @returns where the record lies behind the beginning of the file */
    put(record: Buffer): number {
      if ((count + 1) * RECORD > records.byteLength) grow();
      const slot = slotOf(record.subarray(0, KEY));
      const index = (slots[slot] || ++count) - 1;
      slots[slot] = index + 1;
      records.set(record, index * RECORD);
      return index * RECORD;
    },
  };
}
