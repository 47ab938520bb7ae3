import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { maskedCrc32c } from '@sagemaker-tfs/tensors';
import { fixtureModel } from '../../../test/fixtures/index.ts';
import { useScratch, withCode } from '../testing/scratch.ts';
import { readTable, type TableEntry } from './sstable.ts';

const scratch = useScratch();

const INDEX = join(fixtureModel('keras_functional').directory, 'variables', 'variables.index');
const MAGIC = Buffer.from('57fb808b247547db', 'hex');
const ENTRIES_A_BLOCK = 3;
/** Bytes that lie in the first block in any case. */
const FIRST_BLOCK = 100;

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80);
  return Buffer.from([...bytes, rest]);
}

/** A block with one restart point and no shared prefixes. */
function block(entries: readonly TableEntry[]): Buffer {
  const pairs = entries.flatMap(({ key, value }) => [
    ...[0, key.length, value.length].map(varint),
    key,
    value,
  ]);
  return Buffer.concat([...pairs, Buffer.from([0, 0, 0, 0, 1, 0, 0, 0])]);
}

/** A table of these entries in many blocks. */
function tableOf(entries: readonly TableEntry[]): Buffer {
  const parts: Buffer[] = [];
  let at = 0;
  const add = (content: Buffer): Buffer => {
    const stored = Buffer.concat([content, Buffer.from([0])]);
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(maskedCrc32c(stored));
    parts.push(stored, checksum);
    const handle = Buffer.concat([varint(at), varint(stored.length - 1)]);
    at += stored.length + 4;
    return handle;
  };
  const index: TableEntry[] = [];
  for (let i = 0; i < entries.length; i += ENTRIES_A_BLOCK) {
    const some = entries.slice(i, i + ENTRIES_A_BLOCK);
    index.push({ key: some.at(-1)?.key as Buffer, value: add(block(some)) });
  }
  const handles = Buffer.concat([add(block([])), add(block(index))]);
  return Buffer.concat([...parts, handles, Buffer.alloc(40 - handles.length), MAGIC]);
}

test('an index of many blocks reads as the one that TensorFlow wrote', () => {
  const entries = readTable(INDEX);
  expect(entries.length).toBeGreaterThan(ENTRIES_A_BLOCK);
  const table = tableOf(entries);
  expect(readTable(scratch.write('variables.index', table))).toEqual(entries);
});

test('a flipped bit goes unnoticed in no byte of a block', () => {
  for (const table of [readFileSync(INDEX), tableOf(readTable(INDEX))]) {
    for (let at = 0; at < FIRST_BLOCK; at += 7) {
      const damaged = Buffer.from(table);
      damaged.writeUInt8(table.readUInt8(at) ^ 0x10, at);
      const path = scratch.write('variables.index', damaged);
      expect(() => readTable(path)).toThrow(withCode('CORRUPT_FILE'));
      expect(() => readTable(path)).toThrow(/not what its checksum says/);
    }
  }
});

// TensorFlow's BundleWriter sets kNoCompression (tensorflow/core/util/tensor_bundle/tensor_bundle.cc, since 1.2).
test.each([1, 7])('an index with compression %i is refused', (compression) => {
  const stored = Buffer.concat([block([]), Buffer.from([compression])]);
  const checksum = Buffer.alloc(4);
  checksum.writeUInt32LE(maskedCrc32c(stored));
  const handle = Buffer.concat([varint(0), varint(stored.length - 1)]);
  const footer = Buffer.concat([handle, handle, Buffer.alloc(40 - 2 * handle.length), MAGIC]);
  const path = scratch.write('variables.index', Buffer.concat([stored, checksum, footer]));
  expect(() => readTable(path)).toThrow(
    `compression ${compression}, which TensorFlow does not write`,
  );
});

test('a block that the index names twice is refused', () => {
  const stored = Buffer.concat([
    block([{ key: Buffer.from('k'), value: Buffer.alloc(1) }]),
    Buffer.from([0]),
  ]);
  const add = (content: Buffer) => {
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(maskedCrc32c(content));
    return Buffer.concat([content, checksum]);
  };
  const handle = Buffer.concat([varint(0), varint(stored.length - 1)]);
  const first = add(stored);
  const index = Buffer.concat([
    block(['a', 'b', 'c'].map((key) => ({ key: Buffer.from(key), value: handle }))),
    Buffer.from([0]),
  ]);
  const handles = Buffer.concat([
    varint(0),
    varint(0),
    varint(first.length),
    varint(index.length - 1),
  ]);
  const footer = Buffer.concat([handles, Buffer.alloc(40 - handles.length), MAGIC]);
  const path = scratch.write('twice.index', Buffer.concat([first, add(index), footer]));
  expect(() => readTable(path)).toThrow(/lies within another/);
});
