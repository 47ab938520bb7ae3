/** Frames of records, with a wrong length, sum or flag now and then. */
import { maskedCrc32c } from '@sagemaker-tfs/tensors';
import type { Random } from '../random.ts';
import { slip, slipTo, u32be, u32le, u64le } from './bytes.ts';

/** How a record is framed. */
export type Frame = (random: Random, content: Buffer) => Buffer;

/** One to three records of `content`. */
export function recordsOf(random: Random, frame: Frame, content: () => Buffer): Buffer {
  return Buffer.concat(Array.from({ length: 1 + random(3) }, () => frame(random, content())));
}

/** The sum fits the length, also where that is wrong. */
export const tfRecord: Frame = (random, content) => {
  const length = u64le(slip(random, content.length));
  return Buffer.concat([
    length,
    u32le(slip(random, maskedCrc32c(length))),
    content,
    u32le(slip(random, maskedCrc32c(content))),
  ]);
};

const FIRST = 1;
const MIDDLE = 2;
const LAST = 3;

/** Whole, or in parts. */
export const recordIo: Frame = (random, content) => {
  const parts = random(4) ? 1 : 1 + random(4);
  const step = Math.ceil(content.length / parts / 4) * 4 || 4;
  const pieces = Array.from({ length: parts }, (_, index) =>
    content.subarray(index * step, index === parts - 1 ? undefined : (index + 1) * step),
  );
  return Buffer.concat(
    pieces.flatMap((piece, index) => {
      const right = parts === 1 ? 0 : index === 0 ? FIRST : index === parts - 1 ? LAST : MIDDLE;
      const flag = slipTo(random, right, [0, 1, 2, 3, 4, 7]);
      return [
        u32le(slip(random, 0xced7230a)),
        u32le(flag * 2 ** 29 + (slip(random, piece.length) % 2 ** 29)),
        piece,
        Buffer.alloc(slipTo(random, (4 - (piece.length % 4)) % 4, [0, 1, 3, 4])),
      ];
    }),
  );
};

export const lengthPrefixed: Frame = (random, content) =>
  Buffer.concat([u32be(slip(random, content.length)), content]);
