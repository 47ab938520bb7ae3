/** A small picture for trying out models that take encoded pictures (PNG specification, RFC 2083). */
// By its default: a Node before 20.15 has no crc32, and must come as far as the message that says so.
import zlib from 'node:zlib';

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
/** 8 bits a channel; color type 2 is RGB. */
const DEPTH_AND_TYPE = [8, 2, 0, 0, 0];

/** A PNG of one RGB color gradient. */
export function examplePng(width: number, height: number): Buffer {
  const rows = Buffer.alloc((3 * width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const at = y * (3 * width + 1) + 1 + 3 * x;
      rows[at] = Math.floor((255 * x) / width);
      rows[at + 1] = Math.floor((255 * y) / height);
      rows[at + 2] = 128;
    }
  }
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set(DEPTH_AND_TYPE, 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('IDAT', zlib.deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(zlib.crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
