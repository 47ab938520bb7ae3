/** Checkpoint indexes (tensorflow/core/lib/io/table), with a wrong field now and then. */
import { maskedCrc32c } from '@sagemaker-tfs/tensors';
import type { Random } from '../random.ts';
import { slip, slipTo, someBytes, u8, u32le } from './bytes.ts';
import { varint } from './protobuf.ts';

/** A pair of the table. */
interface TablePair {
  readonly key: Buffer;
  readonly value: Buffer;
}

const MAGIC = Buffer.from('57fb808b247547db', 'hex');
const number = (random: Random, value: number): Buffer => varint(BigInt(slip(random, value)));

/** The table of the pairs, in one to three blocks; all sums fit. */
export function tableOf(random: Random, pairs: readonly TablePair[]): Buffer {
  const blocks = 1 + random(3);
  const step = Math.ceil(pairs.length / blocks) || 1;
  const parts: Buffer[] = [];
  const handles: TablePair[] = [];
  let at = 0;
  const add = (some: readonly TablePair[]): Buffer => {
    const { block, size } = blockOf(random, some);
    const handle = Buffer.concat([number(random, at), number(random, size)]);
    parts.push(block);
    at += block.length;
    return handle;
  };
  for (let from = 0; from < pairs.length; from += step) {
    const some = pairs.slice(from, from + step);
    handles.push({ key: some.at(-1)?.key ?? Buffer.alloc(0), value: add(some) });
  }
  const meta = add([]);
  const index = add(handles);
  const footer = Buffer.concat([meta, index, Buffer.alloc(40)]).subarray(0, 40);
  return Buffer.concat([...parts, footer, MAGIC]);
}

function blockOf(random: Random, pairs: readonly TablePair[]): { block: Buffer; size: number } {
  let before: Buffer = Buffer.alloc(0);
  const entries = pairs.flatMap(({ key, value }) => {
    let shared = 0;
    while (shared < key.length && key[shared] === before[shared]) shared++;
    before = key;
    return [
      number(random, shared),
      number(random, key.length - shared),
      number(random, value.length),
      key.subarray(shared),
      value,
    ];
  });
  const content = Buffer.concat([...entries, u32le(0), u32le(slip(random, 1))]);
  const summed = Buffer.concat([content, u8(slip(random, 0))]);
  return {
    block: Buffer.concat([summed, u32le(slip(random, maskedCrc32c(summed)))]),
    size: content.length,
  };
}

/** Bytes that repeat themselves, as those which are compressed do. */
export function repeating(random: Random): Buffer {
  const word = someBytes(random, 1 + random(12));
  const parts = Array.from({ length: 1 + random(8) }, () =>
    random(3) ? word : someBytes(random, random(70)),
  );
  return Buffer.concat(parts);
}

/** The pairs with a key changed now and then: sorted, as the header says, it is no more. */
export function slippedPairs(random: Random, pairs: readonly TablePair[]): TablePair[] {
  return pairs.map((pair) => ({
    ...pair,
    key: slipTo(random, pair.key, [Buffer.alloc(0), Buffer.from('a')]),
  }));
}
