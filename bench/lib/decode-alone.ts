/** What libjpeg-turbo alone costs, with nothing around it. */
import jpegTurbo from '@julusian/jpeg-turbo';
import { decodeImage } from '@sagemaker-tfs/container/parts';
import { readLengthPrefixed } from '@sagemaker-tfs/tensors';
import { median } from './median.ts';

const WARM_UP = 30;

/** CPU milliseconds of decoding one picture and resizing it to `size` x `size`. */
export async function decodeAndResizeAlone(
  jpeg: Buffer,
  size: number,
  seconds: number,
): Promise<number> {
  const wanted = { width: size, height: size };
  // Into memory that is used again, as in the runtime: else V8 collects garbage besides.
  const out = new Uint8Array(size * size * 3);
  for (let round = 0; round < WARM_UP; round++) await decodeImage(jpeg, wanted, out);
  const until = performance.now() + seconds * 1_000;
  const before = process.cpuUsage();
  let rounds = 0;
  for (; performance.now() < until; rounds++) await decodeImage(jpeg, wanted, out);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / rounds;
}

/** Milliseconds of decoding the length-prefixed pictures of a body one after another. */
export async function decodeTenAlone(body: Buffer): Promise<number> {
  const jpegs = [...readLengthPrefixed(body)].map((jpeg) => Buffer.from(jpeg));
  const out = Buffer.alloc(512 * 512 * 3);
  const milliseconds = Array.from({ length: WARM_UP }, () => {
    const from = performance.now();
    for (const jpeg of jpegs) jpegTurbo.decompressSync(jpeg, out, { format: jpegTurbo.FORMAT_RGB });
    return performance.now() - from;
  });
  return median(milliseconds);
}
