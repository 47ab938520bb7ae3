/** Inputs made from a seed: the same number makes the same bytes, on every machine. */

/** A whole number from 0 to below the limit. */
export type Random = (limit: number) => number;

/** Numbers of one input: the run's seed and the input's index decide them (splitmix32). */
export function randomOf(seed: number, index: number): Random {
  let state = (Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(index + 1, 0x85ebca6b)) >>> 0;
  return (limit) => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return ((mixed ^ (mixed >>> 15)) >>> 0) % limit;
  };
}

/** One of them. */
export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T;
}

/** A value at which lengths and counts go wrong. */
export function edgeNumber(random: Random): number {
  return pick(random, EDGES);
}

/** No input grows beyond this. */
const MAX_BYTES = 65_536;
/** Values at which lengths and counts go wrong. */
const EDGES = [
  0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff,
];

/** The bytes with some changes: values, lengths, parts put in, taken out, repeated, or taken from another seed. */
export function mutate(
  random: Random,
  seeds: readonly Uint8Array[],
  tokens: readonly string[],
): Buffer {
  let bytes: Buffer = Buffer.from(pick(random, seeds));
  for (let change = random(5); change >= 0; change--) {
    bytes = changed(random, bytes, seeds, tokens).subarray(0, MAX_BYTES);
  }
  return bytes;
}

/**
 * The bytes with a part of them again and again, up to a size between their own and the most: sizes that double are
 * equally frequent. Formats that count or chain their parts get very many.
 */
export function stretched(random: Random, bytes: Buffer, mostBytes: number): Buffer {
  if (bytes.length === 0) return bytes;
  const at = random(bytes.length);
  const end = Math.min(bytes.length, at + 1 + random(random(2) ? 64 : 4_096));
  const part = bytes.subarray(at, end);
  const size = bytes.length * (mostBytes / bytes.length) ** (random(1_001) / 1_000);
  const times = Math.max(0, Math.floor((size - bytes.length) / part.length));
  const repeated = Buffer.alloc(times * part.length, part);
  return Buffer.concat([bytes.subarray(0, end), repeated, bytes.subarray(end)]);
}

function changed(
  random: Random,
  bytes: Buffer,
  seeds: readonly Uint8Array[],
  tokens: readonly string[],
): Buffer {
  // What comes first decides most: half of all changes are there.
  const reach = random(2) ? bytes.length : Math.min(bytes.length, 64);
  const at = random(reach + 1);
  const end = Math.min(bytes.length, at + 1 + random(random(2) ? 8 : 256));
  switch (random(9)) {
    case 0:
      return overwritten(bytes, at, Buffer.from([random(256)]));
    case 1:
      return overwritten(bytes, at, Buffer.from([(bytes[at] ?? 0) ^ (1 << random(8))]));
    case 2:
      return overwritten(bytes, at, edge(random));
    case 3:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    case 4: {
      const times = random(8) === 0 ? 64 : 1 + random(3);
      const part = bytes.subarray(at, end);
      return Buffer.concat([
        bytes.subarray(0, end),
        ...Array(times).fill(part),
        bytes.subarray(end),
      ]);
    }
    case 5: {
      const other = Buffer.from(pick(random, seeds));
      const from = random(other.length + 1);
      const part = other.subarray(from, from + 1 + random(64));
      return Buffer.concat([bytes.subarray(0, at), part, bytes.subarray(end)]);
    }
    case 6:
      return bytes.subarray(0, at);
    default: {
      if (tokens.length === 0)
        return overwritten(bytes, at, Buffer.from([random(256), random(256)]));
      const token = Buffer.from(pick(random, tokens), 'latin1');
      return Buffer.concat([bytes.subarray(0, at), token, bytes.subarray(random(2) ? at : end)]);
    }
  }
}

function overwritten(bytes: Buffer, at: number, value: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  value.copy(copy, Math.min(at, Math.max(0, copy.length - value.length)));
  return copy;
}

function edge(random: Random): Buffer {
  const value = pick(random, EDGES);
  const bytes = Buffer.alloc(pick(random, [1, 2, 4, 8]));
  const fitting = value % 2 ** Math.min(32, bytes.length * 8);
  const width = Math.min(4, bytes.length);
  if (random(2)) bytes.writeUIntLE(fitting, 0, width);
  else bytes.writeUIntBE(fitting, bytes.length - width, width);
  return bytes;
}
