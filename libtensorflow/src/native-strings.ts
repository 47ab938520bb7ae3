/** Strings between JavaScript and TensorFlow's memory, where each is a `TF_TString` (`ctstring_internal.h`). */
import { pauseAfter, type Steps } from '@sagemaker-tfs/tensors/steps';
import type { CApi, Pointer } from './c-api.ts';

/** Bytes of a `TF_TString`. */
export const TSTRING_BYTES = 24;

/** The two lowest bits of its first byte; the length of a small one is in the others. */
const TYPE_MASK = 3;
const SMALL = 0;
const LARGE = 1;
/** Bytes that lie in the `TF_TString` itself, behind the first; a zero follows them. */
const SMALL_CAPACITY = 22;

/** Strings of one block, which is copied whole: asking the library for each takes a microsecond. */
const BLOCK_STRINGS = 4_096;
/** Bytes of other strings between two pauses; each counts some more, for its call. */
const STEP_BYTES = 2 ** 20;
const CALL_BYTES = 512;

/** Some strings behind each other. */
interface Block {
  readonly data: Pointer;
  readonly first: number;
  readonly count: number;
}

/**
 * Writes strings into memory of a tensor that holds nothing yet.
 * @param data of `values.length` times {@link TSTRING_BYTES}
 */
export function* writeStrings(
  api: CApi,
  data: Pointer,
  values: readonly Uint8Array[],
): Steps<void> {
  for (const block of blocksOf(data, values.length)) {
    const bytes = new Uint8Array(block.count * TSTRING_BYTES);
    const larger: number[] = [];
    for (let index = 0; index < block.count; index++) {
      const value = values[block.first + index] as Uint8Array;
      const at = index * TSTRING_BYTES;
      if (value.byteLength > SMALL_CAPACITY) {
        // Zeros are an empty string, ready to be written to.
        larger.push(index);
        continue;
      }
      bytes[at] = value.byteLength << 2;
      bytes.set(value, at + 1);
    }
    api.memcpy(addressOf(block), bytes, bytesOf(block));
    const isDue = pauseAfter(STEP_BYTES);
    for (const index of larger) {
      const value = values[block.first + index] as Uint8Array;
      api.TF_StringCopy(stringAt(block, index), value, value.byteLength);
      if (isDue(value.byteLength + CALL_BYTES)) yield;
    }
    if (block.count === BLOCK_STRINGS) yield;
  }
}

/** Copies strings out of the memory of a tensor. */
export function* readStrings(api: CApi, data: Pointer, count: number): Steps<Uint8Array[]> {
  const values: Uint8Array[] = [];
  for (const block of blocksOf(data, count)) {
    const bytes = copyOf(api, block);
    const isDue = pauseAfter(STEP_BYTES);
    for (let index = 0; index < block.count; index++) {
      const at = index * TSTRING_BYTES;
      const head = bytes[at] as number;
      if ((head & TYPE_MASK) === SMALL) {
        values.push(bytes.subarray(at + 1, at + 1 + (head >> 2)));
        continue;
      }
      const value = readOther(api, stringAt(block, index));
      values.push(value);
      if (isDue(value.byteLength + CALL_BYTES)) yield;
    }
    if (block.count === BLOCK_STRINGS) yield;
  }
  return values;
}

function readOther(api: CApi, string: Pointer): Uint8Array {
  const value = Buffer.allocUnsafe(api.TF_StringGetSize(string));
  if (value.length > 0) api.memcpy(value, api.TF_StringGetDataPointer(string), value.length);
  return value;
}

/** Frees what the strings of a tensor have elsewhere. */
export function* freeStrings(api: CApi, data: Pointer, count: number): Steps<void> {
  for (const block of blocksOf(data, count)) {
    const bytes = copyOf(api, block);
    for (let index = 0; index < block.count; index++) {
      if (((bytes[index * TSTRING_BYTES] as number) & TYPE_MASK) !== LARGE) continue;
      api.TF_StringDealloc(stringAt(block, index));
    }
    if (block.count === BLOCK_STRINGS) yield;
  }
}

function* blocksOf(data: Pointer, count: number): Iterable<Block> {
  for (let first = 0; first < count; first += BLOCK_STRINGS) {
    yield { data, first, count: Math.min(BLOCK_STRINGS, count - first) };
  }
}

function copyOf(api: CApi, block: Block): Uint8Array {
  const bytes = new Uint8Array(bytesOf(block));
  api.memcpy(bytes, addressOf(block), bytes.byteLength);
  return bytes;
}

function bytesOf({ count }: Block): number {
  return count * TSTRING_BYTES;
}

function addressOf(block: Block): Pointer {
  return stringAt(block, 0);
}

function stringAt({ data, first }: Block, index: number): Pointer {
  return data + BigInt((first + index) * TSTRING_BYTES);
}
