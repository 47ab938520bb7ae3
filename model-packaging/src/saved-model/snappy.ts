/** Decompresses one Snappy block (google/snappy, format_description.txt), which a checkpoint index may use. */

/** Kinds of elements, the low two bits of a tag. */
const LITERAL = 0;
const COPY_1_BYTE_OFFSET = 1;
const COPY_2_BYTE_OFFSET = 2;

/** Longest literal whose length is in the tag itself. */
const SHORT_LITERAL = 60;

/** Three bytes become 64 at most; a block that claims more is damaged, and must not take the memory. */
const MAX_EXPANSION = 22;

/** @throws Error where the block is damaged */
export function snappyUncompress(block: Buffer): Buffer {
  try {
    return uncompress(block);
  } catch (cause) {
    // Reads behind the block's end throw on their own.
    throw new Error('a Snappy block does not add up', { cause });
  }
}

function uncompress(block: Buffer): Buffer {
  const [size, start] = readSize(block);
  if (size > block.length * MAX_EXPANSION) throw new Error(`it claims ${size} bytes`);
  const output = Buffer.alloc(size);
  let from = start;
  let to = 0;
  while (from < block.length) {
    const tag = block.readUInt8(from++);
    if ((tag & 3) === LITERAL) {
      let length = (tag >> 2) + 1;
      if (length > SHORT_LITERAL) {
        const bytes = length - SHORT_LITERAL;
        length = block.readUIntLE(from, bytes) + 1;
        from += bytes;
      }
      if (from + length > block.length || to + length > size)
        throw new Error('a literal is too long');
      block.copy(output, to, from, from + length);
      from += length;
      to += length;
    } else {
      const { length, offset, next } = readCopy(block, from, tag);
      if (offset === 0 || offset > to || to + length > size)
        throw new Error('a copy is out of range');
      // A copy may overlap what it writes: then it repeats.
      for (const end = to + length; to < end; to++) output[to] = output[to - offset] as number;
      from = next;
    }
  }
  if (to !== size) throw new Error('it is too short');
  return output;
}

function readCopy(block: Buffer, at: number, tag: number) {
  const kind = tag & 3;
  if (kind === COPY_1_BYTE_OFFSET) {
    const offset = ((tag >> 5) << 8) + block.readUInt8(at);
    return { length: ((tag >> 2) & 7) + 4, offset, next: at + 1 };
  }
  const length = (tag >> 2) + 1;
  return kind === COPY_2_BYTE_OFFSET
    ? { length, offset: block.readUInt16LE(at), next: at + 2 }
    : { length, offset: block.readUInt32LE(at), next: at + 4 };
}

/** The uncompressed size, a varint of 32 bits, and where it ends. */
function readSize(block: Buffer): [size: number, end: number] {
  let size = 0;
  for (let at = 0; at < 5; at++) {
    const byte = block.readUInt8(at);
    size += (byte & 0x7f) * 2 ** (7 * at);
    if (byte < 0x80) return [size, at + 1];
  }
  throw new Error('its size does not end');
}
